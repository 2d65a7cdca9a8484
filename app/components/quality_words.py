"""From what the quality service found to what figures, tables and CSV files show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.components.budget_curve import CurvePoint
from app.components.palette import estimator_name
from app.components.reliability import Bin
from app.components.words import metric_name, share, with_interval

if TYPE_CHECKING:
    from app.services.quality import QualityView
    from elical_core.metrics.reliability import ReliabilityBin

HEADLINE = ("auroc", "ece")
BEST_FIRST = ("calibrated", "instant-head", "stage-1")  # which estimator speaks for the current model


def curve_series(view: QualityView, metric: str) -> dict[str, list[CurvePoint]]:
    """Estimator -> its points of one metric; points without a value are left out."""
    series: dict[str, list[CurvePoint]] = {}
    for point in view.curve:
        found = point.measured
        if point.metric == metric and found.value is not None:
            at = CurvePoint(n_labels=point.n_labels, value=found.value, low=found.low, high=found.high)
            series.setdefault(point.estimator, []).append(at)
    return series


def curve_rows(view: QualityView, metric: str) -> list[dict[str, Any]]:
    """The chart as a table, undefined points with their reason."""
    return [
        {
            "estimator": point.estimator,
            "labels": point.n_labels,
            "metric": point.metric,
            "value": point.measured.value,
            "low_95": point.measured.low,
            "high_95": point.measured.high,
            "audit_questions": point.measured.n,
            "left_out": point.measured.left_out,
            "method": point.measured.method,
            "reason": point.measured.reason,
        }
        for point in view.curve
        if point.metric == metric
    ]


def why_no_point(view: QualityView, metric: str) -> str:
    """The reason of the newest undefined point; empty when every point has a value."""
    reasons = [p.measured.reason for p in view.curve if p.metric == metric and p.measured.value is None]
    return reasons[-1] if reasons else ""


@dataclass(frozen=True, kw_only=True)
class Headline:
    """One number of the current model: its name, value, interval in words, and why it has no value."""

    name: str
    value: str
    interval: str
    why: str


def headline_numbers(view: QualityView) -> list[Headline]:
    """AUROC and ECE of the current model; a dash and the reason where there is none."""
    return [_headline(view, metric) for metric in HEADLINE]


def _headline(view: QualityView, metric: str) -> Headline:
    newest = {p.estimator: p.measured for p in view.curve if p.metric == metric}
    estimator = next((name for name in BEST_FIRST if name in newest), None)
    name = metric_name(metric) if estimator is None else f"{metric_name(metric)}, {estimator_name(estimator)}"
    if estimator is None or (found := newest[estimator]).value is None:
        why = "No model has been measured yet." if estimator is None else newest[estimator].reason
        return Headline(name=name, value="–", interval="not yet", why=why)
    known = found.low is not None and found.high is not None
    interval = f"95% {share(found.low or 0.0)} to {share(found.high or 0.0)}" if known else "no interval yet"
    return Headline(name=name, value=share(found.value), interval=interval, why="")


def drawn_bins(bins: Sequence[ReliabilityBin]) -> list[Bin]:
    """The bins that hold questions."""
    return [
        Bin(confidence=b.confidence, accuracy=b.accuracy, n=b.count)
        for b in bins
        if b.confidence is not None and b.accuracy is not None
    ]


def bin_rows(bins: Mapping[str, Sequence[ReliabilityBin]]) -> list[dict[str, Any]]:
    return [
        {
            "estimator": name,
            "from": b.left,
            "to": b.right,
            "questions": b.count,
            "confidence": b.confidence,
            "accuracy": b.accuracy,
            "low_95": b.low,
            "high_95": b.high,
        }
        for name, inside in bins.items()
        for b in inside
    ]


def measured_words(view: QualityView, estimator: str, n_labels: int, metric: str) -> str:
    """ ".803 (95% .741 to .860)" of one point; empty when it was not measured."""
    found = [p.measured for p in view.curve if (p.estimator, p.n_labels, p.metric) == (estimator, n_labels, metric)]
    return with_interval(found[-1].value, found[-1].low, found[-1].high, found[-1].reason) if found else ""
