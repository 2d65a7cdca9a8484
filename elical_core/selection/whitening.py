"""Last-layer features made small and comparable: principal components of unit variance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elical_core.errors import InputError
from elical_core.selection.checks import check_finite

_ROWS = 16_384
_SMALLEST = 1e-6


@dataclass(frozen=True)
class Whitening:
    """``centre`` (d,), ``axes`` (d, r): features (n, d) become (n, r), of mean 0 and variance 1 where it was fitted."""

    centre: NDArray[np.float64]
    axes: NDArray[np.float64]

    @classmethod
    def fit(cls, features: NDArray[np.float32], r: int) -> Whitening:
        """The ``r`` strongest components of (n, d) finite features, in blocks of rows; fewer when the data span fewer.

        Signs are fixed (largest entry positive), so a refit on the same rows is the same map. Raises InputError for no
        rows, and naming rows that are not finite.
        """
        n, d = features.shape
        if n == 0:
            raise InputError("no features to whiten; score the pool first")
        blocks = [features[first : first + _ROWS].astype(np.float64) for first in range(0, n, _ROWS)]
        for block in blocks:
            check_finite(block.astype(np.float32), "features")
        centre = sum(block.sum(axis=0) for block in blocks) / n
        spread = np.zeros((d, d))
        for block in blocks:
            spread += (block - centre).T @ (block - centre)
        values, vectors = np.linalg.eigh(spread / n)
        keep = np.argsort(values)[::-1][: max(r, 0)]
        keep = keep[values[keep] > _SMALLEST * max(values[-1], _SMALLEST**2)] if d else keep
        axes = vectors[:, keep] / np.sqrt(values[keep])
        if axes.size:
            axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
        return cls(centre, axes)

    def apply(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """(n, d) to (n, r) float32."""
        offset = (self.centre @ self.axes).astype(np.float32)
        whitened: NDArray[np.float32] = features @ self.axes.astype(np.float32) - offset
        return whitened
