"""Calibration error by bins, what part of it is noise, and the signed gap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from elical_core.metrics.binning import BinSums, between, check_bins, mass_sums, width_bin, width_starts, width_sums
from elical_core.metrics.brier import squared_distance
from elical_core.metrics.checks import probabilities, same_length, verdicts
from elical_core.metrics.tally import Floats, Tally, running, tally

MCE_MIN_ITEMS = 20


def ece_of(sums: BinSums) -> Floats:
    """(R,) weight-averaged |mean confidence - accuracy|."""
    error: Floats = np.abs(sums.confidence - sums.right).sum(axis=1) / sums.total.sum(axis=1)
    return error


def mce_of(sums: BinSums, min_items: int = MCE_MIN_ITEMS) -> Floats:
    """(R,) largest |gap| among bins with at least ``min_items``; NaN when no bin has that many."""
    gap = np.where(sums.total >= min_items, np.abs(sums.gap), -1.0).max(axis=1)
    largest: Floats = np.where(gap < 0, np.nan, gap)
    return largest


def debiased_of(counts: Tally, bins: int) -> Floats:
    """(R,) squared calibration error sum w_b (d_b^2 - v_b); negative values are noise below zero, and stay.

    d_b is the bin's gap and v_b the variance of that mean, from the spread of (confidence - verdict) in the bin, so the
    expectation over samples is sum w_b gap_b^2. A bin of one item tells nothing about its own noise and adds 0.
    """
    sums = width_sums(counts, bins)
    second = between(running(squared_distance(counts)), width_starts(counts, bins))
    several = sums.total > 1
    scale = np.where(several, sums.total * (sums.total - 1), 1.0)
    variance = np.maximum(second - sums.total * sums.gap**2, 0) / scale
    parts = np.where(several, sums.total * (sums.gap**2 - variance), 0.0)
    error: Floats = parts.sum(axis=1) / sums.total.sum(axis=1)
    return error


def signed_gap_of(counts: Tally) -> Floats:
    """(R,) mean confidence minus accuracy: above 0 is overconfident."""
    return (counts.stated_below[:, -1] - counts.correct) / counts.size


def _tally(confidence: ArrayLike, correct: ArrayLike) -> Tally | None:
    c, y = probabilities(confidence), verdicts(correct)
    return tally(c, y) if same_length(confidence=c, correct=y) else None


def ece(confidence: ArrayLike, correct: ArrayLike, bins: int = 10, *, mass: bool = False) -> float:
    """Expected calibration error in [0, 1] over ``bins`` bins of equal width (or mass). NaN for no items.

    ``confidence`` (n,) in [0, 1]; ``correct`` (n,) 0/1. Every item is in exactly one bin.
    """
    check_bins(bins)
    if (counts := _tally(confidence, correct)) is None:
        return float("nan")
    return float(ece_of((mass_sums if mass else width_sums)(counts, bins))[0])


def debiased_squared_error(confidence: ArrayLike, correct: ArrayLike, bins: int = 10) -> float:
    """Debiased squared calibration error, may be negative; see ``debiased_of``. NaN for no items."""
    check_bins(bins)
    counts = _tally(confidence, correct)
    return float("nan") if counts is None else float(debiased_of(counts, bins)[0])


def mce(confidence: ArrayLike, correct: ArrayLike, bins: int = 10, min_items: int = MCE_MIN_ITEMS) -> float:
    """Largest gap of a width bin that holds ``min_items`` or more; NaN when none does."""
    check_bins(bins)
    counts = _tally(confidence, correct)
    return float("nan") if counts is None else float(mce_of(width_sums(counts, bins), min_items)[0])


def signed_gap(confidence: ArrayLike, correct: ArrayLike) -> float:
    """Mean confidence minus accuracy, in [-1, 1]. NaN for no items."""
    counts = _tally(confidence, correct)
    return float("nan") if counts is None else float(signed_gap_of(counts)[0])


@dataclass(frozen=True, kw_only=True)
class NoiseFloor:
    """The ECE that a perfectly calibrated model would show on as many items: ``mean`` and ``p95`` over redraws.

    Both are NaN for no items."""

    mean: float
    p95: float
    bins: int
    redraws: int


def noise_floor(confidence: ArrayLike, bins: int = 10, *, redraws: int = 1000, seed: int = 0) -> NoiseFloor:
    """Redraws each verdict from its own confidence and takes the width-binned ECE. Same for any row order.

    ``confidence`` (n,) in [0, 1].
    """
    c = np.sort(probabilities(confidence))
    check_bins(bins)
    if len(c) == 0:
        return NoiseFloor(mean=float("nan"), p95=float("nan"), bins=bins, redraws=0)
    rng = np.random.default_rng(seed)
    start = np.searchsorted(width_bin(c, bins), np.arange(bins), "left")
    used = np.unique(start[start < len(c)])
    stated = np.add.reduceat(c, used)
    values = np.empty(redraws)
    at_once = max(1, 2_000_000 // len(c))
    for first in range(0, redraws, at_once):
        y = rng.random((min(at_once, redraws - first), len(c)), dtype=np.float32) < c
        right = np.add.reduceat(y, used, axis=1, dtype=np.int64)
        values[first : first + len(y)] = np.abs(stated - right).sum(axis=1) / len(c)
    return NoiseFloor(mean=float(values.mean()), p95=float(np.quantile(values, 0.95)), bins=bins, redraws=redraws)
