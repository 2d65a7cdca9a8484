"""What is known of an unlabelled question: a calibrator of its scores, fitted without the fold that it is used on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from elical_core.errors import InputError
from elical_core.metrics.tally import Floats
from elical_core.selection.logistic import fit_map, one_thread, safe_logit

FOLDS = 5
_RIDGE = 1.0


@dataclass(frozen=True)
class CrossFit:
    """``fold`` (n,) of each label, ``pool`` (K, N) predicted chance that a question's answer is correct, by the model
    fitted without fold k. Its value for a label of fold k is ``pool[k, row]``: never fitted on the label itself."""

    fold: NDArray[np.int64]
    pool: Floats


def covariates_of(score: Floats, extra: Floats | None = None) -> Floats:
    """(N, q) standardised columns: the logit of ``score`` and the columns of ``extra`` (N, any), missing = their mean.

    ``extra`` holds, for example, consistency and N-Prob; NaN is allowed there.
    """
    columns = safe_logit(score)[:, None]
    if extra is not None:
        if extra.ndim != 2 or len(extra) != len(score):
            raise InputError(f"covariates must have {len(score)} rows and some columns, got the shape {extra.shape}")
        columns = np.column_stack([columns, extra])
    known = np.isfinite(columns)
    count = np.maximum(known.sum(axis=0), 1)
    centred = np.where(known, columns - np.where(known, columns, 0).sum(axis=0) / count, 0.0)
    spread = np.sqrt(np.square(centred).sum(axis=0) / count)
    return centred / np.where(spread > 0, spread, 1.0)


def folds_of(rows: NDArray[np.int64], group: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """(n,) fold numbers round robin over the sorted rows, or over their groups; ``group`` (N,) of the pool."""
    unit = np.unique(rows if group is None else group[rows], return_inverse=True)[1].reshape(-1)
    return unit.astype(np.int64) % FOLDS


@one_thread()
def cross_fit(x: Floats, rows: NDArray[np.int64], correct: Floats, weight: Floats, fold: NDArray[np.int64]) -> CrossFit:
    """Ridge logistic regression of ``correct`` (n,) in [0, 1] on ``x[rows]``, once without each fold.

    ``x`` (N, q) standardised; ``weight`` (n,) > 0 of each label, scaled to mean 1 here.
    """
    design = np.column_stack([np.ones(len(x)), x])
    precision = np.r_[1e-2, np.full(x.shape[1], _RIDGE)]
    pool = np.empty((FOLDS, len(x)))
    w = weight * len(weight) / weight.sum()
    for k in range(FOLDS):
        kept = fold != k
        at = rows[kept]
        start = np.zeros(design.shape[1])
        fit = fit_map(design[at], correct[kept], w[kept], prior_mean=start, precision=precision)
        pool[k] = expit(design @ fit.mean)
    return CrossFit(fold, pool)
