"""Smooth ECE: calibration error without bins (Blasiok and Nakkiran, 2023).

The residuals y - c are smoothed along the confidence axis by a Gaussian reflected at 0 and 1; the error is the area
under the absolute value, at the bandwidth that equals the error itself. Reflected smoothing is a product in the cosine
transform, so all resamples are done at once on a fixed grid.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import dct, idct

from elical_core.metrics.checks import probabilities, same_length, verdicts
from elical_core.metrics.tally import Floats, Tally, tally

GRID = 1024
_HALVINGS = 20


def _on_grid(counts: Tally) -> Floats:
    """(R, GRID) summed residual per cell, each score shared linearly between the two nearest cell centres."""
    place = np.clip(counts.score * GRID - 0.5, 0, GRID - 1)
    cell = np.minimum(place.astype(np.int64), GRID - 2)
    share = place - cell
    residual = counts.right - counts.total * counts.score
    grid = np.zeros((len(residual), GRID))
    start = np.flatnonzero(np.r_[True, cell[1:] != cell[:-1]])
    grid[:, cell[start]] += np.add.reduceat(residual * (1 - share), start, axis=1)
    grid[:, cell[start] + 1] += np.add.reduceat(residual * share, start, axis=1)
    return grid


def smooth_ece_of(counts: Tally) -> Floats:
    """(R,) smooth ECE in [0, 1], to about 1e-3 of the exact integral."""
    waves = dct(_on_grid(counts), type=2, axis=1, norm="ortho")
    frequency = (np.pi * np.arange(GRID)) ** 2
    low, high = np.zeros(len(waves)), np.ones(len(waves))
    for _ in range(_HALVINGS):
        width = (low + high) / 2
        smooth = idct(waves * np.exp(-0.5 * width[:, None] ** 2 * frequency), type=2, axis=1, norm="ortho")
        too_narrow = np.abs(smooth).sum(axis=1) / counts.size > width
        low, high = np.where(too_narrow, width, low), np.where(too_narrow, high, width)
    return (low + high) / 2


def smooth_ece(confidence: ArrayLike, correct: ArrayLike) -> float:
    """``confidence`` (n,) in [0, 1]; ``correct`` (n,) 0/1. NaN for no items."""
    c, y = probabilities(confidence), verdicts(correct)
    if same_length(confidence=c, correct=y) == 0:
        return float("nan")
    return float(smooth_ece_of(tally(c, y))[0])
