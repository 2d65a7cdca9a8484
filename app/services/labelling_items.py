"""What an annotator sees of a question: its distinct answers in an order that gives nothing away."""

from __future__ import annotations

import random
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy.orm import Session

from db.models import AnswerCluster, Generation, Lease, Project, Question, Verdict
from db.repositories.generations import GenerationRepository
from db.repositories.verdicts import VerdictRepository
from elical_core.domain import AnswerClass, VerdictValue
from elical_core.errors import Conflict, NotFound

MAIN_ANSWERS = 9  # keys 1 to 9


class Outcome(StrEnum):
    """How an annotator leaves a question."""

    JUDGED = "judged"  # ticked answers are correct, all others incorrect
    UNSURE = "unsure"
    SKIPPED = "skipped"


@dataclass(frozen=True, kw_only=True)
class AnswerChoice:
    """One distinct answer. ``text`` is shown literally; it is empty for an empty answer."""

    cluster_id: int
    text: str
    answer_class: AnswerClass


@dataclass(frozen=True, kw_only=True)
class AnnotationItem:
    """A question as an annotator may see it: no confidence, no counts, no greedy mark, no stream.

    ``main`` are at most nine answers (the greedy one and the most frequent), ``rest`` the rarer ones, each in an order
    that is random per question and the same at every visit. ``ticked`` are this annotator's earlier ticks when the
    question is open again; ``earlier`` is how they left it then (None: first visit). ``client_key`` is the idempotency
    key of this visit: hand it to ``submit`` as it is.
    """

    question_id: int
    project_id: int
    external_id: str
    text: str
    context: str
    domain: str
    metadata: Mapping[str, Any]
    guideline: str
    reference_answers: tuple[str, ...]
    main: tuple[AnswerChoice, ...]
    rest: tuple[AnswerChoice, ...]
    ticked: frozenset[int]
    earlier: Outcome | None
    lease_token: str
    lease_expires_at: datetime
    client_key: str

    @property
    def answers(self) -> tuple[AnswerChoice, ...]:
        return self.main + self.rest


def get_question(session: Session, question_id: int) -> Question:
    if (question := session.get(Question, question_id)) is None:
        raise NotFound(f"there is no question with number {question_id}; reload the page")
    return question


def get_answers(session: Session, question_id: int) -> tuple[Generation, Sequence[AnswerCluster]]:
    generations = GenerationRepository(session)
    if (generation := generations.newest(question_id)) is None:
        raise Conflict("this question has no sampled answers to judge; sample it first")
    return generation, generations.clusters(generation.id)


def new_token(generation: Generation) -> str:
    return f"{generation.id}-{secrets.token_urlsafe(18)}"


def submit_key(lease: Lease) -> str:
    """The idempotency key of the visit that the lease stands for."""
    return f"submit-{lease.token}"


def is_current(session: Session, lease: Lease) -> bool:
    """The answers that the lease was taken for are still the newest."""
    generation = GenerationRepository(session).newest(lease.question_id)
    return generation is not None and lease.token.startswith(f"{generation.id}-")


def outcome_of(values: Collection[VerdictValue]) -> Outcome | None:
    if {VerdictValue.CORRECT, VerdictValue.INCORRECT} & set(values):
        return Outcome.JUDGED
    if VerdictValue.UNSURE in values:
        return Outcome.UNSURE
    return Outcome.SKIPPED if VerdictValue.SKIPPED in values else None


def build_item(session: Session, project: Project, lease: Lease) -> AnnotationItem:
    question = get_question(session, lease.question_id)
    generation, clusters = get_answers(session, question.id)
    main, rest = _shuffled(generation, clusters)
    ticked, earlier = _earlier(VerdictRepository(session).history([c.id for c in clusters], lease.annotator_id))
    return AnnotationItem(
        question_id=question.id,
        project_id=project.id,
        external_id=question.external_id,
        text=question.text,
        context=question.context,
        domain=question.domain,
        metadata=dict(question.details),
        guideline=project.guideline,
        reference_answers=tuple(question.reference_answers),
        main=tuple(_choice(generation, cluster) for cluster in main),
        rest=tuple(_choice(generation, cluster) for cluster in rest),
        ticked=ticked,
        earlier=earlier,
        lease_token=lease.token,
        lease_expires_at=lease.expires_at,
        client_key=submit_key(lease),
    )


def _shuffled(
    generation: Generation, clusters: Sequence[AnswerCluster]
) -> tuple[list[AnswerCluster], list[AnswerCluster]]:
    """The nine to show first and the others, both in an order fixed by the generation's number alone."""
    chance = random.Random(f"answers of generation {generation.id}")
    ranked = sorted(clusters, key=lambda c: (not c.holds_greedy, c.position))
    main, rest = ranked[:MAIN_ANSWERS], ranked[MAIN_ANSWERS:]
    chance.shuffle(main)
    chance.shuffle(rest)
    return main, rest


def _choice(generation: Generation, cluster: AnswerCluster) -> AnswerChoice:
    classes = [AnswerClass(generation.samples[index]["class"]) for index in cluster.members]
    if cluster.holds_greedy:
        classes.append(generation.greedy_class)
    answer_class = AnswerClass.ANSWER if AnswerClass.ANSWER in classes or not classes else classes[0]
    return AnswerChoice(cluster_id=cluster.id, text=cluster.representative, answer_class=answer_class)


def _earlier(history: Sequence[Verdict]) -> tuple[frozenset[int], Outcome | None]:
    """The ticks and the outcome of the annotator's newest judgement that is not itself a withdrawal."""
    newest: dict[int, VerdictValue] = {}
    for event in history:
        if event.value is not VerdictValue.WITHDRAWN:
            newest.setdefault(event.cluster_id, event.value)
    ticked = frozenset(key for key, value in newest.items() if value is VerdictValue.CORRECT)
    return ticked, outcome_of(list(newest.values()))
