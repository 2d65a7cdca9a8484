"""Counts per distinct score: all that any metric of 0/1 verdicts needs, for one weighting of the items or for many.

Sorting happens once. A bootstrap resample is a weight per item, so the metric of 2,000 resamples is the same function
of an array with one row per resample. Running sums are made once and shared by every metric.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Tally:
    """``score`` (U,) distinct, ascending; ``total`` and ``right`` (R, U): weight of all and of the correct items there.

    R is the number of weightings. Weights are >= 0 and usually counts; every row of ``total`` has a positive sum.
    """

    score: Floats
    total: Floats
    right: Floats

    @cached_property
    def below(self) -> Floats:
        """(R, U + 1) weight of all items in the first u scores."""
        return running(self.total)

    @cached_property
    def right_below(self) -> Floats:
        """(R, U + 1) weight of the correct items in the first u scores."""
        return running(self.right)

    @cached_property
    def stated_below(self) -> Floats:
        """(R, U + 1) weighted sum of the first u scores."""
        return running(self.total * self.score)

    @property
    def size(self) -> Floats:
        """(R,) total weight."""
        return self.below[:, -1]

    @property
    def correct(self) -> Floats:
        """(R,) weight of the correct items."""
        return self.right_below[:, -1]

    @property
    def accuracy(self) -> Floats:
        """(R,) weighted share of correct items."""
        return self.correct / self.size


def running(part: Floats) -> Floats:
    """(R, U + 1) running sums of (R, U), starting at 0."""
    sums = np.zeros((len(part), part.shape[1] + 1))
    np.cumsum(part, axis=1, out=sums[:, 1:])
    return sums


class Ranked:
    """Items sorted by (score, verdict), ready to be tallied under any weights.

    ``score`` (N,) finite; ``correct`` (N,) in [0, 1]. ``order`` (N,) are the input rows in sorted order; weights are
    given in that order. Equal rows are interchangeable, so nothing computed from here depends on the input's row order.
    """

    def __init__(self, score: Floats, correct: Floats, tie: NDArray[np.int64] | None = None) -> None:
        keys = (correct, score) if tie is None else (tie, correct, score)
        self.order: NDArray[np.intp] = np.lexsort(keys)
        self.score = score[self.order]
        self.correct = correct[self.order]
        self.start: NDArray[np.intp] = np.flatnonzero(np.r_[True, self.score[1:] != self.score[:-1]][: len(score)])
        self._distinct = len(self.start) == len(score)

    def __len__(self) -> int:
        return len(self.score)

    def tally(self, weight: Floats | None = None) -> Tally:
        """``weight`` (N,) or (R, N) in sorted order; None weighs each item once. At least one item."""
        total = np.ones((1, len(self))) if weight is None else np.atleast_2d(weight)
        right = total * self.correct
        if not self._distinct:
            total, right = (np.add.reduceat(part, self.start, axis=1) for part in (total, right))
        return Tally(self.score[self.start], total, right)


def tally(score: Floats, correct: Floats, weight: Floats | None = None) -> Tally:
    """Tally of row-aligned (N,) arrays under one weighting, or under one of 1 each."""
    ranked = Ranked(score, correct)
    return ranked.tally(None if weight is None else weight[ranked.order])
