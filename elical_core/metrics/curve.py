"""What the labels bought so far: metrics of the instant recalibration on audit labels, after each number of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from elical_core.domain import Measured, Stream
from elical_core.errors import InputError
from elical_core.metrics.audit import Audit, Linear, audit_of, brier_loss, difference, mean_of
from elical_core.metrics.audit_ece import ece_of
from elical_core.metrics.audit_report import mean_interval
from elical_core.metrics.auroc import auroc_of, delong_variance, one_class_reason
from elical_core.metrics.intervals import logit_interval, newcombe_auroc
from elical_core.metrics.sequence import anytime_factor
from elical_core.metrics.tally import Floats, tally
from elical_core.selection.instant_head import InstantHeadConfig, fit_head
from elical_core.selection.logistic import one_thread

MOST_POINTS = 60


@dataclass(frozen=True, kw_only=True)
class CurvePoint:
    """The recalibration from the first ``train`` training labels, judged on ``audit`` labels.

    ``labels``: how many questions were labelled, in both streams, when it became possible; 0 is Stage 1 alone.
    ``measured`` holds auroc, brier, ece and brier_gain (Stage 1's Brier minus this one's: above 0 is better) with
    fixed-n intervals; ``band`` the same with intervals that hold however often somebody looks.
    """

    labels: int
    train: int
    audit: int
    measured: tuple[Measured, ...]
    band: tuple[Measured, ...]


def spaced(n: int, most: int = MOST_POINTS) -> list[int]:
    """At most ``most`` whole numbers from 0 to ``n``, both included, evenly spread."""
    return sorted({round(step) for step in np.linspace(0, n, min(n + 1, most))})


@one_thread()
def instant_curve(
    stage1_logit: ArrayLike,
    soft: ArrayLike,
    greedy: ArrayLike,
    stream: Sequence[Stream | str],
    *,
    samples: ArrayLike = 20,
    features: NDArray[np.float32] | None = None,
    points: Sequence[int] | None = None,
    config: InstantHeadConfig | None = None,
) -> list[CurvePoint]:
    """The live chart's numbers, from labels in the order they were made.

    All row-aligned (L,): ``stage1_logit`` finite; ``soft`` in [0, 1], the share of correct samples, NaN = missing (then
    the greedy verdict stands in as a hard label); ``greedy`` 0/1 or NaN; ``stream`` train or audit; ``samples`` answers
    behind each soft label. ``features`` (L, r) whitened, None = Platt scaling alone. ``points``: numbers of training
    labels, by default up to 60 from 0 to all. Every point is judged on all audit labels there are, each weighing the
    same, because the audit stream is drawn with equal chances: points differ by their fit alone. Undefined metrics say
    why; with no labels there is one point, Stage 1, without values. Raises InputError for crooked columns.
    """
    z0, y, g = (np.asarray(column, dtype=np.float64) for column in (stage1_logit, soft, greedy))
    k = np.broadcast_to(np.asarray(samples, dtype=np.float64), z0.shape)
    is_audit = np.array([str(s) == Stream.AUDIT.value for s in stream], dtype=bool)
    _check(z0, y, g, is_audit, features)
    hard = np.isnan(y) & np.isfinite(g)
    y, k = np.where(hard, g, y), np.where(hard, 1.0, k)
    judged = np.flatnonzero(is_audit & np.isfinite(g))
    left_out = int((is_audit & ~np.isfinite(g)).sum())
    train = np.flatnonzero(~is_audit & np.isfinite(y))
    phi = np.empty((len(z0), 0), dtype=np.float32) if features is None else features
    judge = _Judge(g[judged], expit(z0[judged]), left_out)
    factor = anytime_factor(max(len(judged), 1))
    drawn, head = [], None
    for n in spaced(len(train)) if points is None else points:
        if n == 0:
            drawn.append(_point(0, 0, judge(judge.stage1), len(judged), factor))
            continue
        rows = train[:n]
        head = fit_head(
            z0[rows], y[rows], features=phi[rows], samples=k[rows], greedy=g[rows], config=config, warm=head
        )
        measured = judge(head.predict(z0[judged], phi[judged]))
        drawn.append(_point(int(rows[-1]) + 1, len(rows), measured, len(judged), factor))
    return drawn


def _point(labels: int, train: int, measured: tuple[Measured, ...], audit: int, factor: float) -> CurvePoint:
    band = tuple(widened(m, factor) for m in measured)
    return CurvePoint(labels=labels, train=train, audit=audit, measured=measured, band=band)


def _check(z0: Floats, y: Floats, g: Floats, is_audit: NDArray[np.bool_], features: NDArray[np.float32] | None) -> None:
    rows = (len(z0), len(y), len(g), len(is_audit), len(z0) if features is None else len(features))
    if len(set(rows)) > 1:
        raise InputError(f"label columns must be row-aligned, got {rows} rows of logit, soft, greedy, stream, features")
    for name, column, good in (
        ("stage1_logit", z0, np.isfinite(z0)),
        ("soft", y, np.isnan(y) | ((y >= 0) & (y <= 1))),
        ("greedy", g, np.isnan(g) | (g == 0) | (g == 1)),
    ):
        if not good.all():
            row = int((~good).argmax())
            raise InputError(f"{name} is {column[row]} in row {row} (counted from 0), which is outside its range")


class _Judge:
    """Metrics with intervals on one fixed set of verdicts, for any confidences in them."""

    def __init__(self, correct: Floats, stage1: Floats, left_out: int) -> None:
        self.correct, self.stage1, self.left_out = correct, stage1, left_out

    def __call__(self, confidence: Floats) -> tuple[Measured, ...]:
        n = len(self.correct)
        if n == 0:
            why = "no audit labels with a verdict on the greedy answer yet"
            return tuple(self._undefined(name, why) for name in ("auroc", "brier", "ece", "brier_gain"))
        audit = audit_of(confidence, np.arange(n), self.correct, design_score=self.stage1, control=False)
        loss = brier_loss(confidence)
        gain = difference(brier_loss(self.stage1), loss)
        return (
            self._auroc(confidence),
            self._mean("brier", audit, loss),
            self._ece(audit, confidence),
            self._mean("brier_gain", audit, gain),
        )

    def _undefined(self, metric: str, reason: str) -> Measured:
        n = len(self.correct)
        return Measured(metric=metric, value=None, low=None, high=None, n=n, left_out=self.left_out, reason=reason)

    def _of(self, metric: str, value: float, interval: tuple[float, float] | None, how: str) -> Measured:
        low, high = interval or (None, None)
        method = how if interval else "no interval from one label"
        n = len(self.correct)
        return Measured(metric=metric, value=value, low=low, high=high, n=n, left_out=self.left_out, method=method)

    def _auroc(self, confidence: Floats) -> Measured:
        if reason := one_class_reason(self.correct):
            return self._undefined("auroc", reason)
        value = float(auroc_of(tally(confidence, self.correct))[0])
        interval, how = logit_interval(value, delong_variance(confidence, self.correct)), "DeLong on the logit"
        if interval is None:
            right = int(self.correct.sum())
            interval, how = newcombe_auroc(value, right, len(self.correct) - right), "Newcombe score interval"
        return self._of("auroc", value, interval, how)

    def _mean(self, metric: str, audit: Audit, loss: Linear) -> Measured:
        estimate = mean_of(audit, loss)
        interval = mean_interval(estimate, audit.degrees)
        return self._of(metric, estimate.value, interval, "Student interval with skewness")

    def _ece(self, audit: Audit, confidence: Floats) -> Measured:
        found = ece_of(audit, confidence)
        interval = (found.low, found.high) if found.n > 1 else None
        return self._of("ece", found.value, interval, f"{found.bins} bins of equal mass, inverted test")


def widened(measured: Measured, factor: float) -> Measured:
    """The same value with an interval ``factor`` times as wide on either side, within [0, 1] unless it is a gain."""
    if measured.value is None or measured.low is None or measured.high is None:
        return measured
    low = measured.value + factor * (measured.low - measured.value)
    high = measured.value + factor * (measured.high - measured.value)
    if not measured.metric.endswith("_gain"):
        low, high = max(low, 0.0), min(high, 1.0)
    return replace(measured, low=low, high=high, method=f"{measured.method}, valid at any look")
