"""Answering only when confident enough: risk against coverage. Equal confidences are accepted together: one point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from elical_core.errors import ConfigError
from elical_core.metrics.checks import finite, same_length, verdicts
from elical_core.metrics.tally import Floats, Tally, tally

COVERAGES = (0.5, 0.7, 0.8, 0.9)


def _kept(counts: Tally) -> tuple[Floats, Floats]:
    """(R, U) weight kept and correct weight kept when the threshold is each distinct score, in ascending order."""
    return counts.size[:, None] - counts.below[:, :-1], counts.correct[:, None] - counts.right_below[:, :-1]


def aurc_of(counts: Tally) -> Floats:
    """(R,) mean over items of the risk (share wrong) of the set that is kept once the item is let in."""
    kept, right = _kept(counts)
    risk = np.divide(kept - right, kept, out=np.zeros_like(kept), where=kept > 0)
    area: Floats = np.vecdot(counts.total, risk) / counts.size
    return area


def best_aurc(size: Floats, right: Floats) -> Floats:
    """(R,) AURC when every correct item is let in before every wrong one: (1/N) sum_{j=1..wrong} j / (right + j)."""
    harmonic = digamma(size + 1) - digamma(right + 1)
    return (size - right - right * harmonic) / size


def excess_aurc_of(counts: Tally) -> Floats:
    """(R,) AURC minus the best possible at this accuracy (E-AURC, Geifman and others 2019, exact for finite N)."""
    return aurc_of(counts) - best_aurc(counts.size, counts.correct)


def prr_of(counts: Tally) -> Floats:
    """(R,) prediction rejection ratio (random - AURC) / (random - best): 1 perfect, 0 random order; NaN for one class.

    Random order has the risk 1 - accuracy at every coverage.
    """
    risk = 1 - counts.accuracy
    room = risk - best_aurc(counts.size, counts.correct)
    ratio: Floats = np.divide(risk - aurc_of(counts), room, out=np.full(len(risk), np.nan), where=room > 1e-12)
    return ratio


def accuracy_at_of(counts: Tally, coverage: float) -> Floats:
    """(R,) accuracy of the smallest set of highest scores that covers at least ``coverage`` of the weight."""
    spare = (1 - coverage) * counts.size + 1e-9 * counts.size
    at = [np.searchsorted(row, room, "right") - 1 for row, room in zip(counts.below[:, :-1], spare, strict=True)]
    rows = np.arange(len(at))
    kept = counts.size - counts.below[rows, at]
    accuracy: Floats = (counts.correct - counts.right_below[rows, at]) / kept
    return accuracy


def _tally(score: ArrayLike, correct: ArrayLike) -> Tally | None:
    s, y = finite(score, "score"), verdicts(correct)
    return tally(s, y) if same_length(score=s, correct=y) else None


def aurc(score: ArrayLike, correct: ArrayLike) -> float:
    """Area under risk-coverage, lower is better; ``score`` (n,) finite, ``correct`` (n,) 0/1. NaN for no items."""
    counts = _tally(score, correct)
    return float("nan") if counts is None else float(aurc_of(counts)[0])


def excess_aurc(score: ArrayLike, correct: ArrayLike) -> float:
    """AURC above the best order's; 0 for a perfect order without ties. NaN for no items."""
    counts = _tally(score, correct)
    return float("nan") if counts is None else float(excess_aurc_of(counts)[0])


def prr(score: ArrayLike, correct: ArrayLike) -> float:
    """Prediction rejection ratio; see ``prr_of``. NaN for no items or one class."""
    counts = _tally(score, correct)
    return float("nan") if counts is None else float(prr_of(counts)[0])


def check_coverage(coverage: float) -> None:
    if not 0 < coverage <= 1:
        raise ConfigError(f"coverage must be above 0 and at most 1, got {coverage}")


def accuracy_at(score: ArrayLike, correct: ArrayLike, coverage: float) -> float:
    """Accuracy when at least ``coverage`` of the questions are answered, the most confident first. NaN for no items."""
    check_coverage(coverage)
    counts = _tally(score, correct)
    return float("nan") if counts is None else float(accuracy_at_of(counts, coverage)[0])


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """Answer when confidence >= ``threshold``: then ``coverage`` of the questions are answered at ``accuracy``.

    ``threshold`` None: no threshold reaches the target on these items, for the stated ``reason``."""

    threshold: float | None
    coverage: float
    accuracy: float | None
    reason: str = ""


def threshold_for(score: ArrayLike, correct: ArrayLike, accuracy: float) -> Threshold:
    """The lowest threshold whose kept set is at least ``accuracy`` correct, that is the largest coverage.

    It is an in-sample choice: a promise about new questions needs ``certify``.
    """
    if not 0 <= accuracy <= 1:
        raise ConfigError(f"target accuracy must be between 0 and 1, got {accuracy}")
    if (counts := _tally(score, correct)) is None:
        return Threshold(threshold=None, coverage=0.0, accuracy=None, reason="no items")
    kept, right = (part[0] for part in _kept(counts))
    reached = np.flatnonzero(right >= accuracy * kept * (1 - 1e-12))
    if len(reached) == 0:
        best = float((right / kept).max())
        reason = f"the most confident answers are {best:.1%} correct at best, below the target of {accuracy:.1%}"
        return Threshold(threshold=None, coverage=0.0, accuracy=None, reason=reason)
    at = reached[0]
    return Threshold(
        threshold=float(counts.score[at]),
        coverage=float(kept[at] / kept[0]),
        accuracy=float(right[at] / kept[at]),
    )
