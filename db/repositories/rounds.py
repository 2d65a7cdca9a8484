"""Rounds and the questions that they drew."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.models import Round, RoundItem


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
