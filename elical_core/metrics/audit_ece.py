"""ECE of the pool from labels: bin shares and mean scores are known, only the accuracies are estimated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from elical_core.metrics.audit import Audit
from elical_core.metrics.binning import BinSums
from elical_core.metrics.intervals import LEVEL
from elical_core.metrics.tally import Floats
from elical_core.selection.strata import confidence_bin

FEW_LABELS = 150
_REDRAWS = 1000
_MOST_STRETCH = 4.0
_HALVINGS = 11


@dataclass(frozen=True)
class EceEstimate:
    """``value`` as measured, ``low`` and ``high`` its interval."""

    value: float
    low: float
    high: float
    bins: int
    n: int


@dataclass(frozen=True)
class BinGaps:
    """(B,) ``share`` of the pool, ``gap`` mean score minus estimated accuracy, and the gap's ``variance``."""

    share: Floats
    gap: Floats
    variance: Floats


def bin_gaps(audit: Audit, score: Floats, bins: int | None = None) -> BinGaps:
    """Gaps in bins of equal pool share (5 below 150 labels, else 10; equal scores share one). At least one label.

    A bin without a label joins its lower neighbour. The variance of a bin's accuracy uses (r + .5) / (n + 1), so that a
    bin where all answers are wrong still has some.
    """
    wanted = bins or (5 if len(audit) < FEW_LABELS else 10)
    place = confidence_bin(score, wanted)
    labelled = np.unique(place[audit.rows])
    place = np.maximum(np.searchsorted(labelled, place, "right") - 1, 0)
    b = len(labelled)
    share = np.bincount(place, minlength=b) / len(score)
    stated = np.bincount(place, weights=score, minlength=b) / (share * len(score))
    at, w = place[audit.rows], audit.weight
    mass = np.bincount(at, weights=w, minlength=b)
    accuracy = np.bincount(at, weights=w * audit.correct, minlength=b) / mass
    effective = mass**2 / np.bincount(at, weights=w * w, minlength=b)
    smoothed = (accuracy * effective + 0.5) / (effective + 1)
    spread = np.bincount(at, weights=w * (audit.correct - accuracy[at]) ** 2, minlength=b) / mass
    hard = bool(np.isin(audit.correct, (0.0, 1.0)).all())
    variance = smoothed * (1 - smoothed) if hard else np.maximum(spread, 0.05 * smoothed * (1 - smoothed))
    return BinGaps(share, stated - accuracy, variance / effective)


def gaps_of(sums: BinSums) -> BinGaps:
    """Gaps of one weighting of 0/1 verdicts, bins as they are; empty bins are left out."""
    used = sums.total[0] > 0
    n, stated, right = (part[0][used] for part in (sums.total, sums.confidence, sums.right))
    smoothed = (right + 0.5) / (n + 1)
    return BinGaps(n / n.sum(), (stated - right) / n, smoothed * (1 - smoothed) / n)


def chi_square_interval(gaps: BinGaps, quantile: float) -> tuple[float, float]:
    """sum w|d| +- sqrt(quantile x sum w^2 v), floored at 0: safe and wide. ``quantile`` = chi-square of B at 95%."""
    value = float(gaps.share @ np.abs(gaps.gap))
    half = float(np.sqrt(quantile * (gaps.share**2 @ gaps.variance)))
    return max(0.0, value - half), value + half


def ece_interval(gaps: BinGaps, level: float = LEVEL, redraws: int = _REDRAWS) -> tuple[float, float]:
    """(low, high) by inverting a test: kept are the errors under which the measured one is not among the 2.5% extremes.

    Noise raises |gap|, so a symmetric interval sits too high near 0, and the chi-square one covers 99.7-100%. How much
    noise raises the sum depends on how the true gaps lie: most when one bin holds them all, least when they are spread.
    So the true gaps are taken to be t times a pattern, the ECE is redrawn as sum w |t pattern + noise|, and t is solved
    for two patterns: the significant gaps alone, and the measured gaps levelled towards each other by their noise. The
    interval reaches from the lower of the two low ends to the higher of the two high ends (coverage 93-98% over gaps
    that are none, equal, sloped, random, or in one or two bins, from 60 to 1,000 labels).
    """
    sd = np.sqrt(gaps.variance)
    noise = np.random.default_rng(0).standard_normal((redraws, len(sd))) * sd
    value = float(gaps.share @ np.abs(gaps.gap))
    clear = np.abs(gaps.gap) / sd
    alone = np.where((clear >= 2) | (clear == clear.max()), gaps.gap, 0.0)
    kept = max(0.0, 1 - float(gaps.share @ gaps.variance) / max(float(gaps.share @ gaps.gap**2), 1e-12))
    level_gap = np.where(gaps.gap < 0, -1, 1) * np.sqrt(kept * gaps.gap**2 + (1 - kept) * gaps.variance)
    ends = [_solved(pattern, noise, gaps.share, value, (1 - level) / 2) for pattern in (alone, level_gap)]
    return min(low for low, _ in ends), max(value, *(high for _, high in ends))


def _solved(pattern: Floats, noise: Floats, share: Floats, value: float, tail: float) -> tuple[float, float]:
    """The smallest and largest size of t x pattern under which ``value`` is within the central part of the redraws."""
    unit = float(share @ np.abs(pattern))

    def above(t: float) -> float:
        return float((np.abs(t * pattern + noise) @ share >= value).mean())

    def below(t: float) -> float:
        return float((np.abs(t * pattern + noise) @ share <= value).mean())

    low = 0.0 if above(0.0) >= tail else _turn(lambda t: above(t) >= tail)
    high = 0.0 if below(0.0) < tail else _turn(lambda t: below(t) < tail)
    return low * unit, high * unit


def _turn(reached: Callable[[float], bool]) -> float:
    """Where ``reached`` turns true between 0 and ``_MOST_STRETCH``, by halving."""
    low, high = 0.0, _MOST_STRETCH
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return (low + high) / 2


def ece_of(audit: Audit, score: Floats, bins: int | None = None, level: float = LEVEL) -> EceEstimate:
    """ECE of the pool with its interval. ``score`` (N,) in [0, 1]. At least one label."""
    gaps = bin_gaps(audit, score, bins)
    low, high = ece_interval(gaps, level, max(_REDRAWS, round(10 / (1 - level))))
    return EceEstimate(float(gaps.share @ np.abs(gaps.gap)), low, min(high, 1.0), len(gaps.share), len(audit))
