"""Rounds: which questions may be drawn for labelling, and storing what was drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.services.actors import Actor, require
from db.engine import Database
from db.models import Question, Round, RoundItem
from db.repositories.projects import ProjectRepository
from db.repositories.rounds import RoundRepository
from elical_core.config import SelectionConfig
from elical_core.domain import Role, Split, Stream
from elical_core.errors import Conflict, InputError


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A question that may be drawn. ``consistency`` in [0, 1], None when it is not known."""

    question_id: int
    split: Split
    group: str
    consistency: float | None


@dataclass(frozen=True, kw_only=True)
class DrawnQuestion:
    """One draw. ``probability`` in (0, 1]: the question's chance of being drawn in this round."""

    question_id: int
    stream: Stream
    probability: float
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class RoundView:
    """``items`` in the order in which they are shown; ``overlap`` annotators are wanted per question."""

    id: int
    project_id: int
    policy: str
    seed: int
    settings: Mapping[str, Any]
    overlap: int
    checkpoint_id: int | None
    created_at: datetime
    items: tuple[DrawnQuestion, ...]


def candidates(database: Database, who: Actor, project_id: int) -> list[Candidate]:
    """Answered pool and audit questions that no round has drawn and nobody has judged, in import order."""
    require(who, Role.VIEWER)
    with database.read.begin() as session:
        ProjectRepository(session).get(project_id)
        return [
            Candidate(question_id=question_id, split=split, group=group, consistency=consistency)
            for question_id, split, group, consistency in RoundRepository(session).candidates(project_id)
        ]


def add_round(
    database: Database,
    who: Actor,
    project_id: int,
    drawn: Sequence[DrawnQuestion],
    *,
    config: SelectionConfig,
    checkpoint_id: int | None = None,
    job_id: str = "",
    overlap: int = 1,
) -> int:
    """Stores a round and gives its number of questions; they are shown in the order given, so the two streams must be
    interleaved already.

    A job that is run again finds its round and stores nothing more. Raises Conflict when an earlier round has drawn one
    of the questions; InputError when nothing was drawn, or a train draw is not a pool question (audit and held-out
    questions are never learned from).
    """
    require(who, Role.ADMIN)
    if not drawn:
        raise InputError("no question was drawn, so there is no round to store; import or sample more questions")
    if overlap < 1:
        raise InputError(f"overlap must be at least 1 annotator per question, got {overlap}")
    with database.write.begin() as session:
        ProjectRepository(session).lock(project_id)
        if (there := _of_job(session, project_id, job_id)) is not None:
            return RoundRepository(session).size(there.id)
        _check(session, project_id, drawn)
        row = Round(
            project_id=project_id,
            policy=config.policy,
            seed=config.seed,
            settings={"selection": config.to_json(), "overlap": overlap, "job": job_id},
            checkpoint_id=checkpoint_id,
        )
        session.add(row)
        session.flush()
        session.add_all(
            RoundItem(
                round_id=row.id,
                question_id=item.question_id,
                position=position,
                stream=item.stream,
                probability=item.probability,
                reason=item.reason,
            )
            for position, item in enumerate(drawn)
        )
        return len(drawn)


def size_of_job(database: Database, who: Actor, project_id: int, job_id: str) -> int | None:
    """How many questions the round of this job has; None when it has stored none yet."""
    require(who, Role.VIEWER)
    with database.read.begin() as session:
        there = _of_job(session, project_id, job_id)
        return None if there is None else RoundRepository(session).size(there.id)


def count_rounds(database: Database, who: Actor, project_id: int) -> int:
    require(who, Role.VIEWER)
    with database.read.begin() as session:
        return len(RoundRepository(session).all(project_id))


def list_rounds(database: Database, who: Actor, project_id: int) -> list[RoundView]:
    """Oldest first. Says which stream each question is in: for admins, never for an annotator's screen."""
    require(who, Role.ADMIN)
    with database.read.begin() as session:
        ProjectRepository(session).get(project_id)
        rounds = RoundRepository(session)
        items = rounds.items(project_id)
        return [_view(row, [item for item, by in items if by.id == row.id]) for row in rounds.all(project_id)]


def _of_job(session: Session, project_id: int, job_id: str) -> Round | None:
    rows = RoundRepository(session).all(project_id) if job_id else ()
    return next((row for row in rows if row.settings.get("job") == job_id), None)


def _check(session: Session, project_id: int, drawn: Sequence[DrawnQuestion]) -> None:
    query = select(Question.id, Question.split).where(Question.project_id == project_id)
    splits = {question_id: split for question_id, split in session.execute(query)}
    earlier = RoundRepository(session).drawn([item.question_id for item in drawn])
    seen: set[int] = set()
    for item in drawn:
        if item.question_id not in splits:
            raise InputError(f"question {item.question_id} is not in this project; nothing was stored")
        if item.question_id in seen:
            raise InputError(f"question {item.question_id} was drawn twice in one round; nothing was stored")
        if item.question_id in earlier:
            raise Conflict(f"question {item.question_id} is in an earlier round already; draw again")
        split = splits[item.question_id]
        if split is Split.HELD_OUT or (item.stream is Stream.TRAIN and split is not Split.POOL):
            raise InputError(f"question {item.question_id} is {split} and must not be drawn for {item.stream}")
        if not 0 < item.probability <= 1:
            raise InputError(f"question {item.question_id} has probability {item.probability}; it must be in (0, 1]")
        seen.add(item.question_id)


def _view(row: Round, items: Sequence[RoundItem]) -> RoundView:
    return RoundView(
        id=row.id,
        project_id=row.project_id,
        policy=row.policy,
        seed=row.seed,
        settings=dict(row.settings.get("selection", {})),
        overlap=int(row.settings.get("overlap", 1)),
        checkpoint_id=row.checkpoint_id,
        created_at=row.created_at,
        items=tuple(
            DrawnQuestion(question_id=i.question_id, stream=i.stream, probability=i.probability, reason=i.reason)
            for i in items
        ),
    )
