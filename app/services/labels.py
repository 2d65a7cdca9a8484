"""What a label is: one definition, shared by pages, charts, exports and training.

One annotator's label of a question comes from their newest verdicts on the clusters of the question's newest answers:

    soft    samples in correct clusters / samples in clusters judged correct or incorrect
    greedy  the verdict on the cluster that holds the greedy answer; missing when that cluster was not judged

With several annotators ``soft`` is the mean and ``greedy`` the majority; when the greedy verdicts tie, the label is
missing ("annotators disagree"). A question on which everybody was unsure, skipped or withdrew has no label and says
why; it is counted, never taken as incorrect.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.services.actors import Actor, require
from db.engine import Database
from db.models import Question, RoundItem, Verdict
from db.repositories.projects import ProjectRepository
from db.repositories.rounds import RoundRepository
from db.repositories.verdicts import Judgement, VerdictRepository
from elical_core.domain import Role, Split, Stream

UNSURE = "unsure"
SKIPPED = "skipped"
WITHDRAWN = "withdrawn"
DISAGREE = "annotators disagree"


@dataclass(frozen=True, kw_only=True)
class LabelledQuestion:
    """A question with verdicts. ``reason`` is empty when it has a label, else why it has none (and ``soft`` and
    ``greedy`` are None). ``soft`` is in [0, 1]. ``stream`` and ``probability`` come from the draw; a question that was
    labelled without being drawn has the stream of its split and no probability, a held-out one has no stream."""

    question_id: int
    external_id: str
    text: str
    context: str
    domain: str
    group: str
    split: Split
    stream: Stream | None
    probability: float | None
    round_id: int | None
    soft: float | None
    greedy: bool | None
    reason: str
    seconds: float
    annotators: tuple[str, ...]
    labelled_at: datetime

    @property
    def is_labelled(self) -> bool:
        return not self.reason

    @property
    def annotator(self) -> str:
        return ", ".join(self.annotators)


@dataclass(frozen=True, kw_only=True)
class TrainingLabels:
    """One consistent reading: the labels a fit may use and the hash that names them."""

    labels: tuple[LabelledQuestion, ...]
    label_set_hash: str
    question_ids: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class LabelCounts:
    """Numbers of questions; ``labelled`` = train + audit + held_out. ``seconds``: people's time, edits included."""

    labelled: int
    train: int
    audit: int
    held_out: int
    unsure: int
    skipped: int
    withdrawn: int
    disagreeing: int
    seconds: float


def labelled(database: Database, who: Actor, project_id: int) -> list[LabelledQuestion]:
    """Every question with verdicts on its newest answers, with or without a label, oldest label first."""
    require(who, Role.VIEWER)
    with database.read.begin() as session:
        ProjectRepository(session).get(project_id)
        return read_labels(session, project_id)


def training_labels(
    database: Database, who: Actor, project_id: int, *, stream: Stream = Stream.TRAIN
) -> TrainingLabels:
    """The labels of one stream and their hash, from one snapshot of the database."""
    require(who, Role.VIEWER)
    with database.read.begin() as session:
        ProjectRepository(session).get(project_id)
        labels = tuple(item for item in read_labels(session, project_id) if item.is_labelled and item.stream is stream)
        ids = tuple(item.question_id for item in labels)
        return TrainingLabels(labels=labels, label_set_hash=read_hash(session, project_id, ids), question_ids=ids)


def label_set_hash(database: Database, who: Actor, project_id: int, question_ids: Collection[int]) -> str:
    """SHA-256 over the sorted (external id, answer, verdict) of the current verdicts on these questions."""
    require(who, Role.VIEWER)
    with database.read.begin() as session:
        return read_hash(session, project_id, question_ids)


def label_counts(database: Database, who: Actor, project_id: int) -> LabelCounts:
    """The numbers on every screen."""
    require(who, Role.VIEWER)
    with database.read.begin() as session:
        ProjectRepository(session).get(project_id)
        return count(read_labels(session, project_id))


def count(labels: Iterable[LabelledQuestion]) -> LabelCounts:
    labels = list(labels)
    streams = Counter(item.stream for item in labels if item.is_labelled)
    reasons = Counter(item.reason for item in labels)
    return LabelCounts(
        labelled=reasons[""],
        train=streams[Stream.TRAIN],
        audit=streams[Stream.AUDIT],
        held_out=streams[None],
        unsure=reasons[UNSURE],
        skipped=reasons[SKIPPED],
        withdrawn=reasons[WITHDRAWN],
        disagreeing=reasons[DISAGREE],
        seconds=sum(item.seconds for item in labels),
    )


def read_labels(session: Session, project_id: int) -> list[LabelledQuestion]:
    """``labelled`` inside a transaction that is already open."""
    judgements = VerdictRepository(session).judgements(project_id)
    by_question = {key: list(rows) for key, rows in groupby(judgements, key=lambda row: row.question_id)}
    query = select(Question).where(Question.project_id == project_id, Question.id.in_(select(Verdict.question_id)))
    questions = {question.id: question for question in session.scalars(query)}
    draws = {item.question_id: item for item, _ in RoundRepository(session).items(project_id)}
    seconds = VerdictRepository(session).seconds(project_id)
    found = [
        _labelled(questions[key], rows, draws.get(key), seconds.get(key, 0.0)) for key, rows in by_question.items()
    ]
    return sorted(found, key=lambda item: (item.labelled_at, item.question_id))


def count_labelled(session: Session, project_id: int) -> int:
    """``label_counts(...).labelled`` alone, for after a submit."""
    judgements = VerdictRepository(session).judgements(project_id)
    by_question = groupby(judgements, key=lambda row: row.question_id)
    return sum(combine(list(rows))[2] == "" for _, rows in by_question)


def read_hash(session: Session, project_id: int, question_ids: Collection[int]) -> str:
    wanted = set(question_ids)
    rows = VerdictRepository(session).current_values(project_id)
    return hash_of([(external, answer, value.value) for key, external, answer, value in rows if key in wanted])


def hash_of(rows: Sequence[tuple[str, str, str]]) -> str:
    """Order does not matter; a repeated row (two annotators who agree) does. Empty for no rows."""
    if not rows:
        return ""
    return hashlib.sha256(json.dumps(sorted(rows), ensure_ascii=False).encode()).hexdigest()


def combine(judgements: Sequence[Judgement]) -> tuple[float | None, bool | None, str]:
    """(soft, greedy, reason) of one question from every annotator's judgement.

    A question without samples (k = 0, or only unsampled answers judged) has the greedy verdict as its soft label.
    """
    judged = [row for row in judgements if row.n_judged]
    if not judged:
        if any(row.n_unsure for row in judgements):
            return None, None, UNSURE
        return None, None, SKIPPED if any(row.n_skipped for row in judgements) else WITHDRAWN
    votes = Counter(row.greedy for row in judged if row.greedy is not None)
    if votes and votes[True] == votes[False]:
        return None, None, DISAGREE
    greedy = votes[True] > votes[False] if votes else None
    shares = [row.size_correct / row.size_judged for row in judged if row.size_judged]
    if shares:
        return sum(shares) / len(shares), greedy, ""
    if greedy is None:
        return None, None, UNSURE
    return float(greedy), greedy, ""


def _labelled(
    question: Question, judgements: list[Judgement], draw: RoundItem | None, seconds: float
) -> LabelledQuestion:
    soft, greedy, reason = combine(judgements)
    return LabelledQuestion(
        question_id=question.id,
        external_id=question.external_id,
        text=question.text,
        context=question.context,
        domain=question.domain,
        group=question.group,
        split=question.split,
        stream=stream_of(question, draw),
        probability=None if draw is None else draw.probability,
        round_id=None if draw is None else draw.round_id,
        soft=soft,
        greedy=greedy,
        reason=reason,
        seconds=seconds,
        annotators=tuple(row.annotator for row in judgements),
        labelled_at=max(row.at for row in judgements),
    )


def stream_of(question: Question, draw: RoundItem | None) -> Stream | None:
    """What a question's labels are for: by its draw, else by its split; None for a held-out one."""
    if question.split is Split.HELD_OUT:
        return None
    if question.split is Split.AUDIT:
        return Stream.AUDIT
    return Stream.TRAIN if draw is None else draw.stream
