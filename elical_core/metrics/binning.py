"""Bins of confidence: equal width or equal mass, and the sums in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elical_core.errors import ConfigError
from elical_core.metrics.tally import Floats, Tally


@dataclass(frozen=True)
class BinSums:
    """(R, bins) arrays: weight, summed confidence and weight of correct items in each bin; empty bins hold zeros."""

    total: Floats
    confidence: Floats
    right: Floats

    @property
    def gap(self) -> Floats:
        """(R, bins) mean confidence minus accuracy; 0 in empty bins."""
        difference = self.confidence - self.right
        return np.divide(difference, self.total, out=np.zeros_like(difference), where=self.total > 0)


def check_bins(bins: int) -> None:
    if bins < 1:
        raise ConfigError(f"bins must be at least 1, got {bins}")


def width_bin(confidence: Floats, bins: int) -> NDArray[np.int64]:
    """(n,) bin numbers min(floor(c * bins + 1e-9), bins - 1): both 0.0 and 1.0 have a bin, and .3 of 10 is bin 3."""
    check_bins(bins)
    return np.minimum(np.floor(confidence * bins + 1e-9).astype(np.int64), bins - 1)


def between(running: Floats, first: NDArray[np.intp]) -> Floats:
    """(R, bins) sums from (R, U + 1) running sums and (R or 1, bins + 1) bin starts."""
    return np.diff(np.take_along_axis(running, np.broadcast_to(first, (len(running), first.shape[1])), axis=1), axis=1)


def _sums(counts: Tally, first: NDArray[np.intp]) -> BinSums:
    """``first`` (R, bins + 1): where each bin begins among the distinct scores, the last entry being U."""

    return BinSums(*(between(part, first) for part in (counts.below, counts.stated_below, counts.right_below)))


def width_starts(counts: Tally, bins: int) -> NDArray[np.intp]:
    """(1, bins + 1) where each width bin begins among the distinct scores."""
    return np.searchsorted(width_bin(counts.score, bins), np.arange(bins + 1), "left")[None, :]


def width_sums(counts: Tally, bins: int) -> BinSums:
    """Sums over ``bins`` bins of equal width."""
    return _sums(counts, width_starts(counts, bins))


def mass_sums(counts: Tally, bins: int) -> BinSums:
    """Sums over at most ``bins`` bins of nearly equal weight; equal scores are never split.

    A score goes to bin floor(bins * share of the weight strictly below it), so a large tie swallows the bins it covers.
    """
    check_bins(bins)
    below = counts.below[:, :-1]
    edges = np.arange(bins + 1) / bins
    first = np.empty((len(below), bins + 1), dtype=np.intp)
    for row, (ahead, size) in enumerate(zip(below, counts.size, strict=True)):
        first[row] = np.searchsorted(ahead, edges * size - 1e-9 * size, "left")
    first[:, -1] = len(counts.score)
    return _sums(counts, first)
