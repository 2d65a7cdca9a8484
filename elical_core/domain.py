"""The words of the project: frozen records and enums. The same word stands on the screen, in the database and here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Split(StrEnum):
    """What a question is for. Audit and held-out questions never enter a fit."""

    POOL = "pool"
    AUDIT = "audit"
    HELD_OUT = "held-out"


class AnswerClass(StrEnum):
    """What kind of text the model returned. Only ``ANSWER`` is compared with other answers."""

    ANSWER = "answer"
    REFUSAL = "refusal"
    EMPTY = "empty"
    TRUNCATED = "truncated"


class DecidingStep(StrEnum):
    """The step of the equivalence cascade that decided a pair (or a cluster's newest member)."""

    EXACT = "exact"
    TYPED = "typed"
    ALIAS = "alias"
    ENTITY = "entity"
    NLI = "nli"
    EMBEDDING = "embedding"
    JUDGE = "judge"
    PERSON = "person"
    NONE = "none"


class Relation(StrEnum):
    """Whether two answers say the same thing in reply to one question."""

    SAME = "same"
    DIFFERENT = "different"
    UNRESOLVED = "unresolved"


class VerdictValue(StrEnum):
    """What an annotator said of one answer. ``WITHDRAWN`` is an undo: the answer is unjudged again."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    UNSURE = "unsure"
    SKIPPED = "skipped"
    WITHDRAWN = "withdrawn"


class Stream(StrEnum):
    """Why a question was drawn: to learn from (train) or to measure with (audit). Never shown to an annotator."""

    TRAIN = "train"
    AUDIT = "audit"


class Stage(StrEnum):
    """Which training made a checkpoint."""

    ELICITATION = "elicitation"
    CALIBRATION = "calibration"


class CheckpointState(StrEnum):
    """``STALE``: labels that it learned from have changed since."""

    FRESH = "fresh"
    STALE = "stale"


class LabelKind(StrEnum):
    """``SOFT``: share of sampled answers that are correct. ``HARD``: whether the greedy answer is correct."""

    SOFT = "soft"
    HARD = "hard"


class Role(StrEnum):
    ADMIN = "admin"
    ANNOTATOR = "annotator"
    VIEWER = "viewer"


@dataclass(frozen=True, kw_only=True)
class QuestionRecord:
    """One question as imported."""

    external_id: str
    text: str
    context: str = ""
    reference_answers: tuple[str, ...] = ()
    domain: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    split: Split = Split.POOL
    group: str = ""  # near-duplicates share one; empty = a group of its own


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One answer that the model gave.

    ``logprobs`` is row-aligned with ``tokens``; an entry is None where the backend gave none, -inf or NaN. Both are
    empty for sampled answers unless the backend keeps them.
    """

    text: str
    answer_class: AnswerClass
    tokens: tuple[str, ...] = ()
    logprobs: tuple[float | None, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GenerationRecord:
    """The greedy answer and k sampled answers to one question."""

    question_id: int
    model_fingerprint: str
    seed: int
    greedy: Answer
    samples: tuple[Answer, ...]


@dataclass(frozen=True, kw_only=True)
class ClusterRecord:
    """Answers that mean the same. ``members`` are indices into ``GenerationRecord.samples``; it may be empty when only
    the greedy answer is in the cluster."""

    representative: str
    members: tuple[int, ...]
    holds_greedy: bool
    step: DecidingStep


@dataclass(frozen=True, kw_only=True)
class Consistency:
    """Clusters are a partition of the samples plus the greedy answer.

    ``target`` is the Stage-1 target in [0, 1]: the share of the samples that mean the same as the greedy answer, among
    those that could be decided. None when fewer than half could be, with ``reason`` in words. ``same``, ``different``
    and ``unresolved`` count the samples against the greedy answer and sum to k.
    """

    clusters: tuple[ClusterRecord, ...]
    target: float | None
    reason: str
    same: int
    different: int
    unresolved: int


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One metric on one set of items. ``value`` is None with ``reason`` when it is undefined (one class, no items)."""

    metric: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    left_out: int = 0
    method: str = ""
    reason: str = ""
