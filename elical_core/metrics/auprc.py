"""Area under the precision-recall curve over distinct scores, for finding correct answers or for finding wrong ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from elical_core.metrics.checks import finite, same_length, verdicts
from elical_core.metrics.tally import Floats, Tally, tally


def auprc_of(counts: Tally, *, wrong: bool = False) -> Floats:
    """(R,) sum of recall steps x precision, one step per distinct score (average precision); NaN without the class.

    ``wrong=False``: correct answers, found from the highest score down. ``wrong=True``: wrong ones, from the lowest up.
    """
    if wrong:
        taken, hit = counts.below[:, 1:], counts.total - counts.right
        found, every = taken - counts.right_below[:, 1:], counts.size - counts.correct
    else:
        taken, hit = counts.size[:, None] - counts.below[:, :-1], counts.right
        found, every = counts.correct[:, None] - counts.right_below[:, :-1], counts.correct
    precision = np.divide(found, taken, out=np.zeros_like(found), where=taken > 0)
    area = np.vecdot(hit, precision)
    share: Floats = np.divide(area, every, out=np.full(len(area), np.nan), where=every > 0)
    return share


def auprc(score: ArrayLike, correct: ArrayLike, *, wrong: bool = False) -> float:
    """``score`` (n,) finite, higher = more confident; ``correct`` (n,) 0/1. NaN when nothing of the class is there."""
    s, y = finite(score, "score"), verdicts(correct)
    if same_length(score=s, correct=y) == 0:
        return float("nan")
    return float(auprc_of(tally(s, y), wrong=wrong)[0])
