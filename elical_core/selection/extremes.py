"""Selectors that take the extremes of a score. Useful to find errors, misleading as a sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elical_core.selection.base import Draw, Pool
from elical_core.selection.checks import check_pool
from elical_core.selection.drawing import check_groups, one_per_group


def draw_top(pool: Pool, score: NDArray[np.float64], n: int, rng: np.random.Generator, why: str) -> Draw:
    """The ``n`` highest of ``score`` (N,), one per group; equal scores have equal chances. ``why`` stands by each."""
    rows, member = one_per_group(pool.group, rng)
    check_groups(len(rows), n, len(pool))
    value = score[rows]
    order = np.lexsort((rng.random(len(rows)), -value))[:n]
    chance = np.ones(n)
    if n:
        edge = value[order[-1]]
        chance[value[order] == edge] = (value[order] == edge).sum() / (value == edge).sum()
    index = rows[order]
    return Draw(index=index, probability=member[order] * chance, reason=(why,) * n, representative=False)


@dataclass(frozen=True)
class UncertaintySelector:
    """Confidences nearest to 50%. Ranking only, hurts calibration: worse Brier than random in every simulated cell."""

    name: str = "uncertainty"

    def draw(self, pool: Pool, n: int, rng: np.random.Generator) -> Draw:
        check_pool(pool, n)
        return draw_top(pool, -np.abs(pool.confidence - 0.5), n, rng, "nearest to 50%")


@dataclass(frozen=True)
class ConflictSelector:
    """Confident but inconsistent: highest confidence x (1 - consistency). Questions without a consistency come last."""

    name: str = "conflict"

    def draw(self, pool: Pool, n: int, rng: np.random.Generator) -> Draw:
        check_pool(pool, n)
        conflict = pool.confidence * (1 - pool.consistency)
        return draw_top(pool, np.where(np.isnan(conflict), -1.0, conflict), n, rng, "confident but inconsistent")
