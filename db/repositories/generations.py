"""Answers of a model and their clusters."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from db.models import AnswerCluster, Generation, Question, RoundItem
from elical_core.domain import Split


def newest_generation(question_id: InstrumentedAttribute[int] | ColumnElement[int]) -> ScalarSelect[Any]:
    """The id of a question's newest generation, as a correlated subquery: what is labelled and learned from when no
    fingerprint is named."""
    inner = aliased(Generation)
    return select(func.max(inner.id)).where(inner.question_id == question_id).scalar_subquery()


class GenerationRepository:
    def __init__(self, session: Session) -> None:
        self._session = session

    def unsampled(self, project_id: int, fingerprint: str, limit: int | None) -> Sequence[Question]:
        """Questions without answers of this model, in import order."""
        done = select(Generation.id).where(
            Generation.question_id == Question.id, Generation.model_fingerprint == fingerprint
        )
        query = select(Question).where(Question.project_id == project_id, ~done.exists()).order_by(Question.id)
        return self._session.scalars(query if limit is None else query.limit(limit)).all()

    def count_unsampled(self, project_id: int, fingerprint: str) -> int:
        total = select(func.count()).select_from(Question).where(Question.project_id == project_id)
        done = (
            select(func.count())
            .select_from(Generation)
            .join(Question, Question.id == Generation.question_id)
            .where(Question.project_id == project_id, Generation.model_fingerprint == fingerprint)
        )
        return (self._session.scalar(total) or 0) - (self._session.scalar(done) or 0)

    def newest_id(self, project_id: int) -> int:
        query = (
            select(func.max(Generation.id))
            .join(Question, Question.id == Generation.question_id)
            .where(Question.project_id == project_id)
        )
        return self._session.scalar(query) or 0

    def targets(self, project_id: int, newest: int | None) -> list[tuple[str, str, str, str, float]]:
        """(external id, text, context, group, consistency) of pool questions with a target, by their newest generation
        up to ``newest``, in import order."""
        inner = aliased(Generation)
        latest = select(func.max(inner.id)).where(inner.question_id == Question.id)
        if newest is not None:
            latest = latest.where(inner.id <= newest)
        query = (
            select(Question.external_id, Question.text, Question.context, Question.group, Generation.consistency)
            .join(Generation, Generation.question_id == Question.id)
            .where(
                Question.project_id == project_id,
                Question.split == Split.POOL,
                Generation.id == latest.scalar_subquery(),
                Generation.consistency.is_not(None),
            )
            .order_by(Question.id)
        )
        return [(row[0], row[1], row[2], row[3], float(row[4] or 0.0)) for row in self._session.execute(query)]

    def already_there(self, question_ids: Collection[int], fingerprint: str) -> set[int]:
        query = select(Generation.question_id).where(
            Generation.model_fingerprint == fingerprint, Generation.question_id.in_(question_ids)
        )
        return set(self._session.scalars(query))

    def with_questions(
        self, project_id: int, fingerprint: str | None, splits: Collection[Split]
    ) -> Sequence[tuple[Question, Generation]]:
        """Every question of the splits with its newest answers (or those of one model), in import order."""
        query = (
            select(Question, Generation)
            .join(Generation, Generation.question_id == Question.id)
            .where(Question.project_id == project_id, Question.split.in_(splits))
            .order_by(Question.id)
        )
        if fingerprint is None:
            query = query.where(Generation.id == newest_generation(Question.id))
        else:
            query = query.where(Generation.model_fingerprint == fingerprint)
        return [(question, generation) for question, generation in self._session.execute(query)]

    def drawn_without_answers(self, project_id: int) -> set[int]:
        """Questions that a round has drawn and no model has answered."""
        query = (
            select(RoundItem.question_id)
            .join(Question, Question.id == RoundItem.question_id)
            .where(
                Question.project_id == project_id,
                ~select(Generation.id).where(Generation.question_id == RoundItem.question_id).exists(),
            )
        )
        return set(self._session.scalars(query))

    def newest(self, question_id: int) -> Generation | None:
        query = select(Generation).where(Generation.question_id == question_id).order_by(Generation.id.desc()).limit(1)
        return self._session.scalar(query)

    def clusters(self, generation_id: int) -> Sequence[AnswerCluster]:
        query = select(AnswerCluster).where(AnswerCluster.generation_id == generation_id)
        return self._session.scalars(query.order_by(AnswerCluster.position)).all()
