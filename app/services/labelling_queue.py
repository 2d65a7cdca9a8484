"""What is left to label, and why, as one annotator sees it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from statistics import median

from app.services.actors import Actor, require
from db.base import utc_now
from db.engine import Database
from db.repositories.generations import GenerationRepository
from db.repositories.leases import LeaseRepository
from db.repositories.projects import ProjectRepository
from db.repositories.rounds import RoundRepository
from db.repositories.verdicts import VerdictRepository
from elical_core.domain import Role


@dataclass(frozen=True, kw_only=True)
class QueueState:
    """Questions of all rounds as one annotator sees them. ``open_to_me`` can be opened now; ``leased`` are held by
    others until ``leased_until`` (the earliest); ``without_answers`` are drawn but not sampled. ``median_seconds`` is
    of my own submits (None: none yet)."""

    drawn: int
    open_to_me: int
    done_by_me: int
    done_by_others: int
    leased: int
    leased_until: datetime | None
    without_answers: int
    my_judged: int
    my_unsure: int
    my_skipped: int
    median_seconds: float | None


def queue_state(database: Database, who: Actor, project_id: int, *, now: datetime | None = None) -> QueueState:
    """What is left and why, for this annotator."""
    require(who, Role.VIEWER)
    now = now or utc_now()
    with database.read.begin() as session:
        ProjectRepository(session).get(project_id)
        wanted = {
            item.question_id: max(1, int(drawn_by.settings.get("overlap", 1)))
            for item, drawn_by in RoundRepository(session).items(project_id)
        }
        without_answers = GenerationRepository(session).drawn_without_answers(project_id)
        rows = [row for row in VerdictRepository(session).judgements(project_id) if row.question_id in wanted]
        mine = {row.question_id: row for row in rows if row.annotator_id == who.id}
        done_by_me = {key for key, row in mine.items() if row.n_judged or row.n_unsure or row.n_skipped}
        taken: dict[int, set[int]] = {key: set() for key in wanted}
        for row in rows:
            if row.n_judged and row.annotator_id != who.id:
                taken[row.question_id].add(row.annotator_id)
        full_by_others = {key for key, people in taken.items() if len(people) >= wanted[key]} - done_by_me
        leases = [item for item in LeaseRepository(session).open_in(project_id, now) if item.annotator_id != who.id]
        for lease in leases:
            if lease.question_id in taken:
                taken[lease.question_id].add(lease.annotator_id)
        blocked = {key for key, people in taken.items() if len(people) >= wanted[key]} - done_by_me - full_by_others
        seconds = VerdictRepository(session).seconds_by(project_id, who.id)
        return QueueState(
            drawn=len(wanted),
            open_to_me=len(set(wanted) - done_by_me - full_by_others - blocked - without_answers),
            done_by_me=len(done_by_me),
            done_by_others=len(full_by_others),
            leased=len(blocked),
            leased_until=min((item.expires_at for item in leases if item.question_id in blocked), default=None),
            without_answers=len(without_answers),
            my_judged=sum(row.n_judged > 0 for row in mine.values()),
            my_unsure=sum(row.n_unsure > 0 and not row.n_judged for row in mine.values()),
            my_skipped=sum(row.n_skipped > 0 and not row.n_judged and not row.n_unsure for row in mine.values()),
            median_seconds=median(seconds) if seconds else None,
        )
