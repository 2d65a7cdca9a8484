"""Selectors that spread over the features: k-center and soft BADGE. Both work on a random block of a large pool."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elical_core.selection.base import Draw, Pool
from elical_core.selection.checks import check_finite, check_pool
from elical_core.selection.drawing import check_groups, one_per_group

BLOCK = 10_000


def block_of(pool: Pool, n: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Candidates, one per group, at most max(10,000, 2 n) of them at random, and the chance each had to be one."""
    check_pool(pool, n)
    rows, member = one_per_group(pool.group, rng)
    check_groups(len(rows), n, len(pool))
    size = min(len(rows), max(BLOCK, 2 * n))
    kept = rng.permutation(len(rows))[:size]
    return rows[kept], member[kept] * size / max(len(rows), 1)


def space_of(pool: Pool) -> NDArray[np.float32]:
    """The features when there are some, else the embedding; a column of confidence when both are empty."""
    space = pool.embedding if pool.features is None else pool.features
    if space.shape[1] == 0:
        return pool.confidence[:, None].astype(np.float32)
    if len(space):
        check_finite(space, "embedding")
    return space


def _squared(points: NDArray[np.float32], centre: NDArray[np.float32]) -> NDArray[np.float64]:
    squared: NDArray[np.float64] = np.square(points - centre).sum(axis=1, dtype=np.float64)
    return squared


@dataclass(frozen=True)
class KCenterSelector:
    """Always the question farthest from all that are labelled or picked (greedy k-center); the first is random."""

    name: str = "k-center"

    def draw(self, pool: Pool, n: int, rng: np.random.Generator) -> Draw:
        rows, chance = block_of(pool, n, rng)
        space = space_of(pool)
        points = space[rows]
        distance = np.full(len(rows), np.inf)
        known = pool.labelled_features
        if known is not None and known.shape[1:] == points.shape[1:]:
            for centre in known:
                distance = np.minimum(distance, _squared(points, centre))
        free = np.ones(len(rows), dtype=bool)
        picked = np.empty(n, dtype=np.int64)
        for i in range(n):
            best = np.where(free, distance, -1.0)
            picked[i] = rng.choice(np.flatnonzero(best == best.max()))
            free[picked[i]] = False
            distance = np.minimum(distance, _squared(points, points[picked[i]]))
        why = ("farthest from the labelled ones",) * n
        return Draw(index=rows[picked], probability=chance[picked], reason=why, representative=False)


@dataclass(frozen=True)
class BadgeSelector:
    """Soft BADGE: k-means++ over sqrt(p (1 - p)) x features, the expected size of a label's gradient.

    BADGE (Ash and others, 2020) guesses a label; a share has no most likely value, so the expected length is used.
    ``probability`` is the chance given the earlier picks.
    """

    name: str = "badge"

    def draw(self, pool: Pool, n: int, rng: np.random.Generator) -> Draw:
        rows, chance = block_of(pool, n, rng)
        p = pool.confidence[rows]
        gradient = (space_of(pool)[rows] * np.sqrt(p * (1 - p))[:, None]).astype(np.float32)
        weight = np.square(gradient).sum(axis=1, dtype=np.float64)
        free = np.ones(len(rows), dtype=bool)
        picked, given = np.empty(n, dtype=np.int64), np.empty(n)
        for i in range(n):
            mass = np.where(free, weight, 0.0)
            mass = mass / mass.sum() if mass.sum() > 1e-12 else free / free.sum()
            picked[i] = rng.choice(len(rows), p=mass)
            given[i] = mass[picked[i]]
            free[picked[i]] = False
            distance = _squared(gradient, gradient[picked[i]])
            weight = distance if i == 0 else np.minimum(weight, distance)
        why = ("uncertain and unlike the others",) * n
        return Draw(index=rows[picked], probability=chance[picked] * given, reason=why, representative=False)
