"""Answers of the model: what is still to be sampled, storing it, and what Stage 1 and the selector learn from it."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.services.actors import Actor, require
from db.engine import Database
from db.models import AnswerCluster, Generation, Question
from db.repositories.generations import GenerationRepository
from db.repositories.projects import ProjectRepository
from elical_core.domain import Answer, Consistency, GenerationRecord, Role, Split
from elical_core.errors import InputError
from elical_core.sampling.base import SamplingRequest

if TYPE_CHECKING:
    from elical_core.confidence import TrainingItem


@dataclass(frozen=True, kw_only=True)
class AnsweredQuestion:
    """A question with what its newest answers say. ``consistency`` in [0, 1], None with ``reason``; ``n_prob`` is the
    greedy answer's length-normalised probability, None when a token's log-probability is missing or not finite."""

    question_id: int
    external_id: str
    text: str
    context: str
    domain: str
    split: Split
    group: str
    reference_answers: tuple[str, ...]
    greedy_answer: str
    k: int
    consistency: float | None
    reason: str
    n_prob: float | None
    fingerprint: str


def unsampled(
    database: Database, who: Actor, project_id: int, fingerprint: str, limit: int | None = None
) -> list[SamplingRequest]:
    """Questions that this model has not answered, in import order; ``key`` is the external id."""
    require(who, Role.VIEWER)
    with database.read.begin() as session:
        ProjectRepository(session).get(project_id)
        rows = GenerationRepository(session).unsampled(project_id, fingerprint, limit)
        return [SamplingRequest(question_id=q.id, key=q.external_id, text=q.text, context=q.context) for q in rows]


def count_unsampled(database: Database, who: Actor, project_id: int, fingerprint: str) -> int:
    """How many questions this model has not answered."""
    require(who, Role.VIEWER)
    with database.read.begin() as session:
        ProjectRepository(session).get(project_id)
        return GenerationRepository(session).count_unsampled(project_id, fingerprint)


def newest_id(database: Database, who: Actor, project_id: int) -> int:
    """The number of the project's newest generation, 0 when there is none: names what a training may see."""
    require(who, Role.VIEWER)
    with database.read.begin() as session:
        return GenerationRepository(session).newest_id(project_id)


def store(
    database: Database, who: Actor, project_id: int, records: Sequence[tuple[GenerationRecord, Consistency]]
) -> int:
    """Stores answers and clusters in one transaction; gives the number stored.

    Answers that the same model already gave to a question stay as they are, so a repeated batch changes nothing.
    """
    require(who, Role.ADMIN)
    if not records:
        return 0
    with database.write.begin() as session:
        ProjectRepository(session).lock(project_id)
        ids = {record.question_id for record, _ in records}
        ours = set(session.scalars(select(Question.id).where(Question.project_id == project_id, Question.id.in_(ids))))
        if foreign := sorted(ids - ours):
            raise InputError(f"question {foreign[0]} is not in project {project_id}; nothing of this batch was stored")
        stored = 0
        for fingerprint in sorted({record.model_fingerprint for record, _ in records}):
            there = GenerationRepository(session).already_there(ids, fingerprint)
            for record, consistency in records:
                if record.model_fingerprint == fingerprint and record.question_id not in there:
                    there.add(record.question_id)
                    generation = _generation(record, consistency)
                    session.add(generation)
                    session.flush()
                    session.add_all(_clusters(generation.id, consistency))
                    stored += 1
        return stored


def answered(
    database: Database,
    who: Actor,
    project_id: int,
    *,
    fingerprint: str | None = None,
    splits: Collection[Split] = tuple(Split),
) -> list[AnsweredQuestion]:
    """Every answered question of the splits, in import order; ``fingerprint`` None takes each one's newest answers."""
    require(who, Role.VIEWER)
    with database.read.begin() as session:
        ProjectRepository(session).get(project_id)
        return read_answered(session, project_id, fingerprint, splits)


def elicitation_items(database: Database, who: Actor, project_id: int, newest: int | None = None) -> list[TrainingItem]:
    """What Stage 1 learns from: pool questions (never audit or held-out ones) whose consistency is known, in import
    order. Generations after ``newest`` (see ``newest_id``) are not looked at."""
    from elical_core.confidence import TrainingItem

    require(who, Role.VIEWER)
    with database.read.begin() as session:
        ProjectRepository(session).get(project_id)
        return [
            TrainingItem(key=external_id, text=text, context=context, group=group, target=consistency)
            for external_id, text, context, group, consistency in GenerationRepository(session).targets(
                project_id, newest
            )
        ]


def read_answered(
    session: Session, project_id: int, fingerprint: str | None, splits: Collection[Split]
) -> list[AnsweredQuestion]:
    """``answered`` inside a transaction that is already open."""
    rows = GenerationRepository(session).with_questions(project_id, fingerprint, splits)
    return [_answered(question, generation) for question, generation in rows]


def n_prob(logprobs: Sequence[float | None]) -> float | None:
    """exp(mean token log-probability) in [0, 1]; None for no tokens or any missing or non-finite entry."""
    known = [value for value in logprobs if value is not None and math.isfinite(value)]
    if not known or len(known) < len(logprobs):
        return None
    return min(1.0, math.exp(math.fsum(known) / len(known)))


def _generation(record: GenerationRecord, consistency: Consistency) -> Generation:
    return Generation(
        question_id=record.question_id,
        model_fingerprint=record.model_fingerprint,
        greedy_answer=record.greedy.text,
        greedy_class=record.greedy.answer_class,
        greedy_tokens=list(record.greedy.tokens),
        greedy_logprobs=[value if value is None or math.isfinite(value) else None for value in record.greedy.logprobs],
        samples=[_sample(answer) for answer in record.samples],
        k=len(record.samples),
        seed=record.seed,
        consistency=consistency.target,
        consistency_reason=consistency.reason,
        unresolved=consistency.unresolved,
    )


def _sample(answer: Answer) -> dict[str, str]:
    return {"text": answer.text, "class": answer.answer_class.value}


def _clusters(generation_id: int, consistency: Consistency) -> list[AnswerCluster]:
    largest_first = sorted(consistency.clusters, key=lambda c: (-len(c.members), not c.holds_greedy))
    return [
        AnswerCluster(
            generation_id=generation_id,
            position=position,
            representative=cluster.representative,
            members=list(cluster.members),
            size=len(cluster.members),
            holds_greedy=cluster.holds_greedy,
            step=cluster.step,
        )
        for position, cluster in enumerate(largest_first)
    ]


def _answered(question: Question, generation: Generation) -> AnsweredQuestion:
    return AnsweredQuestion(
        question_id=question.id,
        external_id=question.external_id,
        text=question.text,
        context=question.context,
        domain=question.domain,
        split=question.split,
        group=question.group,
        reference_answers=tuple(question.reference_answers),
        greedy_answer=generation.greedy_answer,
        k=generation.k,
        consistency=generation.consistency,
        reason=generation.consistency_reason,
        n_prob=n_prob(generation.greedy_logprobs),
        fingerprint=generation.model_fingerprint,
    )
