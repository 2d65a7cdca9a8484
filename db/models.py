"""The tables. Names are the words of the screen; rules are constraints. Times are UTC.

Project -< Question -< Generation -< AnswerCluster -< Verdict >- User
        -< Round -< RoundItem >- Question -< Lease >- User
        -< Checkpoint -< Measurement
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, utc_now
from elical_core.domain import (
    AnswerClass,
    CheckpointState,
    DecidingStep,
    LabelKind,
    Role,
    Split,
    Stage,
    Stream,
    VerdictValue,
)


def _owned_by(column: str) -> Any:
    return mapped_column(ForeignKey(column, ondelete="CASCADE"), index=True)


class User(Base):
    __tablename__ = "users"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    role: Mapped[Role]
    credential_hash: Mapped[str | None]
    oidc_subject: Mapped[str | None] = mapped_column(unique=True)
    disabled: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class Project(Base):
    __tablename__ = "projects"
    __table_args__ = (CheckConstraint("budget > 0", "budget_positive"), CheckConstraint("name <> ''", "name_given"))

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    model_id: Mapped[str]  # as the user wrote it: packaged, a hub id, a folder, a GGUF file
    model_revision: Mapped[str | None]
    prompt: Mapped[dict[str, Any]]  # elical_core.models.prompts.Prompt.to_json()
    sampling: Mapped[dict[str, Any]]  # SamplingConfig.to_json()
    guideline: Mapped[str] = mapped_column(default="")
    budget: Mapped[int] = mapped_column(default=250)  # labelled questions
    target: Mapped[float | None]
    label_kind: Mapped[LabelKind] = mapped_column(default=LabelKind.SOFT)
    seed: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    archived_at: Mapped[datetime | None]


class Question(Base):
    __tablename__ = "questions"
    __table_args__ = (
        UniqueConstraint("project_id", "external_id"),
        Index(None, "project_id", "split"),
        Index(None, "project_id", "id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"))
    external_id: Mapped[str]
    text: Mapped[str]
    context: Mapped[str] = mapped_column(default="")
    reference_answers: Mapped[list[str]] = mapped_column(default=list)
    reference_by_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))  # None: came with the import
    domain: Mapped[str] = mapped_column(default="")
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)  # the import's metadata
    split: Mapped[Split] = mapped_column(default=Split.POOL)
    group: Mapped[str]  # near-duplicates share one
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class Generation(Base):
    """What one model, prompted and sampled in one way, answered to one question."""

    __tablename__ = "generations"
    __table_args__ = (
        UniqueConstraint("question_id", "model_fingerprint"),
        CheckConstraint("k >= 0", "k_not_negative"),
        CheckConstraint("consistency is null or (consistency >= 0 and consistency <= 1)", "consistency_share"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    question_id: Mapped[int] = mapped_column(ForeignKey("questions.id", ondelete="CASCADE"))
    model_fingerprint: Mapped[str] = mapped_column(index=True)  # weights + prompt
    greedy_answer: Mapped[str]
    greedy_class: Mapped[AnswerClass]
    greedy_tokens: Mapped[list[str]]
    greedy_logprobs: Mapped[list[Any]]  # float or null, row-aligned with greedy_tokens
    samples: Mapped[list[Any]]  # [{"text": ..., "class": ...}] in drawing order
    k: Mapped[int]
    seed: Mapped[int]
    consistency: Mapped[float | None]  # the Stage-1 target
    consistency_reason: Mapped[str] = mapped_column(default="")  # why it is missing
    unresolved: Mapped[int] = mapped_column(default=0)  # samples whose relation to the greedy answer is undecided
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class AnswerCluster(Base):
    __tablename__ = "answer_clusters"
    __table_args__ = (UniqueConstraint("generation_id", "position"), CheckConstraint("size >= 0", "size_not_negative"))

    id: Mapped[int] = mapped_column(primary_key=True)
    generation_id: Mapped[int] = mapped_column(ForeignKey("generations.id", ondelete="CASCADE"))
    position: Mapped[int]  # largest first
    representative: Mapped[str]
    members: Mapped[list[Any]]  # indices into Generation.samples
    size: Mapped[int]
    holds_greedy: Mapped[bool]
    step: Mapped[DecidingStep]


class Round(Base):
    __tablename__ = "rounds"

    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = _owned_by("projects.id")
    policy: Mapped[str]
    seed: Mapped[int]
    settings: Mapped[dict[str, Any]]
    checkpoint_id: Mapped[int | None] = mapped_column(ForeignKey("checkpoints.id"))  # whose confidence steered the draw
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class RoundItem(Base):
    __tablename__ = "round_items"
    __table_args__ = (
        UniqueConstraint("round_id", "question_id"),
        UniqueConstraint("round_id", "position"),
        CheckConstraint("probability > 0 and probability <= 1", "probability_range"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id", ondelete="CASCADE"))
    question_id: Mapped[int] = _owned_by("questions.id")
    position: Mapped[int]  # the order in which questions are shown
    stream: Mapped[Stream]
    probability: Mapped[float]  # of being drawn in this round
    reason: Mapped[str] = mapped_column(default="")


class Lease(Base):
    """One annotator has one question open until the lease expires; expiry is by the clock, nobody has to clean up."""

    __tablename__ = "leases"
    __table_args__ = (UniqueConstraint("question_id", "annotator_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    question_id: Mapped[int] = mapped_column(ForeignKey("questions.id", ondelete="CASCADE"))
    annotator_id: Mapped[int] = _owned_by("users.id")
    token: Mapped[str] = mapped_column(unique=True)
    expires_at: Mapped[datetime]
    heartbeat_at: Mapped[datetime]


class Verdict(Base):
    """Append-only events; the newest per (cluster, annotator) is the current one. All rows of one submit share a client
    key, which makes a repeated submit harmless. A judged cluster cannot be deleted under its verdicts; they go only
    with their question."""

    __tablename__ = "verdicts"
    __table_args__ = (
        UniqueConstraint("cluster_id", "annotator_id", "version"),
        UniqueConstraint("client_key", "cluster_id"),
        CheckConstraint("seconds_on_screen >= 0", "seconds_not_negative"),
        CheckConstraint("version >= 1", "version_from_one"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    cluster_id: Mapped[int] = mapped_column(ForeignKey("answer_clusters.id"))
    question_id: Mapped[int] = _owned_by("questions.id")
    annotator_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    round_id: Mapped[int | None] = mapped_column(ForeignKey("rounds.id"))
    value: Mapped[VerdictValue]
    answer_text: Mapped[str]  # what was judged, so that the verdict outlives a re-clustering
    seconds_on_screen: Mapped[float]
    client_key: Mapped[str]
    version: Mapped[int]  # 1, 2, ... per cluster and annotator
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class Checkpoint(Base):
    __tablename__ = "checkpoints"
    __table_args__ = (UniqueConstraint("project_id", "path"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"))
    stage: Mapped[Stage]
    parent_id: Mapped[int | None] = mapped_column(ForeignKey("checkpoints.id"))
    label_set_hash: Mapped[str] = mapped_column(default="")
    n_labels: Mapped[int] = mapped_column(default=0)  # labelled training questions it learned from
    settings: Mapped[dict[str, Any]]
    seed: Mapped[int]
    path: Mapped[str]  # relative to the home folder
    metrics: Mapped[dict[str, Any]] = mapped_column(default=dict)  # of the training folds
    state: Mapped[CheckpointState] = mapped_column(default=CheckpointState.FRESH)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)


class Measurement(Base):
    __tablename__ = "measurements"
    __table_args__ = (CheckConstraint("low is null or high is null or low <= high", "low_below_high"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = _owned_by("projects.id")
    checkpoint_id: Mapped[int | None] = mapped_column(ForeignKey("checkpoints.id", ondelete="CASCADE"))
    estimator: Mapped[str]  # stage-1, instant-head, calibrated, n-prob, ...
    n_labels: Mapped[int]
    stream: Mapped[str]  # audit, held-out, or the name of an evaluation file
    metric: Mapped[str]
    value: Mapped[float | None]
    low: Mapped[float | None]
    high: Mapped[float | None]
    n: Mapped[int]  # items measured
    left_out: Mapped[int] = mapped_column(default=0)
    method: Mapped[str] = mapped_column(default="")
    reason: Mapped[str] = mapped_column(default="")  # why value is missing
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
