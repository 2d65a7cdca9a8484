"""Mapping stated confidences to observed correctness, judged on items that the map was not fitted on.

The cheapest rival of every trained model: Platt scaling below 200 labels, beta calibration to 2,000, isotonic after.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression
from scipy.special import expit

from elical_core.errors import ConfigError, InputError
from elical_core.metrics.checks import groups, probabilities, same_length, verdicts
from elical_core.metrics.tally import Floats
from elical_core.selection.logistic import CLIP, fit_map, safe_logit

FOLDS = 5
BETA_FROM, ISOTONIC_FROM, ISOTONIC_SAFE = 200, 2000, 10_000
METHODS = ("platt", "beta", "isotonic")
_WEAK = 1e-3


class Calibrator(Protocol):
    def apply(self, confidence: Floats) -> Floats:
        """(n,) in [0, 1] to (n,) in [0, 1]."""
        ...


@dataclass(frozen=True)
class LogisticCalibrator:
    """sigmoid(weights' columns): columns (1, logit c) for Platt, (1, log c, -log(1 - c)) for beta."""

    weights: Floats

    def apply(self, confidence: Floats) -> Floats:
        mapped: Floats = expit(_columns(confidence, len(self.weights) == 3) @ self.weights)
        return mapped


@dataclass(frozen=True)
class IsotonicCalibrator:
    """A rising step function through ``confidence`` (U,) and ``value`` (U,), linear between them."""

    confidence: Floats
    value: Floats

    def apply(self, confidence: Floats) -> Floats:
        mapped: Floats = np.interp(confidence, self.confidence, self.value)
        return mapped


def _columns(c: Floats, beta: bool) -> Floats:
    if not beta:
        return np.column_stack([np.ones(len(c)), safe_logit(c)])
    clipped = np.clip(c, CLIP, 1 - CLIP)
    return np.column_stack([np.ones(len(c)), np.log(clipped), -np.log1p(-clipped)])


def _logistic(c: Floats, y: Floats, *, beta: bool) -> LogisticCalibrator:
    """A barely penalised fit; a falling direction of beta calibration is dropped, so that the map never falls."""
    x = _columns(c, beta)
    start = np.r_[0.0, np.ones(x.shape[1] - 1)]
    weights = _weights(x, y, start, np.ones(len(start), dtype=bool))
    if beta and (weights < 0)[1:].any():
        weights = _weights(x, y, start, np.r_[True, weights[1:] >= 0])
    return LogisticCalibrator(np.r_[weights[0], np.maximum(weights[1:], 0)])


def _weights(x: Floats, y: Floats, start: Floats, kept: NDArray[np.bool_]) -> Floats:
    """Weights of the ``kept`` columns, 0 for the others."""
    weights = np.zeros(len(start))
    precision = np.full(int(kept.sum()), _WEAK)
    weights[kept] = fit_map(x[:, kept], y, np.ones(len(y)), prior_mean=start[kept], precision=precision).mean
    return weights


def fit_calibrator(confidence: Floats, correct: Floats, method: str) -> Calibrator:
    """Fits one map on (n,) confidences and 0/1 verdicts, n >= 1. Platt uses smoothed targets (N+ + 1) / (N+ + 2)."""
    if method not in METHODS:
        raise ConfigError(f"there is no recalibration {method!r}; known are {', '.join(METHODS)}")
    if len(confidence) == 0:
        raise InputError("no labels to recalibrate with; label some questions first")
    if method == "isotonic":
        place, index = np.unique(confidence, return_inverse=True)
        count = np.bincount(index.reshape(-1)).astype(np.float64)
        mean = np.bincount(index.reshape(-1), weights=correct) / count
        return IsotonicCalibrator(place, isotonic_regression(mean, weights=count).x)
    if method == "platt":
        right = correct.sum()
        high, low = (right + 1) / (right + 2), 1 / (len(correct) - right + 2)
        return _logistic(confidence, np.where(correct == 1, high, low), beta=False)
    return _logistic(confidence, correct, beta=True)


@dataclass(frozen=True, kw_only=True)
class Recalibrated:
    """``confidence`` (n,) of each item by a map fitted without its fold; ``warning`` is empty or one sentence."""

    confidence: Floats
    method: str
    warning: str = ""


def method_for(n: int) -> str:
    """The recalibration that ``n`` labels can carry."""
    return "platt" if n < BETA_FROM else "beta" if n < ISOTONIC_FROM else "isotonic"


def recalibrate(
    confidence: ArrayLike, correct: ArrayLike, *, group: ArrayLike | None = None, method: str | None = None
) -> Recalibrated:
    """5-fold cross-fitted recalibration of (n,) confidences by 0/1 verdicts; whole groups per fold; n >= 2.

    Folds go round robin over items sorted by (confidence, verdict), or over sorted groups: row order does not matter.
    """
    c, y = probabilities(confidence), verdicts(correct)
    n = same_length(confidence=c, correct=y)
    g = groups(group, n)
    if n < 2 or (g is not None and g.max() < 1):
        raise InputError(f"recalibration needs at least two items and two groups, got {n} items; label more questions")
    chosen = method or method_for(n)
    place = np.empty(n, dtype=np.int64)
    place[np.lexsort((y, c))] = np.arange(n)
    fold = (place if g is None else g) % FOLDS
    mapped = np.empty(n)
    for k in np.unique(fold):
        inside = fold == k
        mapped[inside] = fit_calibrator(c[~inside], y[~inside], chosen).apply(c[inside])
    warning = ""
    if chosen == "isotonic" and n < ISOTONIC_SAFE:
        warning = f"isotonic recalibration on {n:,} labels follows noise; from {ISOTONIC_SAFE:,} on it is safe"
    return Recalibrated(confidence=mapped, method=chosen, warning=warning)
