"""What every selector asks of a pool, in one place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elical_core.errors import ConfigError, InputError, PoolTooSmall
from elical_core.selection.base import Pool

MAX_SQUARE_BYTES = 2**30


def check_pool(pool: Pool, n: int) -> None:
    """Raises InputError for columns of different lengths or numbers that are not finite, ConfigError for n < 0, and
    PoolTooSmall when ``n > len(pool)``. ``consistency`` may be NaN."""
    size = len(pool)
    for name in ("embedding", "group", "consistency"):
        if len(getattr(pool, name)) != size:
            raise InputError(f"pool.{name} has {len(getattr(pool, name))} rows for {size} questions; align them")
    if (bad := np.flatnonzero(~((pool.confidence >= 0) & (pool.confidence <= 1)))).size:
        raise InputError(
            f"confidence is {pool.confidence[bad[0]]} in {bad.size} rows of the pool, the first is row {bad[0]} "
            "(counted from 0); it must lie between 0 and 1: score these questions first or leave them out"
        )
    for name in ("features", "stage1_logit"):
        column = getattr(pool, name)
        if column is not None and len(column) != size:
            raise InputError(f"pool.{name} has {len(column)} rows for {size} questions; align them")
    if pool.features is not None and size:
        check_finite(pool.features, "features")
    if pool.stage1_logit is not None and not np.isfinite(pool.stage1_logit).all():
        raise InputError("stage1_logit holds numbers that are not finite; clip confidences away from 0 and 1 first")
    if n < 0:
        raise ConfigError(f"the number of questions to draw must not be negative, got {n}")
    if n > size:
        raise PoolTooSmall(f"asked for {n} questions but {size} are unlabelled; lower the number or import more")


def check_finite(rows: NDArray[np.float32], what: str) -> None:
    """Raises InputError naming the first row of (N, d) that holds NaN or infinity."""
    good = np.isfinite(rows.sum(axis=1, dtype=np.float64))
    if not good.all():
        raise InputError(
            f"{what} holds numbers that are not finite in {(~good).sum()} rows, the first is row {good.argmin()} "
            "(counted from 0); compute them again"
        )


def refuse_square(n: int, what: str, limit: int = MAX_SQUARE_BYTES) -> None:
    """Raises ConfigError before an array of n x n float64 would be made that needs more than ``limit`` bytes."""
    if (size := 8 * n * n) > limit:
        raise ConfigError(
            f"{what} of {n:,} x {n:,} would need {size / 2**30:,.1f} GiB, over the limit of {limit / 2**30:g} GiB; "
            "use a method that works in blocks"
        )
