"""Brier score, its parts, its skill; and the log score beside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from elical_core.metrics.binning import check_bins, width_sums
from elical_core.metrics.checks import probabilities, same_length, verdicts
from elical_core.metrics.tally import Floats, Tally, tally

NLL_CLIP = 1e-6


@dataclass(frozen=True)
class BrierParts:
    """Brier = reliability - resolution + uncertainty + within. Arrays (R,) or floats.

    Murphy's three parts over width bins, plus what the spread of confidences inside a bin adds (Stephenson and others,
    2008), so that the sum is exact.
    """

    reliability: Floats
    resolution: Floats
    uncertainty: Floats
    within: Floats


def squared_distance(counts: Tally) -> Floats:
    """(R, U) weighted sum of (c - y)^2 at each distinct score."""
    distance: Floats = counts.total * counts.score**2 + counts.right * (1 - 2 * counts.score)
    return distance


def brier_of(counts: Tally) -> Floats:
    """(R,) mean (c - y)^2 of 0/1 verdicts."""
    score: Floats = squared_distance(counts).sum(axis=1) / counts.size
    return score


def skill_of(counts: Tally) -> Floats:
    """(R,) 1 - Brier / (p (1 - p)): 0 = no better than the base rate; NaN for one class."""
    base = counts.accuracy * (1 - counts.accuracy)
    skill: Floats = 1 - np.divide(brier_of(counts), base, out=np.full(len(base), np.nan), where=base > 0)
    return skill


def parts_of(counts: Tally, bins: int = 10) -> BrierParts:
    sums = width_sums(counts, bins)
    n = counts.size
    accuracy = np.divide(sums.right, sums.total, out=np.zeros_like(sums.right), where=sums.total > 0)
    reliability = (sums.total * sums.gap**2).sum(axis=1) / n
    resolution = (sums.total * (accuracy - counts.accuracy[:, None]) ** 2).sum(axis=1) / n
    uncertainty = counts.accuracy * (1 - counts.accuracy)
    within = brier_of(counts) - (reliability - resolution + uncertainty)
    return BrierParts(reliability, resolution, uncertainty, within)


def nll_of(counts: Tally) -> Floats:
    """(R,) mean -log of the probability given to what happened, confidences clipped to [1e-6, 1 - 1e-6]."""
    c = np.clip(counts.score, NLL_CLIP, 1 - NLL_CLIP)
    likelihood = np.vecdot(counts.right, np.log(c) - np.log1p(-c)) + np.vecdot(counts.total, np.log1p(-c))
    score: Floats = -likelihood / counts.size
    return score


def clipped(confidence: Floats) -> int:
    """How many of (n,) confidences the log score has to clip."""
    return int(((confidence < NLL_CLIP) | (confidence > 1 - NLL_CLIP)).sum())


def _tally(confidence: ArrayLike, correct: ArrayLike) -> Tally | None:
    c, y = probabilities(confidence), verdicts(correct)
    return tally(c, y) if same_length(confidence=c, correct=y) else None


def brier(confidence: ArrayLike, correct: ArrayLike) -> float:
    """Mean squared distance of ``confidence`` (n,) in [0, 1] to ``correct`` (n,) 0/1. NaN for no items."""
    counts = _tally(confidence, correct)
    return float("nan") if counts is None else float(brier_of(counts)[0])


def brier_skill(confidence: ArrayLike, correct: ArrayLike) -> float:
    """1 - Brier / (p (1 - p)), p the accuracy; below 0 is worse than always saying p. NaN for no items or one class."""
    counts = _tally(confidence, correct)
    return float("nan") if counts is None else float(skill_of(counts)[0])


def brier_parts(confidence: ArrayLike, correct: ArrayLike, bins: int = 10) -> BrierParts:
    """The parts over ``bins`` width bins as arrays of one number each; NaN for no items."""
    check_bins(bins)
    if (counts := _tally(confidence, correct)) is None:
        return BrierParts(*(np.full(1, np.nan) for _ in range(4)))
    return parts_of(counts, bins)


def nll(confidence: ArrayLike, correct: ArrayLike) -> float:
    """Mean negative log likelihood in nats, confidences clipped at 1e-6. NaN for no items."""
    counts = _tally(confidence, correct)
    return float("nan") if counts is None else float(nll_of(counts)[0])
