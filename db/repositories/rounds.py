"""Rounds and the questions that they drew."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.models import Generation, Question, Round, RoundItem, Verdict
from db.repositories.generations import newest_generation
from elical_core.domain import Split


class RoundRepository:
    def __init__(self, session: Session) -> None:
        self._session = session

    def all(self, project_id: int) -> Sequence[Round]:
        return self._session.scalars(select(Round).where(Round.project_id == project_id).order_by(Round.id)).all()

    def items(self, project_id: int) -> Sequence[tuple[RoundItem, Round]]:
        """Every draw with its round, in the order of the queue."""
        query = (
            select(RoundItem, Round)
            .join(Round, Round.id == RoundItem.round_id)
            .where(Round.project_id == project_id)
            .order_by(Round.id, RoundItem.position)
        )
        return [(item, drawn_by) for item, drawn_by in self._session.execute(query)]

    def newest_of(self, question_id: int) -> RoundItem | None:
        """The newest draw of a question."""
        query = select(RoundItem).where(RoundItem.question_id == question_id).order_by(RoundItem.round_id.desc())
        return self._session.scalar(query.limit(1))

    def drawn(self, question_ids: Collection[int]) -> set[int]:
        """Those of the questions that a round has drawn."""
        query = select(RoundItem.question_id).where(RoundItem.question_id.in_(question_ids))
        return set(self._session.scalars(query))

    def candidates(self, project_id: int) -> list[tuple[int, Split, str, float | None]]:
        """(question id, split, group, consistency of the newest answers) of every answered pool or audit question that
        no round has drawn and nobody has judged, in import order."""
        query = (
            select(Question.id, Question.split, Question.group, Generation.consistency)
            .join(Generation, Generation.id == newest_generation(Question.id))
            .where(
                Question.project_id == project_id,
                Question.split.in_((Split.POOL, Split.AUDIT)),
                ~select(RoundItem.id).where(RoundItem.question_id == Question.id).exists(),
                ~select(Verdict.id).where(Verdict.question_id == Question.id).exists(),
            )
            .order_by(Question.id)
        )
        return [(row[0], row[1], row[2], row[3]) for row in self._session.execute(query)]

    def size(self, round_id: int) -> int:
        query = select(func.count()).select_from(RoundItem).where(RoundItem.round_id == round_id)
        return self._session.scalar(query) or 0
