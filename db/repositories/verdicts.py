"""Verdicts: append-only events, what currently holds, and sums per question and annotator."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, case, func, select
from sqlalchemy.orm import Session, aliased

from db.models import AnswerCluster, Generation, Question, User, Verdict
from db.repositories.generations import newest_generation
from elical_core.domain import VerdictValue

_JUDGED = (VerdictValue.CORRECT, VerdictValue.INCORRECT)


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What one annotator's current verdicts on a question's newest answers add up to. Sizes count samples."""

    question_id: int
    annotator_id: int
    annotator: str
    size_correct: int
    size_judged: int
    n_judged: int  # clusters called correct or incorrect
    n_unsure: int
    n_skipped: int
    greedy: bool | None  # verdict on the cluster that holds the greedy answer
    round_id: int | None
    at: datetime


def is_current() -> ColumnElement[bool]:
    """No later version exists for the same cluster and annotator."""
    later = aliased(Verdict)
    return ~(
        select(later.id)
        .where(
            later.cluster_id == Verdict.cluster_id,
            later.annotator_id == Verdict.annotator_id,
            later.version > Verdict.version,
        )
        .exists()
    )


def _is_in(project_id: int) -> ColumnElement[bool]:
    """The question is in the project; written so that no index on questions fits, because a project has far more
    questions than verdicts and SQLite, which keeps no statistics here, would walk through all of them."""
    return (Question.project_id + 0) == project_id


class VerdictRepository:
    def __init__(self, session: Session) -> None:
        self._session = session

    def by_key(self, client_key: str) -> Sequence[Verdict]:
        return self._session.scalars(select(Verdict).where(Verdict.client_key == client_key)).all()

    def add(
        self,
        clusters: Sequence[AnswerCluster],
        values: Mapping[int, VerdictValue],
        *,
        question_id: int,
        annotator_id: int,
        round_id: int | None,
        seconds: float,
        client_key: str,
        now: datetime,
    ) -> None:
        """Appends one event per cluster; ``values`` is keyed by cluster id."""
        versions = self.versions([cluster.id for cluster in clusters], annotator_id)
        for cluster in clusters:
            self._session.add(
                Verdict(
                    cluster_id=cluster.id,
                    question_id=question_id,
                    annotator_id=annotator_id,
                    round_id=round_id,
                    value=values[cluster.id],
                    answer_text=cluster.representative,
                    seconds_on_screen=seconds,
                    client_key=client_key,
                    version=versions.get(cluster.id, 0) + 1,
                    created_at=now,
                )
            )
        self._session.flush()

    def versions(self, cluster_ids: Collection[int], annotator_id: int) -> dict[int, int]:
        query = (
            select(Verdict.cluster_id, func.max(Verdict.version))
            .where(Verdict.cluster_id.in_(cluster_ids), Verdict.annotator_id == annotator_id)
            .group_by(Verdict.cluster_id)
        )
        return {cluster_id: version for cluster_id, version in self._session.execute(query)}

    def history(self, cluster_ids: Collection[int], annotator_id: int) -> Sequence[Verdict]:
        """This annotator's events on the clusters, newest first."""
        query = select(Verdict).where(Verdict.cluster_id.in_(cluster_ids), Verdict.annotator_id == annotator_id)
        return self._session.scalars(query.order_by(Verdict.version.desc())).all()

    def last_submitted(self, project_id: int, annotator_id: int) -> int | None:
        """The question on which this annotator's newest current, not withdrawn verdict stands."""
        query = (
            select(Verdict.question_id)
            .join(Question, Question.id == Verdict.question_id)
            .join(AnswerCluster, AnswerCluster.id == Verdict.cluster_id)
            .where(
                _is_in(project_id),
                Verdict.annotator_id == annotator_id,
                Verdict.value != VerdictValue.WITHDRAWN,
                AnswerCluster.generation_id == newest_generation(Verdict.question_id),
                is_current(),
            )
            .order_by(Verdict.id.desc())
            .limit(1)
        )
        return self._session.scalar(query)

    def judgements(self, project_id: int, question_ids: Collection[int] | None = None) -> list[Judgement]:
        """One row per question and annotator with any verdict on the question's newest answers, by question."""
        correct = Verdict.value == VerdictValue.CORRECT
        judged = Verdict.value.in_(_JUDGED)
        greedy = case((and_(AnswerCluster.holds_greedy, judged), case((correct, 1), else_=0)))
        query = (
            select(
                Verdict.question_id,
                User.id,
                User.name,
                func.sum(case((correct, AnswerCluster.size), else_=0)),
                func.sum(case((judged, AnswerCluster.size), else_=0)),
                func.sum(case((judged, 1), else_=0)),
                func.sum(case((Verdict.value == VerdictValue.UNSURE, 1), else_=0)),
                func.sum(case((Verdict.value == VerdictValue.SKIPPED, 1), else_=0)),
                func.max(greedy),
                func.max(Verdict.round_id),
                func.max(Verdict.created_at),
            )
            .join(AnswerCluster, AnswerCluster.id == Verdict.cluster_id)
            .join(Generation, Generation.id == AnswerCluster.generation_id)
            .join(Question, Question.id == Verdict.question_id)
            .join(User, User.id == Verdict.annotator_id)
            .where(_is_in(project_id), Generation.id == newest_generation(Question.id), is_current())
            .group_by(Verdict.question_id, User.id, User.name)
            .order_by(Verdict.question_id, User.name)
        )
        if question_ids is not None:
            query = query.where(Verdict.question_id.in_(question_ids))
        return [
            Judgement(
                question_id=row[0],
                annotator_id=row[1],
                annotator=row[2],
                size_correct=row[3],
                size_judged=row[4],
                n_judged=row[5],
                n_unsure=row[6],
                n_skipped=row[7],
                greedy=None if row[8] is None else bool(row[8]),
                round_id=row[9],
                at=row[10],
            )
            for row in self._session.execute(query)
        ]

    def seconds(self, project_id: int) -> dict[int, float]:
        """Seconds of people's time per question: every submit counted once, edits and undone ones included."""
        per_submit = (
            select(Verdict.question_id, func.max(Verdict.seconds_on_screen).label("seconds"))
            .join(Question, Question.id == Verdict.question_id)
            .where(_is_in(project_id))
            .group_by(Verdict.question_id, Verdict.client_key)
            .subquery()
        )
        query = select(per_submit.c.question_id, func.sum(per_submit.c.seconds)).group_by(per_submit.c.question_id)
        return {question_id: seconds for question_id, seconds in self._session.execute(query)}

    def seconds_by(self, project_id: int, annotator_id: int) -> list[float]:
        """Seconds of every submit of one annotator; undoing is no submit."""
        query = (
            select(func.max(Verdict.seconds_on_screen))
            .join(Question, Question.id == Verdict.question_id)
            .where(
                _is_in(project_id),
                Verdict.annotator_id == annotator_id,
                Verdict.value != VerdictValue.WITHDRAWN,
            )
            .group_by(Verdict.client_key)
        )
        return list(self._session.scalars(query))

    def events(
        self, project_id: int, history: bool
    ) -> Iterator[tuple[Verdict, AnswerCluster, Generation, Question, str]]:
        """Verdicts with what they judge and the annotator's name, oldest first: all of them, or the current ones on the
        newest answers without withdrawn ones. Read in batches."""
        query = (
            select(Verdict, AnswerCluster, Generation, Question, User.name)
            .join(AnswerCluster, AnswerCluster.id == Verdict.cluster_id)
            .join(Generation, Generation.id == AnswerCluster.generation_id)
            .join(Question, Question.id == Verdict.question_id)
            .join(User, User.id == Verdict.annotator_id)
            .where(_is_in(project_id))
            .order_by(Verdict.id)
        )
        if not history:
            query = query.where(
                is_current(),
                Verdict.value != VerdictValue.WITHDRAWN,
                Generation.id == newest_generation(Question.id),
            )
        for row in self._session.execute(query.execution_options(yield_per=1000)):
            yield row[0], row[1], row[2], row[3], row[4]

    def current_values(self, project_id: int) -> list[tuple[int, str, str, VerdictValue]]:
        """(question id, external id, answer, value) of every current verdict on the newest answers."""
        query = (
            select(Question.id, Question.external_id, Verdict.answer_text, Verdict.value)
            .join(Question, Question.id == Verdict.question_id)
            .join(AnswerCluster, AnswerCluster.id == Verdict.cluster_id)
            .where(
                _is_in(project_id),
                AnswerCluster.generation_id == newest_generation(Question.id),
                is_current(),
            )
        )
        return [(row[0], row[1], row[2], row[3]) for row in self._session.execute(query)]
