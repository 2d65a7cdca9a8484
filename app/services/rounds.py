"""Rounds: which questions may be drawn for labelling, and storing what was drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select

from app.services.actors import Actor, require
from app.services.generations import AnsweredQuestion, read_answered
from db.engine import Database
from db.models import Question, Round, RoundItem
from db.repositories.projects import ProjectRepository
from db.repositories.rounds import RoundRepository
from db.repositories.verdicts import VerdictRepository
from elical_core.domain import Role, Split, Stream
from elical_core.errors import Conflict, InputError


@dataclass(frozen=True, kw_only=True)
class Drawn:
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
    items: tuple[Drawn, ...]


def undrawn(
    database: Database, who: Actor, project_id: int, *, split: Split, fingerprint: str | None = None
) -> list[AnsweredQuestion]:
    """Answered questions of a split that no round has drawn and nobody has labelled, in import order."""
    require(who, Role.VIEWER)
    with database.read.begin() as session:
        ProjectRepository(session).get(project_id)
        gone = {item.question_id for item, _ in RoundRepository(session).items(project_id)}
        gone |= {row.question_id for row in VerdictRepository(session).judgements(project_id)}
        found = read_answered(session, project_id, fingerprint, (split,))
        return [question for question in found if question.question_id not in gone]


def store_round(
    database: Database,
    who: Actor,
    project_id: int,
    *,
    policy: str,
    seed: int,
    settings: Mapping[str, Any],
    items: Sequence[Drawn],
    checkpoint_id: int | None = None,
    overlap: int = 1,
    key: str = "",
) -> RoundView:
    """Stores a round; ``items`` are shown in the order given, so interleave the streams before.

    A repeated non-empty ``key`` (a job's number) gives the stored round back, so a job that is run again draws once.
    Raises Conflict when an earlier round has drawn one of the questions, InputError when a train draw is not a pool
    question (audit and held-out questions are never learned from) or nothing was drawn.
    """
    require(who, Role.ADMIN)
    if not items:
        raise InputError("no question was drawn, so there is no round to store; import or sample more questions")
    if overlap < 1:
        raise InputError(f"overlap must be at least 1 annotator per question, got {overlap}")
    with database.write.begin() as session:
        ProjectRepository(session).lock(project_id)
        rounds = RoundRepository(session)
        if key and (there := next((r for r in rounds.all(project_id) if r.settings.get("key") == key), None)):
            return _view(there, [item for item, drawn_by in rounds.items(project_id) if drawn_by.id == there.id])
        splits = {
            question_id: split
            for question_id, split in session.execute(
                select(Question.id, Question.split).where(Question.project_id == project_id)
            )
        }
        _check(items, splits, {item.question_id for item, _ in rounds.items(project_id)})
        row = Round(
            project_id=project_id,
            policy=policy,
            seed=seed,
            settings={"selection": dict(settings), "overlap": overlap, "key": key},
            checkpoint_id=checkpoint_id,
        )
        session.add(row)
        session.flush()
        drawn = [
            RoundItem(
                round_id=row.id,
                question_id=item.question_id,
                position=position,
                stream=item.stream,
                probability=item.probability,
                reason=item.reason,
            )
            for position, item in enumerate(items)
        ]
        session.add_all(drawn)
        session.flush()
        return _view(row, drawn)


def list_rounds(database: Database, who: Actor, project_id: int) -> list[RoundView]:
    """Oldest first. Says which stream each question is in: for admins, never for an annotator's screen."""
    require(who, Role.ADMIN)
    with database.read.begin() as session:
        ProjectRepository(session).get(project_id)
        rounds = RoundRepository(session)
        items = rounds.items(project_id)
        return [_view(row, [item for item, by in items if by.id == row.id]) for row in rounds.all(project_id)]


def _check(items: Sequence[Drawn], splits: Mapping[int, Split], earlier: set[int]) -> None:
    seen: set[int] = set()
    for item in items:
        if item.question_id not in splits:
            raise InputError(f"question {item.question_id} is not in this project; nothing was stored")
        if item.question_id in seen:
            raise InputError(f"question {item.question_id} was drawn twice in one round; nothing was stored")
        if item.question_id in earlier:
            raise Conflict(f"question {item.question_id} is in an earlier round already; draw again")
        split = splits[item.question_id]
        if split is Split.HELD_OUT or (item.stream is Stream.TRAIN and split is not Split.POOL):
            raise InputError(f"question {item.question_id} is {split} and must not be drawn for {item.stream}")
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
            Drawn(question_id=i.question_id, stream=i.stream, probability=i.probability, reason=i.reason) for i in items
        ),
    )
