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

    What the instant head knows, for selectors that learn; each may be left out: ``features`` (N, r) whitened and
    ``stage1_logit`` (N,), which make up the head's input; ``covariance`` (r + 2, r + 2) of its weights, None = the
    prior's; ``dispersion`` >= 1, how many 0/1 labels one label is worth; ``labelled`` how many training labels there
    are, and ``labelled_features`` (L, r) their features.
    """

    confidence: NDArray[np.float64]
    embedding: NDArray[np.float32]
    group: NDArray[np.int64]
    consistency: NDArray[np.float64]
    features: NDArray[np.float32] | None = None
    stage1_logit: NDArray[np.float64] | None = None
    covariance: NDArray[np.float64] | None = None
    dispersion: float = 1.0
    labelled: int = 0
    labelled_features: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.confidence)


@dataclass(frozen=True, kw_only=True)
class Draw:
    """``index`` (n,) distinct rows of the pool in drawing order; ``probability`` (n,) in (0, 1]: each row's chance of
    being drawn in this round; ``reason`` a few words per row for the screen.

    ``representative``: every question had a chance, so labels weighted by 1 / ``probability`` speak for the pool. A
    selector that looks for extremes sets it to False; its probability is then the chance given its earlier picks.
    """

    index: NDArray[np.int64]
    probability: NDArray[np.float64]
    reason: tuple[str, ...]
    representative: bool = True


class Selector(Protocol):
    """Draws questions for labelling. Deterministic given ``rng``; raises PoolTooSmall when ``n > len(pool)``."""

    @property
    def name(self) -> str: ...

    def draw(self, pool: Pool, n: int, rng: np.random.Generator) -> Draw: ...
