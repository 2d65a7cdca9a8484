"""AUROC: the chance that a correct answer has a higher confidence than a wrong one, ties counting half."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from elical_core.metrics.checks import finite, same_length, verdicts
from elical_core.metrics.tally import Floats, Tally, tally

ONE_CLASS = "undefined: only one class (every answer is {word}); it needs correct and wrong answers"


def one_class_reason(correct: Floats) -> str:
    """Why a ranking metric is undefined for (n,) verdicts, or an empty string when it is defined."""
    if len(correct) == 0:
        return "undefined: no items"
    if correct.min() == correct.max():
        return ONE_CLASS.format(word="correct" if correct[0] == 1 else "wrong")
    return ""


def auroc_of(counts: Tally) -> Floats:
    """(R,) AUROC by midranks; NaN where a weighting holds one class only."""
    wrong = counts.below - counts.right_below
    pairs = counts.correct * (counts.size - counts.correct)
    won = np.vecdot(counts.right, wrong[:, :-1] + wrong[:, 1:]) / 2
    area: Floats = np.divide(won, pairs, out=np.full(len(pairs), np.nan), where=pairs > 0)
    return area


def auroc(score: ArrayLike, correct: ArrayLike) -> float:
    """``score`` (n,) finite, higher = more confident; ``correct`` (n,) 0/1. NaN for no items or one class."""
    s, y = finite(score, "score"), verdicts(correct)
    if same_length(score=s, correct=y) == 0:
        return float("nan")
    return float(auroc_of(tally(s, y))[0])


def delong_variance(score: Floats, correct: Floats) -> float:
    """Variance of the AUROC by DeLong (1988), from each item's share of won pairs, by sorting.

    ``score`` (n,), ``correct`` (n,) 0/1. NaN with fewer than two of a class.
    """
    right, wrong = np.sort(score[correct == 1]), np.sort(score[correct == 0])
    if min(len(right), len(wrong)) < 2:
        return float("nan")
    won = (np.searchsorted(wrong, right, "left") + np.searchsorted(wrong, right, "right")) / (2 * len(wrong))
    lost = 1 - (np.searchsorted(right, wrong, "left") + np.searchsorted(right, wrong, "right")) / (2 * len(right))
    return float(np.var(won, ddof=1) / len(right) + np.var(lost, ddof=1) / len(wrong))
