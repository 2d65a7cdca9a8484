"""Confidence against shares of correct samples (soft targets)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from elical_core.errors import ConfigError
from elical_core.metrics.checks import finite, probabilities, same_length
from elical_core.metrics.tally import Floats


def soft_mse(confidence: ArrayLike, share: ArrayLike) -> float:
    """Mean (c - a)^2 of ``confidence`` (n,) and ``share`` (n,), both in [0, 1]. NaN for no items."""
    c, a = probabilities(confidence), probabilities(share, "share")
    return float(np.mean((c - a) ** 2)) if same_length(confidence=c, share=a) else float("nan")


def soft_floor(share: ArrayLike, k: int) -> float:
    """The soft MSE that remains if the confidence knew every question's true share: mean a (1 - a) / k.

    ``share`` (n,) are observed shares of ``k`` samples, whose a (1 - a) is too small by (k - 1) / k on average; it is
    therefore divided by k - 1, which makes the floor unbiased. NaN for no items.
    """
    if k < 2:
        raise ConfigError(f"k must be at least 2 samples to know their noise, got {k}")
    a = probabilities(share, "share")
    return float(np.mean(a * (1 - a)) / (k - 1)) if len(a) else float("nan")


def weighted_ranks(values: Floats, weight: Floats) -> Floats:
    """(R, n) midranks of (n,) ``values`` when item i is repeated ``weight[r, i]`` times."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    start = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    total = np.add.reduceat(weight[:, order], start, axis=1)
    middle = np.cumsum(total, axis=1) - (total - 1) / 2
    ranks = np.empty_like(weight)
    ranks[:, order] = np.repeat(middle, np.diff(np.r_[start, len(values)]), axis=1)
    return ranks


def weighted_correlation(a: Floats, b: Floats, weight: Floats) -> Floats:
    """(R,) Pearson correlation of (R, n) columns under (R, n) weights; NaN where one of them is constant."""
    size = weight.sum(axis=1, keepdims=True)
    a = a - (weight * a).sum(axis=1, keepdims=True) / size
    b = b - (weight * b).sum(axis=1, keepdims=True) / size
    spread = np.sqrt((weight * a * a).sum(axis=1) * (weight * b * b).sum(axis=1))
    moment = (weight * a * b).sum(axis=1)
    correlation: Floats = np.divide(moment, spread, out=np.full(len(spread), np.nan), where=spread > 1e-12)
    return correlation


def spearman(score: ArrayLike, share: ArrayLike) -> float:
    """Rank correlation of ``score`` (n,) with ``share`` (n,), midranks for ties. NaN when one of them is constant."""
    s, a = finite(score, "score"), finite(share, "share")
    if same_length(score=s, share=a) < 2 or s.min() == s.max() or a.min() == a.max():
        return float("nan")
    once = np.ones((1, len(s)))
    return float(weighted_correlation(weighted_ranks(s, once), weighted_ranks(a, once), once)[0])
