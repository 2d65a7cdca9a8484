"""Intervals: the group bootstrap for everything, exact or analytic forms where they cover better on few items."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import betaincinv, expit, logit, ndtri

from elical_core.errors import ConfigError
from elical_core.metrics.tally import Floats

LEVEL = 0.95
_CELLS_AT_ONCE = 250_000
_MIN_DEFINED = 0.5


def check_resamples(resamples: int) -> None:
    if resamples < 0 or 0 < resamples < 40:
        raise ConfigError(f"resamples must be 0 (no intervals) or at least 40 for a 95% interval, got {resamples}")


def resample_counts(groups: int, resamples: int, seed: int) -> Iterator[Floats]:
    """How often each of ``groups`` groups is drawn in each resample, in (r, groups) pieces of row sum ``groups``.

    Pieces are cut by ``groups`` alone, so the same seed gives the same resamples.
    """
    rng = np.random.default_rng(seed)
    at_once = max(1, min(resamples, _CELLS_AT_ONCE // max(groups, 1)))
    for first in range(0, resamples, at_once):
        rows = min(at_once, resamples - first)
        drawn = rng.integers(0, groups, size=(rows, groups), dtype=np.int32)
        drawn += np.arange(0, rows * groups, groups, dtype=np.int32)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * groups).reshape(rows, groups).astype(np.float64)


def basic_interval(value: float, values: Floats, level: float = LEVEL) -> tuple[float, float] | None:
    """The percentile interval mirrored at ``value`` and cut at 0, for an error that resampling can only raise.

    |gap| grows when noise is added, so resampled values sit above ``value`` by about as much as ``value`` sits above
    the truth; mirroring takes the bias out instead of doubling it.
    """
    if (found := percentile_interval(values, level)) is None:
        return None
    return max(0.0, 2 * value - found[1]), max(0.0, 2 * value - found[0])


def percentile_interval(values: Floats, level: float = LEVEL) -> tuple[float, float] | None:
    """Central ``level`` range of (R,) resampled values. NaN (undefined) ones are dropped; None when over half are."""
    defined = values[np.isfinite(values)]
    if len(values) == 0 or len(defined) < _MIN_DEFINED * len(values):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def normal_quantile(level: float = LEVEL) -> float:
    """1.96 for 0.95."""
    return float(ndtri((1 + level) / 2))


def wilson(successes: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """Wilson score interval of a share; (0, 1) for n = 0."""
    if n <= 0:
        return 0.0, 1.0
    z2 = normal_quantile(level) ** 2
    share = successes / n
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return float(max(centre - half, 0.0)), float(min(centre + half, 1.0))


def clopper_pearson_upper(successes: int, n: int, alpha: float = 0.05) -> float:
    """Exact upper bound of a share that is exceeded with chance at most ``alpha``; 1 for n = 0 or all successes."""
    if n == 0 or successes >= n:
        return 1.0
    return float(betaincinv(successes + 1, n - successes, 1 - alpha))


def logit_interval(value: float, variance: float, level: float = LEVEL) -> tuple[float, float] | None:
    """Normal interval of a share-like value on the logit scale; None at 0, at 1 or without a positive variance."""
    if not (0 < value < 1 and variance > 0):
        return None
    half = normal_quantile(level) * np.sqrt(variance) / (value * (1 - value))
    return float(expit(logit(value) - half)), float(expit(logit(value) + half))


def newcombe_auroc(value: float, right: int, wrong: int, level: float = LEVEL) -> tuple[float, float]:
    """Score interval of an AUROC from its value and class sizes (Newcombe 2006, method 5; Hanley-McNeil variance).

    It is defined at 0 and 1, where the variance that the data show is zero.
    """
    z = normal_quantile(level)
    typical = (right + wrong) / 2 - 1

    def spread(theta: float) -> float:
        shape = 1 + typical * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        return float(z * np.sqrt(theta * (1 - theta) * shape / (right * wrong)))

    low = 0.0 if value <= 0 else float(brentq(lambda t: value - t - spread(t), 0.0, min(value, 1 - 1e-9)))
    high = 1.0 if value >= 1 else float(brentq(lambda t: t - value - spread(t), max(value, 1e-9), 1.0))
    return low, high


def sizes_of(group: NDArray[np.int64] | None, n: int) -> tuple[NDArray[np.int64], int]:
    """(n,) group numbers and their count; without groups every item is its own."""
    if group is None:
        return np.arange(n), n
    return group, int(group.max()) + 1 if n else 0
