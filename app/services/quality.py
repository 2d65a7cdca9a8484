"""What the labels bought: the live curve, the reliability diagram, selective risk, and all of it in one sentence.

Everything is measured on the audit labels as they are now, so every point of every estimator is judged on the same
questions and only its fit differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from app.services import checkpoints, evaluation, labels, projects
from app.services.actors import Actor
from app.services.checkpoints import CheckpointView
from app.services.evaluation import Judged
from app.services.labels import LabelledQuestion
from app.services.score_files import read_features, read_scores
from app.settings import Settings
from db.engine import Database
from elical_core.domain import Measured, Stage, Stream
from elical_core.metrics import ReliabilityBin, evaluate, reliability
from elical_core.metrics.curve import instant_curve

STAGE_1, INSTANT_HEAD, CALIBRATED = "stage-1", "instant-head", "calibrated"
MOST_POINTS = 25
AUDIT_MINIMUM = 60
FEW_FOR_TEN_BINS = 150
LOGIT_CLIP = 1e-6


@dataclass(frozen=True, kw_only=True)
class CurvePoint:
    """``n_labels``: training labels that the estimator learned from; 0 for Stage 1."""

    estimator: str
    n_labels: int
    metric: str
    measured: Measured


@dataclass(frozen=True, kw_only=True)
class QualityView:
    """``reliability`` and ``selective`` (coverage, risk) map an estimator to its diagram: Stage 1, then the newest."""

    sentence: str
    curve: tuple[CurvePoint, ...]
    reliability: Mapping[str, Sequence[ReliabilityBin]]
    selective: Mapping[str, tuple[Sequence[float], Sequence[float]]]


def quality_view(settings: Settings, database: Database, who: Actor, project_id: int) -> QualityView:
    """Everything the quality page draws; empty with a sentence that says why before there is a model or a label."""
    project = projects.project_by_id(database, who, project_id)
    stage1 = checkpoints.newest_checkpoint(database, who, project_id, stage=Stage.ELICITATION)
    if stage1 is None:
        return _nothing("There is no confidence model yet: sample answers, then train Stage 1.")
    scores = read_scores(settings.home / stage1.path)
    usable = [label for label in labels.labelled(database, who, project_id) if label.question_id in scores]
    curve = _instant(usable, scores, project.sampling.k, settings.home / stage1.path)
    judged = evaluation.audit_of(usable)
    drawn = {STAGE_1: scores}
    for checkpoint in checkpoints.list_checkpoints(database, who, project_id, stage=Stage.CALIBRATION):
        drawn[CALIBRATED] = read_scores(settings.home / checkpoint.path)
        curve += _checkpoint_points(checkpoint, judged, drawn[CALIBRATED])
    return QualityView(
        sentence=_sentence(curve, judged),
        curve=tuple(curve),
        reliability={name: _reliability(judged, found) for name, found in drawn.items()},
        selective={name: _selective(judged, found) for name, found in drawn.items()},
    )


def _nothing(sentence: str) -> QualityView:
    return QualityView(sentence=sentence, curve=(), reliability={}, selective={})


def _instant(usable: Sequence[LabelledQuestion], scores: Mapping[int, float], k: int, folder: Path) -> list[CurvePoint]:
    """Stage 1 at zero labels and the instant head after every few labels; ``folder`` holds Stage 1's features."""
    ids, features = read_features(folder, "whitened")
    row_of = {int(question_id): row for row, question_id in enumerate(ids)}
    streamed = [label for label in usable if label.stream is not None and label.is_labelled]
    rows = [row_of[label.question_id] for label in streamed if label.question_id in row_of]
    confidence = np.clip([scores[label.question_id] for label in streamed], LOGIT_CLIP, 1 - LOGIT_CLIP)
    train = sum(label.stream is Stream.TRAIN for label in streamed)
    points = instant_curve(
        logit(confidence),
        [np.nan if label.soft is None else label.soft for label in streamed],
        [np.nan if label.greedy is None else float(label.greedy) for label in streamed],
        [label.stream for label in streamed if label.stream is not None],
        samples=k,
        features=features[rows] if len(rows) == len(streamed) else None,
        points=sorted({round(step) for step in np.linspace(0, train, min(train + 1, MOST_POINTS))}),
    )
    return [
        CurvePoint(
            estimator=INSTANT_HEAD if point.train else STAGE_1,
            n_labels=point.train,
            metric=measured.metric,
            measured=measured,
        )
        for point in points
        for measured in point.measured
    ]


def _checkpoint_points(checkpoint: CheckpointView, judged: Judged, scores: Mapping[int, float]) -> list[CurvePoint]:
    confidence, correct = _aligned(judged, scores)
    return [
        CurvePoint(estimator=CALIBRATED, n_labels=checkpoint.n_labels, metric=measured.metric, measured=measured)
        for measured in evaluate(confidence, correct, resamples=1000, left_out=judged.left_out)
    ]


def _aligned(judged: Judged, scores: Mapping[int, float]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(confidence (n,), correct (n,)) of the judged questions that have a confidence."""
    rows = [(scores[i], right) for i, right in zip(judged.question_ids, judged.correct, strict=True) if i in scores]
    table = np.array(rows, dtype=np.float64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _reliability(judged: Judged, scores: Mapping[int, float]) -> list[ReliabilityBin]:
    confidence, correct = _aligned(judged, scores)
    return reliability(confidence, correct, bins=10 if len(correct) >= FEW_FOR_TEN_BINS else 5)


def _selective(judged: Judged, scores: Mapping[int, float]) -> tuple[Sequence[float], Sequence[float]]:
    """(coverage, share of wrong answers among those kept), most confident first; equal confidences are one point."""
    confidence, correct = _aligned(judged, scores)
    order = np.argsort(-confidence, kind="stable")
    kept = np.arange(1, len(order) + 1)
    wrong = np.cumsum(1 - correct[order])
    last_of_tie = np.append(np.diff(confidence[order]) != 0, True)[: len(order)]
    return (kept / max(len(order), 1))[last_of_tie].tolist(), (wrong / kept)[last_of_tie].tolist()


def _sentence(curve: Sequence[CurvePoint], judged: Judged) -> str:
    """The first line of the page: what the labels bought, with what is still missing."""
    n = len(judged.question_ids)
    if n == 0:
        return (
            "No audit label yet. About every fourth question is one, so a few more labels bring the first measurement."
        )
    newest = {(point.estimator, point.metric): point for point in curve}
    name = next((name for name in (CALIBRATED, INSTANT_HEAD) if (name, "auroc") in newest), STAGE_1)
    parts = [
        f"{title} {_change(newest[STAGE_1, metric].measured, newest[name, metric].measured, name)}"
        for title, metric in (("AUROC", "auroc"), ("Brier", "brier"), ("ECE", "ece"))
    ]
    whose = {STAGE_1: "Stage 1, which knows no label", INSTANT_HEAD: "The instant head", CALIBRATED: "Stage 2"}[name]
    learned = "" if name == STAGE_1 else f" from {newest[name, 'auroc'].n_labels} training labels"
    caution = "" if n >= AUDIT_MINIMUM else f" Below {AUDIT_MINIMUM} audit labels these numbers are rough."
    return f"{whose}{learned}, measured on {n} audit labels: {'; '.join(parts)}.{caution}"


def _change(before: Measured, after: Measured, estimator: str) -> str:
    if after.value is None or before.value is None:
        return f"is {after.reason or before.reason}"
    interval = "" if after.low is None else f" (95% {after.low:.3f} to {after.high:.3f})"
    moved = "is" if estimator == STAGE_1 else f"went from {before.value:.3f} to"
    return f"{moved} {after.value:.3f}{interval}"
