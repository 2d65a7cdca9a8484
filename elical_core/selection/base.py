"""The selector's edge. All indices are row numbers of ``Pool``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Pool:
    """Unlabelled questions that may be drawn.

    ``confidence`` (N,) in [0, 1] from the current model; ``embedding`` (N, d) row-aligned; ``group`` (N,) integers,
    near-duplicates share one; ``consistency`` (N,) in [0, 1] or NaN.
    """

    confidence: NDArray[np.float64]
    embedding: NDArray[np.float32]
    group: NDArray[np.int64]
    consistency: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.confidence)


@dataclass(frozen=True, kw_only=True)
class Draw:
    """``index`` (n,) distinct rows of the pool in drawing order; ``probability`` (n,) in (0, 1]: each row's chance of
    being drawn in this round; ``reason`` a few words per row for the screen."""

    index: NDArray[np.int64]
    probability: NDArray[np.float64]
    reason: tuple[str, ...]


class Selector(Protocol):
    """Draws questions for labelling. Deterministic given ``rng``; raises PoolTooSmall when ``n > len(pool)``."""

    @property
    def name(self) -> str: ...

    def draw(self, pool: Pool, n: int, rng: np.random.Generator) -> Draw: ...
