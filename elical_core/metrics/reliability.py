"""The reliability diagram as numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from elical_core.metrics.binning import check_bins, width_bin
from elical_core.metrics.checks import probabilities, same_length, verdicts
from elical_core.metrics.intervals import wilson


@dataclass(frozen=True, kw_only=True)
class ReliabilityBin:
    """Items with confidence from ``left`` to ``right``. The last four are None in an empty bin.

    ``low`` and ``high``: 95% Wilson interval of the accuracy."""

    left: float
    right: float
    count: int
    confidence: float | None
    accuracy: float | None
    low: float | None
    high: float | None


def reliability(confidence: ArrayLike, correct: ArrayLike, bins: int = 10) -> list[ReliabilityBin]:
    """``bins`` width bins in ascending order, whose counts sum to n. ``confidence`` (n,) in [0, 1]; ``correct`` 0/1."""
    check_bins(bins)
    c, y = probabilities(confidence), verdicts(correct)
    same_length(confidence=c, correct=y)
    order = np.lexsort((y, c))
    place = width_bin(c[order], bins)
    count, stated, right = (
        np.bincount(place, weights=part, minlength=bins) for part in (np.ones(len(c)), c[order], y[order])
    )
    drawn = []
    for b in range(bins):
        n = int(count[b])
        low, high = wilson(right[b], n) if n else (None, None)
        drawn.append(
            ReliabilityBin(
                left=b / bins,
                right=(b + 1) / bins,
                count=n,
                confidence=float(stated[b] / n) if n else None,
                accuracy=float(right[b] / n) if n else None,
                low=low,
                high=high,
            )
        )
    return drawn
