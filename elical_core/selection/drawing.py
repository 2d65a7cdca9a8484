"""Drawing with chances that are known exactly: one of each group, then an even walk through ordered strata."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elical_core.errors import PoolTooSmall

Rows = NDArray[np.int64]


def one_per_group(group: Rows, rng: np.random.Generator) -> tuple[Rows, NDArray[np.float64]]:
    """One row of each group, each member equally likely: rows (G,) and the chance 1 / group size (G,) each had."""
    mixed = rng.permutation(len(group))
    _, first, size = np.unique(group[mixed], return_index=True, return_counts=True)
    return mixed[first].astype(np.int64), 1.0 / size


def check_groups(available: int, n: int, size: int) -> None:
    if n > available:
        raise PoolTooSmall(
            f"asked for {n} questions but only {available} of the {size} unlabelled ones are distinct when "
            "near-duplicates count once; lower the number or import more"
        )


def even_walk_by_chance(strata: tuple[Rows, ...], chance: NDArray[np.float64], rng: np.random.Generator) -> Rows:
    """Positions drawn so that item i has exactly ``chance[i]``; how many is the sum of the chances, a whole number.

    Systematic sampling with unequal steps: the chances are laid end to end in the order of the strata (shuffled inside
    equal keys) and every whole unit from a random start picks the item that it falls on. ``chance`` (m,) in [0, 1].
    """
    n = round(float(chance.sum()))
    order = np.lexsort((rng.random(len(chance)), *reversed(strata)))
    ends = np.cumsum(chance[order])
    ends *= n / max(ends[-1], 1e-300) if len(ends) else 1.0
    picked: Rows = np.searchsorted(ends, rng.random() + np.arange(n), "right")
    return rng.permutation(order[np.minimum(picked, len(order) - 1)]).astype(np.int64)


def even_walk(strata: tuple[Rows, ...], n: int, rng: np.random.Generator) -> Rows:
    """Positions (n,) drawn from m items so that each has the chance n / m exactly, in random order.

    ``strata``: (m,) keys, the first the most significant. Items are put in the order of the keys, shuffled inside
    equal keys, and every (m / n)-th is taken from a random start (systematic sampling): each stratum, at every level of
    the keys, gets its proportional share rounded down or up.
    """
    m = len(strata[0])
    if n == 0:
        return np.empty(0, dtype=np.int64)
    order = np.lexsort((rng.random(m), *reversed(strata)))
    steps = np.floor((rng.random() + np.arange(n)) * m / n).astype(np.int64)
    picked: Rows = rng.permutation(order[np.minimum(steps, m - 1)]).astype(np.int64)
    return picked
