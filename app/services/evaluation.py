"""What a checkpoint is measured on: people's verdicts on the audit stream, reference answers on held-out questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.services import generations, labels
from app.services.actors import Actor
from app.services.labels import LabelledQuestion
from db.engine import Database
from elical_core.consistency import Embedder, judge
from elical_core.domain import Measured, Relation, Split, Stream
from elical_core.metrics import evaluate, paired_difference


@dataclass(frozen=True, kw_only=True)
class Judged:
    """Questions whose greedy answer is known to be right or wrong. ``left_out`` could not be decided."""

    stream: str
    question_ids: tuple[int, ...]
    correct: tuple[bool, ...]
    group: tuple[str, ...]
    left_out: int


def audit(database: Database, who: Actor, project_id: int) -> Judged:
    """People's verdicts on the greedy answers of the audit stream."""
    return audit_of(labels.labelled(database, who, project_id))


def audit_of(labelled: Sequence[LabelledQuestion]) -> Judged:
    """The audit labels among ``labelled``; those without a verdict on the greedy answer are left out and counted."""
    found = [label for label in labelled if label.stream is Stream.AUDIT]
    usable = [label for label in found if label.greedy is not None]
    return Judged(
        stream=Stream.AUDIT.value,
        question_ids=tuple(label.question_id for label in usable),
        correct=tuple(bool(label.greedy) for label in usable),
        group=tuple(label.group for label in usable),
        left_out=len(found) - len(usable),
    )


def held_out(database: Database, who: Actor, project_id: int, embedder: Embedder | None = None) -> Judged:
    """Held-out questions that came with reference answers, judged by the equivalence cascade."""
    found = generations.answered(database, who, project_id, splits=(Split.HELD_OUT,))
    known = [question for question in found if question.reference_answers]
    decided = [
        judge(question.text, [question.greedy_answer], question.reference_answers, embedder=embedder)[0].relation
        for question in known
    ]
    usable = [(q, r is Relation.SAME) for q, r in zip(known, decided, strict=True) if r is not Relation.UNRESOLVED]
    return Judged(
        stream=Split.HELD_OUT.value,
        question_ids=tuple(question.question_id for question, _ in usable),
        correct=tuple(right for _, right in usable),
        group=tuple(question.group for question, _ in usable),
        left_out=len(known) - len(usable),
    )


def measure(judged: Judged, scores: dict[int, float], stage1: dict[int, float] | None) -> list[Measured]:
    """Every metric of ``scores`` (question id -> confidence); with ``stage1`` the paired differences to it as well.

    Questions without a confidence are left out and counted.
    """
    rows = [
        (scores[i], right, group, stage1[i] if stage1 else 0.0)
        for i, right, group in zip(judged.question_ids, judged.correct, judged.group, strict=True)
        if i in scores and (stage1 is None or i in stage1)
    ]
    left_out = judged.left_out + len(judged.question_ids) - len(rows)
    confidence, correct, group, before = (np.array(column) for column in _columns(rows))
    found = evaluate(confidence, correct, group=group, left_out=left_out)
    if stage1 is not None:
        found += paired_difference(confidence, before, correct, group=group, left_out=left_out)
    return found


def _columns(rows: Sequence[tuple[float, bool, str, float]]) -> list[list[object]]:
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[], [], [], []]
