"""AUROC of the pool from labels drawn with known chances, with its influence function, by sorting."""

from __future__ import annotations

import numpy as np

from elical_core.metrics.audit import Audit, Estimate, Linear, mean_of
from elical_core.metrics.tally import Floats

_CAUTION = 0.4  # by the coverage table: 1 covers 99.5% with eight correct answers among sixty, 0 covers 91%


def _shares(score: Floats, at: Floats, *weights: Floats) -> list[Floats]:
    """For each of ``weights`` (n,): its share of ``at`` (n,) that lies below each ``score`` (N,), ties half."""
    order = np.argsort(at, kind="stable")
    ordered = at[order]
    left, right = np.searchsorted(ordered, score, "left"), np.searchsorted(ordered, score, "right")
    shares = []
    for weight in weights:
        ahead = np.r_[0.0, np.cumsum(weight[order])] / (2 * weight.sum())
        shares.append(ahead[left] + ahead[right])
    return shares


def pseudo_auroc(score: Floats, outcome: Floats) -> float:
    """sum_{i != j} yt_i (1 - yt_j) k(s_i, s_j) / sum_{i != j} yt_i (1 - yt_j), k = 1{>} + .5 1{=}, in n log n.

    ``score`` (n,), ``outcome`` (n,) pseudo-outcomes, any real numbers. NaN when the denominator is not positive.
    """
    order = np.argsort(score, kind="stable")
    s, y = score[order], outcome[order]
    start = np.flatnonzero(np.r_[True, s[1:] != s[:-1]][: len(s)])
    right, wrong = np.add.reduceat(y, start), np.add.reduceat(1 - y, start)
    below = np.cumsum(wrong) - wrong / 2
    own = float(y @ (1 - y))
    pairs = float(y.sum() * (1 - y).sum()) - own
    return (float(right @ below) - own / 2) / pairs if pairs > 0 else float("nan")


def auroc_loss(score: Floats, audit: Audit) -> tuple[float, Linear]:
    """The weighted AUROC of the labels and its influence function a + b y on the whole pool.

    psi = y (F0(s) - th) / mu + (1 - y) (G1(s) - th) / (1 - mu): F0 the wrong answers' distribution, G1 the share of
    correct answers above. NaN and zeros for one class.
    """
    s, y, w = score[audit.rows], audit.correct, audit.weight
    mu = float(w @ y)
    if not 0 < mu < 1:
        return float("nan"), Linear(np.zeros(len(score)), np.zeros(len(score)))
    below, not_above = _shares(score, s, w * (1 - y), w * y)
    above = 1 - not_above
    theta = float((w * y) @ below[audit.rows]) / mu
    wins, losses = (below - theta) / mu, (above - theta) / (1 - mu)
    return theta, Linear(losses, wins - losses)


def auroc_of(audit: Audit, score: Floats) -> Estimate:
    """AUROC with its standard error; the control variate enters through the influence function (one step).

    NaN for one class. ``score`` (N,) may be any finite ranking.
    """
    theta, psi = auroc_loss(score, audit)
    if np.isnan(theta):
        return Estimate(float("nan"), float("nan"), len(audit), 0.0)
    step = mean_of(audit, psi, caution=_CAUTION)
    return step.of(float(np.clip(theta + step.value, 0, 1)))


def auroc_gain_of(audit: Audit, score: Floats, baseline: Floats) -> Estimate:
    """AUROC of ``score`` minus that of ``baseline`` on the same labels: influence functions are subtracted by item."""
    (first, psi), (second, base) = auroc_loss(score, audit), auroc_loss(baseline, audit)
    if np.isnan(first):
        return Estimate(float("nan"), float("nan"), len(audit), 0.0)
    step = mean_of(audit, Linear(psi.a - base.a, psi.b - base.b))
    return step.of(first - second + step.value)
