"""Alignment: how often "I know" (confidence >= t) and being correct are the same thing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elical_core.errors import ConfigError, InputError
from elical_core.metrics.checks import finite, same_length, verdicts
from elical_core.metrics.tally import Floats, tally

FOLDS = 5
PAPER_GRID = 101
PAPER_THRESHOLD_SHARE = 0.2


def agrees(score: Floats, correct: Floats, threshold: float) -> Floats:
    """(n,) 1 where (score >= threshold) equals the verdict, else 0."""
    same: Floats = ((score >= threshold) == (correct == 1)).astype(np.float64)
    return same


def alignment(score: ArrayLike, correct: ArrayLike, threshold: float) -> float:
    """Share of items where (score >= threshold) equals the verdict. NaN for no items.

    ``score`` (n,) finite; ``correct`` (n,) 0/1. The threshold must come from other items: see ``best_threshold``.
    """
    s, y = finite(score, "score"), verdicts(correct)
    return float(agrees(s, y, threshold).mean()) if same_length(score=s, correct=y) else float("nan")


def majority_baseline(correct: ArrayLike) -> float:
    """Alignment of always saying the commoner class: max(accuracy, 1 - accuracy). NaN for no items."""
    y = verdicts(correct)
    return float(max(y.mean(), 1 - y.mean())) if len(y) else float("nan")


def best_threshold(score: ArrayLike, correct: ArrayLike) -> float:
    """The threshold with the highest alignment on these items, of midpoints and both infinities; the lowest of equals.

    Raises InputError for no items.
    """
    s, y = finite(score, "score"), verdicts(correct)
    if same_length(score=s, correct=y) == 0:
        raise InputError("no items to choose a threshold on; label some first")
    counts = tally(s, y)
    right, wrong = counts.right[0], counts.total[0] - counts.right[0]
    agreeing = np.r_[0.0, np.cumsum(wrong)] + np.r_[np.cumsum(right[::-1])[::-1], 0.0]
    middles = counts.score[:-1] + (counts.score[1:] - counts.score[:-1]) / 2
    middles = np.where(middles > counts.score[:-1], middles, counts.score[1:])
    candidates = np.r_[-np.inf, middles, np.inf]
    return float(candidates[agreeing.argmax()])


def cross_fitted(score: Floats, correct: Floats, group: NDArray[np.int64] | None = None) -> Floats:
    """(n,) 0/1 agreement of each item under a threshold chosen without its fold (5 folds, whole groups).

    Folds go round robin over items sorted by (score, verdict), or over sorted groups, so row order does not matter.
    Fewer than two items or groups: all NaN, because no threshold can be chosen without the item.
    """
    place = np.empty(len(score), dtype=np.int64)
    place[np.lexsort((correct, score))] = np.arange(len(score))
    unit = place if group is None else group
    agreed = np.full(len(score), np.nan)
    for fold in range(FOLDS):
        inside = unit % FOLDS == fold
        if inside.any() and not inside.all():
            agreed[inside] = agrees(score[inside], correct[inside], best_threshold(score[~inside], correct[~inside]))
    return agreed


@dataclass(frozen=True, kw_only=True)
class PaperAlignment:
    """``alignment`` on the 80%, at the ``threshold`` that was best on the 20%."""

    alignment: float
    threshold: float
    threshold_items: int
    test_items: int


def paper_alignment(score: ArrayLike, correct: ArrayLike, seed: int = 0) -> PaperAlignment:
    """The paper's protocol: a random 20% chooses among thresholds 0, .01, ..., 1 (the first best), the rest is judged.

    ``score`` (n,), n >= 5. For comparison with printed numbers only: a grid misses thresholds between its points.
    """
    s, y = finite(score, "score"), verdicts(correct)
    if (n := same_length(score=s, correct=y)) < 5:
        raise ConfigError(f"the 20/80 split needs at least 5 items, got {n}")
    order = np.lexsort((y, s))[np.random.default_rng(seed).permutation(n)]
    chosen, judged = np.split(order, [max(1, round(PAPER_THRESHOLD_SHARE * n))])
    grid = np.linspace(0, 1, PAPER_GRID)
    threshold = float(grid[np.argmax([agrees(s[chosen], y[chosen], t).mean() for t in grid])])
    value = float(agrees(s[judged], y[judged], threshold).mean())
    return PaperAlignment(alignment=value, threshold=threshold, threshold_items=len(chosen), test_items=len(judged))
