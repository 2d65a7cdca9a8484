"""Questions on their way into a project."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.orm import Session

from db.models import Generation, Question, RoundItem, Verdict
from elical_core.domain import Split


class StoredQuestion(NamedTuple):
    """The columns of ``Question`` that an import compares."""

    id: int
    external_id: str
    text: str
    context: str
    reference_answers: list[str]
    reference_by_id: int | None
    domain: str
    details: dict[str, Any]
    split: Split
    group: str


class ImportRepository:
    def __init__(self, session: Session) -> None:
        self._session = session

    def known(self, project_id: int, external_ids: Collection[str]) -> dict[str, StoredQuestion]:
        """The project's questions among the ids, by external id. Ask for some hundreds at a time."""
        query = select(*(getattr(Question, name) for name in StoredQuestion._fields)).where(
            Question.project_id == project_id, Question.external_id.in_(external_ids)
        )
        found = (StoredQuestion(*row) for row in self._session.execute(query))
        return {question.external_id: question for question in found}

    def state(self, project_id: int) -> tuple[int, int]:
        """(number of questions, highest id): changes whenever questions come or go."""
        query = select(func.count(), func.coalesce(func.max(Question.id), 0)).where(Question.project_id == project_id)
        count, highest = self._session.execute(query).one()
        return count, highest

    def group_splits(self, project_id: int) -> Iterator[tuple[str, Split]]:
        """Every group with each of its splits, streamed."""
        query = select(Question.group, Question.split).where(Question.project_id == project_id).distinct()
        for row in self._session.execute(query, execution_options={"yield_per": 5000}):
            yield row.group, row.split

    def insert(self, rows: Sequence[dict[str, Any]]) -> None:
        """Bulk insert; ``rows`` hold the columns of ``Question``."""
        if rows:
            self._session.execute(insert(Question), list(rows))

    def labelled_or_drawn(self, question_ids: Collection[int]) -> set[int]:
        """Those that somebody has judged, or that a round has drawn for labelling."""
        judged = select(Verdict.question_id).where(Verdict.question_id.in_(question_ids))
        drawn = select(RoundItem.question_id).where(RoundItem.question_id.in_(question_ids))
        return {*self._session.scalars(judged), *self._session.scalars(drawn)}

    def change(self, question_id: int, **columns: Any) -> None:
        self._session.execute(update(Question).where(Question.id == question_id).values(**columns))

    def forget_answers(self, question_id: int) -> None:
        """Deletes the model's answers to a question, which were given to another text."""
        self._session.execute(delete(Generation).where(Generation.question_id == question_id))
