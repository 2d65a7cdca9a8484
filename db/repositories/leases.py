"""Which question an annotator may open next, and who has one open now. Times are passed in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, delete, exists, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from db.models import AnswerCluster, Generation, Lease, Question, Round, RoundItem, User, Verdict
from db.repositories.generations import newest_generation
from db.repositories.verdicts import is_current
from elical_core.domain import VerdictValue


def _given_by(
    annotator: InstrumentedAttribute[int] | int, *, withdrawn_counts: bool, judged_only: bool
) -> ColumnElement[bool]:
    """The annotator has a current verdict on the newest answers to the enclosing query's question."""
    query = (
        select(Verdict.id)
        .join(AnswerCluster, AnswerCluster.id == Verdict.cluster_id)
        .where(
            Verdict.question_id == Question.id,
            Verdict.annotator_id == annotator,
            AnswerCluster.generation_id == newest_generation(Verdict.question_id),
            is_current(),
        )
    )
    if judged_only:
        query = query.where(Verdict.value.in_((VerdictValue.CORRECT, VerdictValue.INCORRECT)))
    elif not withdrawn_counts:
        query = query.where(Verdict.value != VerdictValue.WITHDRAWN)
    return query.correlate(Question, User).exists()


def done_by(annotator_id: int) -> ColumnElement[bool]:
    """The annotator has judged, skipped or been unsure of the question, and has not withdrawn it."""
    return _given_by(annotator_id, withdrawn_counts=False, judged_only=False)


def others_on_it(annotator_id: int, now: datetime) -> ColumnElement[int]:
    """How many others have judged the question or have it open. A skipped or unsure question stays open to others."""
    open_now = exists().where(Lease.question_id == Question.id, Lease.annotator_id == User.id, Lease.expires_at > now)
    return (
        select(func.count())
        .select_from(User)
        .where(
            User.id != annotator_id,
            open_now.correlate(Question, User) | _given_by(User.id, withdrawn_counts=False, judged_only=True),
        )
        .correlate(Question)
        .scalar_subquery()
    )


def overlap() -> ColumnElement[int]:
    """How many annotators a round wants per question (``Round.settings["overlap"]``, one when it says nothing)."""
    return func.coalesce(Round.settings["overlap"].as_integer(), 1)


class LeaseRepository:
    def __init__(self, session: Session) -> None:
        self._session = session

    def held(self, project_id: int, annotator_id: int, now: datetime) -> Lease | None:
        """The newest unexpired lease of this annotator on a question that they have not finished."""
        query = (
            select(Lease)
            .join(Question, Question.id == Lease.question_id)
            .where(
                Question.project_id == project_id,
                Lease.annotator_id == annotator_id,
                Lease.expires_at > now,
                ~done_by(annotator_id),
                exists().where(Generation.question_id == Question.id).correlate(Question),
            )
            .order_by(Lease.id.desc())
            .limit(1)
        )
        return self._session.scalar(query)

    def first_open(self, project_id: int, annotator_id: int, now: datetime) -> int | None:
        """The first drawn, answered question that this annotator has not finished and that has room for one more."""
        query = (
            select(Question.id)
            .join(RoundItem, RoundItem.question_id == Question.id)
            .join(Round, Round.id == RoundItem.round_id)
            .where(
                Round.project_id == project_id,
                exists().where(Generation.question_id == Question.id).correlate(Question),
                ~done_by(annotator_id),
                others_on_it(annotator_id, now) < overlap(),
            )
            .order_by(Round.id, RoundItem.position)
            .limit(1)
        )
        return self._session.scalar(query)

    def has_room(self, question_id: int, annotator_id: int, now: datetime) -> bool:
        """Whether this annotator could take the question (again): fewer others on it than its newest round wants."""
        wanted = (
            select(overlap())
            .join(RoundItem, RoundItem.round_id == Round.id)
            .where(RoundItem.question_id == Question.id)
            .order_by(Round.id.desc())
            .limit(1)
            .correlate(Question)
            .scalar_subquery()
        )
        query = select(others_on_it(annotator_id, now) < func.coalesce(wanted, 1)).where(Question.id == question_id)
        return bool(self._session.scalar(query))

    def get(self, question_id: int, annotator_id: int) -> Lease | None:
        query = select(Lease).where(Lease.question_id == question_id, Lease.annotator_id == annotator_id)
        return self._session.scalar(query)

    def take(self, question_id: int, annotator_id: int, token: str, now: datetime, until: datetime) -> Lease:
        """A new lease in place of an earlier one of the same annotator; it counts as the newest."""
        self._session.execute(delete(Lease).where(Lease.question_id == question_id, Lease.annotator_id == annotator_id))
        lease = Lease(
            question_id=question_id, annotator_id=annotator_id, token=token, expires_at=until, heartbeat_at=now
        )
        self._session.add(lease)
        self._session.flush()
        return lease

    def reopened(self, project_id: int, annotator_id: int, now: datetime) -> int:
        """Questions that this annotator has withdrawn and still has open."""
        query = (
            select(func.count())
            .select_from(Lease)
            .join(Question, Question.id == Lease.question_id)
            .where(
                Question.project_id == project_id,
                Lease.annotator_id == annotator_id,
                Lease.expires_at > now,
                ~done_by(annotator_id),
                _given_by(annotator_id, withdrawn_counts=True, judged_only=False),
            )
        )
        return self._session.scalar(query) or 0

    def open_in(self, project_id: int, now: datetime) -> Sequence[Lease]:
        query = (
            select(Lease)
            .join(Question, Question.id == Lease.question_id)
            .where(Question.project_id == project_id, Lease.expires_at > now)
            .order_by(Lease.expires_at)
        )
        return self._session.scalars(query).all()
