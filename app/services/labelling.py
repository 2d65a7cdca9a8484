"""Labelling: an annotator opens a question, judges all its answers in one act, may undo, and never loses a saved label.

A question is reserved by a lease while it is open. The lease's token begins with the number of the generation whose
answers are on screen, so a verdict can never land on answers that nobody saw. After a submit the lease is given up but
remembered: its holder may correct the label as long as nobody else has taken the question.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from app.services.actors import Actor, require
from app.services.checkpoints import refresh_staleness
from app.services.labelling_items import (
    AnnotationItem,
    AnswerChoice,
    Outcome,
    build_item,
    get_answers,
    get_question,
    is_current,
    new_token,
    outcome_of,
    submit_key,
)
from app.services.labelling_queue import QueueState, queue_state
from app.services.labels import count_labelled
from db.base import utc_now
from db.engine import Database
from db.models import AnswerCluster, Generation, Lease, Project, Question, User, Verdict
from db.repositories.leases import LeaseRepository
from db.repositories.projects import ProjectRepository
from db.repositories.rounds import RoundRepository
from db.repositories.verdicts import VerdictRepository
from elical_core.consistency.clean import clean
from elical_core.domain import Role, VerdictValue
from elical_core.errors import Conflict, InputError, NotAllowed

__all__ = [
    "AnnotationItem",
    "AnswerChoice",
    "Outcome",
    "QueueState",
    "Saved",
    "heartbeat",
    "next_item",
    "open_item",
    "queue_state",
    "release",
    "save_reference",
    "submit",
    "undo",
]

LEASE_SECONDS = 600
UNDO_DEPTH = 10


@dataclass(frozen=True, kw_only=True)
class Saved:
    """``saved_at`` is when the verdict was committed; ``already`` when an earlier call with the same key had done it.
    ``n_labelled`` counts the project's labelled questions."""

    question_id: int
    saved_at: datetime
    outcome: Outcome
    n_labelled: int
    already: bool


def next_item(
    database: Database,
    who: Actor,
    project_id: int,
    *,
    now: datetime | None = None,
    lease_seconds: int = LEASE_SECONDS,
) -> AnnotationItem | None:
    """The question that this annotator has open, else the next drawn one that is free; None when there is none.

    Claiming is atomic: two annotators who ask at the same moment get different questions. An expired lease frees its
    question by the clock alone.
    """
    require(who, Role.ANNOTATOR)
    now = now or utc_now()
    with database.read.begin() as session:
        project = ProjectRepository(session).get(project_id)
        held = LeaseRepository(session).held(project_id, who.id, now)
        if (
            held is not None
            and is_current(session, held)
            and held.expires_at - now > timedelta(seconds=lease_seconds) / 2
        ):
            return build_item(session, project, held)
    with database.write.begin() as session:
        project = _begin(session, who, project_id)
        leases = LeaseRepository(session)
        held = leases.held(project_id, who.id, now)
        if held is not None and is_current(session, held):
            _renew(held, now, lease_seconds)
            return build_item(session, project, held)
        question_id = held.question_id if held else leases.first_open(project_id, who.id, now)
        return None if question_id is None else _open(session, project, question_id, who, now, lease_seconds)


def open_item(
    database: Database,
    who: Actor,
    question_id: int,
    *,
    now: datetime | None = None,
    lease_seconds: int = LEASE_SECONDS,
) -> AnnotationItem:
    """Opens one question by choice, for example to correct one's own label; the standing label holds until a new
    submit. Raises Conflict when others have taken all its places.
    """
    require(who, Role.ANNOTATOR)
    now = now or utc_now()
    with database.write.begin() as session:
        question = get_question(session, question_id)
        project = _begin(session, who, question.project_id)
        if not LeaseRepository(session).has_room(question_id, who.id, now):
            raise Conflict("somebody else has this question; go on with the next one")
        return _reopen(session, project, question_id, who, now, lease_seconds)


def submit(
    database: Database,
    who: Actor,
    *,
    question_id: int,
    lease_token: str,
    ticked: Collection[int],
    outcome: Outcome,
    client_key: str,
    seconds: float,
    now: datetime | None = None,
) -> Saved:
    """Saves one verdict per distinct answer, all or none; when it returns, they are committed.

    ``ticked`` are cluster ids (ignored unless ``outcome`` is judged). A repeated ``client_key`` changes nothing and
    gives the first result. A later submit of the same visit with another key corrects the label. Raises Conflict when
    the question was lost to somebody else or its answers changed, StoreError when the database cannot be written; the
    caller keeps the verdict and offers to try again.
    """
    require(who, Role.ANNOTATOR)
    now = now or utc_now()
    if not client_key:
        raise InputError("a submit needs the client key of its item, so that a repeated one is harmless")
    if not (math.isfinite(seconds) and seconds >= 0):
        raise InputError(f"seconds on screen must be a number from 0, got {seconds}")
    with database.write.begin() as session:
        question = get_question(session, question_id)
        _begin(session, who, question.project_id)
        verdicts = VerdictRepository(session)
        if earlier := verdicts.by_key(client_key):
            return _already(session, question, who, earlier)
        generation, clusters = get_answers(session, question_id)
        lease = _require_lease(session, who, question_id, lease_token, generation, now)
        values = _values(clusters, set(ticked), Outcome(outcome))
        draw = RoundRepository(session).newest_of(question_id)
        verdicts.add(
            clusters,
            values,
            question_id=question_id,
            annotator_id=who.id,
            round_id=draw.round_id if draw else None,
            seconds=seconds,
            client_key=client_key,
            now=now,
        )
        lease.expires_at = now
        refresh_staleness(session, question.project_id, question_id)
        n_labelled = count_labelled(session, question.project_id)
    return Saved(question_id=question_id, saved_at=now, outcome=Outcome(outcome), n_labelled=n_labelled, already=False)


def undo(
    database: Database,
    who: Actor,
    project_id: int,
    *,
    client_key: str = "",
    now: datetime | None = None,
    lease_seconds: int = LEASE_SECONDS,
) -> AnnotationItem | None:
    """Withdraws this annotator's last standing submit and opens its question with the earlier ticks; None when nothing
    is left to undo.

    Ten questions deep: with ten withdrawn questions open it raises Conflict. A repeated ``client_key`` undoes nothing
    more.
    """
    require(who, Role.ANNOTATOR)
    now = now or utc_now()
    key = client_key or f"undo-{secrets.token_hex(12)}"
    with database.write.begin() as session:
        project = _begin(session, who, project_id)
        verdicts, leases = VerdictRepository(session), LeaseRepository(session)
        if earlier := verdicts.by_key(key):
            return _reopen(session, project, earlier[0].question_id, who, now, lease_seconds)
        question_id = verdicts.last_submitted(project_id, who.id)
        if question_id is None:
            return None
        if leases.reopened(project_id, who.id, now) >= UNDO_DEPTH:
            raise Conflict(f"{UNDO_DEPTH} questions are open again already; submit one of them before undoing more")
        _, clusters = get_answers(session, question_id)
        draw = RoundRepository(session).newest_of(question_id)
        verdicts.add(
            clusters,
            {cluster.id: VerdictValue.WITHDRAWN for cluster in clusters},
            question_id=question_id,
            annotator_id=who.id,
            round_id=draw.round_id if draw else None,
            seconds=0.0,
            client_key=key,
            now=now,
        )
        refresh_staleness(session, project_id, question_id)
        return _open(session, project, question_id, who, now, lease_seconds)


def heartbeat(
    database: Database,
    who: Actor,
    *,
    question_id: int,
    lease_token: str,
    now: datetime | None = None,
    lease_seconds: int = LEASE_SECONDS,
) -> datetime:
    """Keeps an open question reserved; gives the new expiry. Also works after one's own submit.

    Raises Conflict when somebody else has taken the question in the meantime.
    """
    require(who, Role.ANNOTATOR)
    now = now or utc_now()
    with database.write.begin() as session:
        question = get_question(session, question_id)
        _begin(session, who, question.project_id)
        generation, _ = get_answers(session, question_id)
        lease = _require_lease(session, who, question_id, lease_token, generation, now)
        _renew(lease, now, lease_seconds)
        return lease.expires_at


def release(database: Database, who: Actor, *, question_id: int, lease_token: str, now: datetime | None = None) -> None:
    """Gives an open question back at once; nothing happens when the lease is gone already."""
    require(who, Role.ANNOTATOR)
    with database.write.begin() as session:
        lease = LeaseRepository(session).get(question_id, who.id)
        if lease is not None and lease.token == lease_token:
            lease.expires_at = now or utc_now()


def save_reference(database: Database, who: Actor, question_id: int, answers: Sequence[str]) -> tuple[str, ...]:
    """Adds typed reference answers to a question; gives all of them. Known ones are kept once; one of which nothing is
    left after cleaning (blanks, "?") is refused, because it would match everything."""
    require(who, Role.ANNOTATOR)
    typed = [answer.strip() for answer in answers]
    if not typed or not all(clean(answer) for answer in typed):
        raise InputError(f"a reference answer must say something, got {', '.join(map(repr, answers)) or 'none'}")
    with database.write.begin() as session:
        question = get_question(session, question_id)
        _begin(session, who, question.project_id)
        known = list(question.reference_answers)
        question.reference_answers = known + [a for a in dict.fromkeys(typed) if a not in known]
        if len(question.reference_answers) > len(known):
            question.reference_by_id = who.id
        return tuple(question.reference_answers)


def _begin(session: Session, who: Actor, project_id: int) -> Project:
    """Every write starts here: others wait, and the account is still what the caller believes."""
    ProjectRepository(session).lock(project_id)
    user = session.get(User, who.id)
    if user is None or user.disabled:
        raise NotAllowed(f"the account {who.name!r} is disabled or gone; nothing was saved")
    require(Actor(id=user.id, name=user.name, role=user.role), Role.ANNOTATOR)
    return ProjectRepository(session).get(project_id)


def _renew(lease: Lease, now: datetime, lease_seconds: int) -> None:
    lease.heartbeat_at = now
    lease.expires_at = now + timedelta(seconds=lease_seconds)


def _open(
    session: Session, project: Project, question_id: int, who: Actor, now: datetime, lease_seconds: int
) -> AnnotationItem:
    generation, _ = get_answers(session, question_id)
    until = now + timedelta(seconds=lease_seconds)
    lease = LeaseRepository(session).take(question_id, who.id, new_token(generation), now, until)
    return build_item(session, project, lease)


def _reopen(
    session: Session, project: Project, question_id: int, who: Actor, now: datetime, lease_seconds: int
) -> AnnotationItem:
    """Goes on with this annotator's own lease, unless its visit has been submitted: then a new visit begins."""
    lease = LeaseRepository(session).get(question_id, who.id)
    if lease is not None and lease.expires_at > now and is_current(session, lease):
        submitted = VerdictRepository(session).by_key(submit_key(lease))
        if not submitted:
            _renew(lease, now, lease_seconds)
            return build_item(session, project, lease)
    return _open(session, project, question_id, who, now, lease_seconds)


def _require_lease(
    session: Session, who: Actor, question_id: int, token: str, generation: Generation, now: datetime
) -> Lease:
    lease = LeaseRepository(session).get(question_id, who.id)
    if lease is None or lease.token != token:
        raise Conflict("this question is not open in this window any more; reload to go on. Nothing was saved")
    if not token.startswith(f"{generation.id}-"):
        raise Conflict("the answers to this question were sampled anew while it was open; reload to judge the new ones")
    if lease.expires_at <= now and not LeaseRepository(session).has_room(question_id, who.id, now):
        raise Conflict(
            f"your hold on this question ended at {lease.expires_at:%H:%M} UTC and somebody else has taken it; "
            "nothing was saved, go on with the next one"
        )
    return lease


def _values(clusters: Sequence[AnswerCluster], ticked: set[int], outcome: Outcome) -> dict[int, VerdictValue]:
    if unknown := ticked - {cluster.id for cluster in clusters}:
        raise Conflict(
            f"{len(unknown)} of the ticked answers are not answers to this question any more; reload the page"
        )
    if outcome is not Outcome.JUDGED:
        value = VerdictValue.UNSURE if outcome is Outcome.UNSURE else VerdictValue.SKIPPED
        return {cluster.id: value for cluster in clusters}
    return {
        cluster.id: VerdictValue.CORRECT if cluster.id in ticked else VerdictValue.INCORRECT for cluster in clusters
    }


def _already(session: Session, question: Question, who: Actor, earlier: Sequence[Verdict]) -> Saved:
    outcome = outcome_of([row.value for row in earlier])
    if outcome is None or {(row.question_id, row.annotator_id) for row in earlier} != {(question.id, who.id)}:
        raise Conflict("this client key belongs to another act; reload the page. Nothing was saved")
    return Saved(
        question_id=question.id,
        saved_at=earlier[0].created_at,
        outcome=outcome,
        n_labelled=count_labelled(session, question.project_id),
        already=True,
    )
