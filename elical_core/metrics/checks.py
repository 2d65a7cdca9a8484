"""What every metric asks of its input, in one place."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elical_core.errors import InputError

_NAMED_ROWS = 5


def _rows(bad: NDArray[np.bool_]) -> str:
    found = np.flatnonzero(bad)
    listed = ", ".join(str(row) for row in found[:_NAMED_ROWS])
    more = f" and {len(found) - _NAMED_ROWS} more" if len(found) > _NAMED_ROWS else ""
    return f"row{'s' if len(found) > 1 else ''} {listed}{more} (counted from 0)"


def _column(values: ArrayLike, what: str) -> NDArray[np.float64]:
    try:
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be numbers, one per item: {error}") from error
    if column.ndim != 1:
        raise InputError(f"{what} must be one column of numbers, got an array of shape {column.shape}")
    return column


def finite(values: ArrayLike, what: str) -> NDArray[np.float64]:
    """``values`` as (n,) float64. Raises InputError naming the rows that are NaN or infinite."""
    column = _column(values, what)
    if (bad := ~np.isfinite(column)).any():
        raise InputError(
            f"{what} is not a finite number in {_rows(bad)}: {column[bad][0]}; leave such items out and count them"
        )
    return column


def probabilities(values: ArrayLike, what: str = "confidence") -> NDArray[np.float64]:
    """``values`` as (n,) float64 in [0, 1]: the probability that this answer is correct.

    Raises InputError naming the rows that are not finite or outside [0, 1].
    """
    column = finite(values, what)
    if (bad := (column < 0) | (column > 1)).any():
        raise InputError(
            f"{what} must lie between 0 and 1, got {column[bad][0]:g} in {_rows(bad)}; an uncalibrated score can be "
            "ranked (AUROC) but has no calibration error: use evaluate_ranking, or recalibrate it first"
        )
    return column + 0.0  # -0.0 would be another number to a sort by bits


def verdicts(values: ArrayLike, what: str = "correct") -> NDArray[np.float64]:
    """``values`` as (n,) float64 of exactly 0 (wrong) and 1 (correct); booleans are taken too."""
    column = probabilities(values, what)
    if (bad := (column != 0) & (column != 1)).any():
        raise InputError(
            f"{what} must be 0 or 1, got {column[bad][0]:g} in {_rows(bad)}; shares of correct samples are judged "
            "with evaluate_soft"
        )
    return column


def same_length(**columns: NDArray[np.float64] | NDArray[np.int64]) -> int:
    """The common length. Raises InputError naming the columns when they differ."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(
            "columns must be row-aligned, got " + ", ".join(f"{count} of {name}" for name, count in lengths.items())
        )
    return next(iter(lengths.values()))


def groups(values: ArrayLike | None, n: int) -> NDArray[np.int64] | None:
    """Labels of any sortable type as (n,) numbers 0..G-1 in the sorted order of the labels; None stays None."""
    if values is None:
        return None
    labels = np.asarray(values)
    if labels.ndim != 1 or len(labels) != n:
        raise InputError(f"group must have one label per item: {n} items, got shape {labels.shape}")
    if labels.dtype == object:
        labels = labels.astype(str)
    if labels.dtype.kind == "f" and (bad := ~np.isfinite(labels)).any():
        raise InputError(f"group is missing in {_rows(bad)}; give each such item a group of its own")
    index: NDArray[np.int64] = np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return index
