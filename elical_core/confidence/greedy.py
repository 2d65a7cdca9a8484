"""The head learns from sampled answers and is judged on the greedy one: the second intercept between the two.

Sampled answers are right less often than the greedy answer, so a model that fits them is too low for the answer that a
user is shown. One number, added to every logit, mends the level without touching the order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MIN_VERDICTS = 30
PRIOR_SCALE = 2.5  # standard deviation of the shift; keeps it finite when all verdicts agree
NEWTON_STEPS = 25


def greedy_shift(logits: NDArray[np.float64], correct: NDArray[np.float64]) -> float:
    """The shift b that maximises sum[y log p + (1-y) log(1-p)] - b^2 / (2 * 2.5^2), p = sigmoid(logit + b), by Newton.

    ``logits`` (n,) finite, ``correct`` (n,) 0/1 of the greedy answers, row-aligned. 0 with fewer than ``MIN_VERDICTS``.
    """
    if len(logits) < MIN_VERDICTS:
        return 0.0
    shift = 0.0
    for _ in range(NEWTON_STEPS):
        p = 1 / (1 + np.exp(-np.clip(logits + shift, -50, 50)))
        slope = float((correct - p).sum()) - shift / PRIOR_SCALE**2
        bend = float((p * (1 - p)).sum()) + 1 / PRIOR_SCALE**2
        shift += float(np.clip(slope / bend, -1, 1))
    return shift
