"""What an imported label can attach to, read in bulk so that the import's write transaction stays short."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.models import AnswerCluster, Generation, Question, RoundItem, Verdict
from elical_core.domain import VerdictValue

_CHUNK = 500  # values in one IN list
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class JudgeableAnswer:
    """A cluster, and every text that is in it."""

    cluster_id: int
    representative: str
    texts: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class LabelTarget:
    """One generation of a question with its distinct answers, largest first."""

    question_id: int
    external_id: str
    text: str
    fingerprint: str
    answers: tuple[JudgeableAnswer, ...]


@dataclass(frozen=True, kw_only=True)
class StoredVerdict:
    cluster_id: int
    annotator_id: int
    client_key: str
    version: int
    value: VerdictValue


class LabelTargetRepository:
    def __init__(self, session: Session, project_id: int) -> None:
        self._session = session
        self._project_id = project_id

    def questions(self, external_ids: Collection[str]) -> set[str]:
        """Those of the ids that the project has."""
        found: set[str] = set()
        for chunk in _chunks(sorted(external_ids)):
            query = select(Question.external_id).where(
                Question.project_id == self._project_id, Question.external_id.in_(chunk)
            )
            found |= set(self._session.scalars(query))
        return found

    def targets(self, external_ids: Collection[str]) -> dict[str, list[LabelTarget]]:
        """By external id the question's generations, newest first; questions without any are missing."""
        found: dict[str, list[LabelTarget]] = {}
        for chunk in _chunks(sorted(external_ids)):
            query = (
                select(Question, Generation)
                .join(Generation, Generation.question_id == Question.id)
                .where(Question.project_id == self._project_id, Question.external_id.in_(chunk))
                .order_by(Generation.id.desc())
            )
            rows = [(row[0], row[1]) for row in self._session.execute(query)]
            clusters = self._clusters([generation.id for _, generation in rows])
            for question, generation in rows:
                found.setdefault(question.external_id, []).append(
                    _target(question, generation, clusters.get(generation.id, []))
                )
            self._session.expunge_all()
        return found

    def verdicts(self) -> list[StoredVerdict]:
        """Every verdict of the project."""
        query = (
            select(Verdict.cluster_id, Verdict.annotator_id, Verdict.client_key, Verdict.version, Verdict.value)
            .join(Question, Question.id == Verdict.question_id)
            .where(Question.project_id == self._project_id)
        )
        return [
            StoredVerdict(cluster_id=row[0], annotator_id=row[1], client_key=row[2], version=row[3], value=row[4])
            for row in self._session.execute(query)
        ]

    def draws(self) -> dict[int, int]:
        """The newest round that drew each question of the project."""
        query = (
            select(RoundItem.question_id, RoundItem.round_id)
            .join(Question, Question.id == RoundItem.question_id)
            .where(Question.project_id == self._project_id)
            .order_by(RoundItem.round_id)
        )
        return {question_id: round_id for question_id, round_id in self._session.execute(query)}

    def _clusters(self, generation_ids: Sequence[int]) -> dict[int, list[AnswerCluster]]:
        found: dict[int, list[AnswerCluster]] = {}
        for chunk in _chunks(generation_ids):
            query = select(AnswerCluster).where(AnswerCluster.generation_id.in_(chunk)).order_by(AnswerCluster.position)
            for cluster in self._session.scalars(query):
                found.setdefault(cluster.generation_id, []).append(cluster)
        return found


def _target(question: Question, generation: Generation, clusters: Sequence[AnswerCluster]) -> LabelTarget:
    def texts(cluster: AnswerCluster) -> frozenset[str]:
        sampled = {str(generation.samples[index]["text"]) for index in cluster.members}
        return frozenset(sampled | ({generation.greedy_answer} if cluster.holds_greedy else set()))

    return LabelTarget(
        question_id=question.id,
        external_id=question.external_id,
        text=question.text,
        fingerprint=generation.model_fingerprint,
        answers=tuple(
            JudgeableAnswer(cluster_id=c.id, representative=c.representative, texts=texts(c)) for c in clusters
        ),
    )


def _chunks(values: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), _CHUNK):
        yield values[start : start + _CHUNK]
