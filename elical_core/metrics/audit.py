"""Estimates for the whole pool from labels that were drawn with known chances (science.md section 6).

Every metric here is a mean of losses l = a(s) + b(s) y, or is linear to first order in such a mean (AUROC, by its
influence function). An estimate has three parts:

- weights 1 / pi of the drawn labels, scaled inside bins of the design score to the bin's share of the pool
  (post-stratification), so that a fixed number of labels per bin adds no noise of its own;
- the pseudo-outcome: f = a(s) + b(s) m with a cross-fitted calibrator m, known for every question of the pool. The
  estimate is mean_pool(lam f) + weighted mean(l - lam f). Its expectation does not depend on m or lam. At lam = 1 it is
  the mean over the pool of a + b yt, yt = m + xi / pi (y - m);
- a standard error from the spread of l - lam f inside the bins, plus that of f over the pool: it speaks of the
  population that the pool was drawn from.

lam is tuned on the loss (as prediction-powered inference does) and not on y: at lam = 0 the estimate is the plain
weighted mean, where y-tuning would leave mean_pool(a) + weighted mean(b y), which is often wider.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from elical_core.errors import InputError
from elical_core.metrics.checks import probabilities
from elical_core.metrics.crossfit import CrossFit, covariates_of, cross_fit, folds_of
from elical_core.metrics.tally import Floats
from elical_core.selection.strata import confidence_bin

LABELS_PER_BIN = 6
MOST_BINS = 10


@dataclass(frozen=True)
class Linear:
    """A loss a + b y on the pool: ``a`` (N,), ``b`` (N,)."""

    a: Floats
    b: Floats


@dataclass(frozen=True)
class Estimate:
    """``value`` with its standard error ``se`` from ``n`` labels; ``tuning`` = the mean lam that was used.

    ``se`` is NaN below two labels. ``excess`` = standardised third moment of the labels' residuals, for skewed losses.
    """

    value: float
    se: float
    n: int
    tuning: float
    skewness: float = 0.0

    def of(self, value: float) -> Estimate:
        """The same uncertainty about another value."""
        return Estimate(value, self.se, self.n, self.tuning, self.skewness)


@dataclass(frozen=True)
class Audit:
    """Labels on rows of a pool. Build it with ``audit_of``.

    ``rows`` (n,) of the pool, ``correct`` (n,) in [0, 1], ``weight`` (n,) sums to 1, ``bin`` (n,) of the
    post-stratification with ``bin_share`` (H,) of the pool; ``known`` the cross-fitted calibrator or None.
    """

    size: int
    rows: NDArray[np.int64]
    correct: Floats
    weight: Floats
    bin: NDArray[np.int64]
    bin_share: Floats
    known: CrossFit | None = field(repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def degrees(self) -> float:
        """Degrees of freedom of a mean: the effective number of labels 1 / sum w^2, less one per bin."""
        return 1 / float(self.weight @ self.weight) - len(self.bin_share) if len(self) else 0.0

    @property
    def class_sizes(self) -> tuple[float, float]:
        """Numbers of correct and of wrong labels; shares count in part."""
        right = float(self.correct.sum())
        return right, len(self) - right


def _bins(design: Floats, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
    """Bins of nearly equal pool share with two labels or more: (n,) bin of each label and (H,) share of the pool."""
    wanted = int(np.clip(len(rows) // LABELS_PER_BIN, 1, MOST_BINS))
    place = confidence_bin(design, wanted)
    count = np.bincount(place[rows], minlength=wanted)
    merged, current, held = np.zeros(wanted, dtype=np.int64), 0, 0
    for b in range(wanted):  # a bin with too few labels joins the next one, at the end the one before
        merged[b] = current
        held += int(count[b])
        if held >= 2 and count[b + 1 :].sum() >= 2:
            current, held = current + 1, 0
    place = merged[place]
    share = np.bincount(place, minlength=current + 1) / len(design)
    return place[rows], share


def audit_of(
    score: Floats,
    rows: NDArray[np.int64],
    correct: Floats,
    *,
    probability: Floats | None = None,
    design_score: Floats | None = None,
    covariates: Floats | None = None,
    group: NDArray[np.int64] | None = None,
    control: bool = True,
) -> Audit:
    """Collects what every estimate needs.

    ``score`` (N,) the pool's confidences in [0, 1]; ``rows`` (n,) distinct labelled rows; ``correct`` (n,) in [0, 1];
    ``probability`` (n,) in (0, 1], None = equal; ``design_score`` (N,) what the draw was spread over, usually the
    confidence at that time (default ``score``); ``covariates`` (N, any) consistency and the like, NaN allowed;
    ``group`` (N,) near-duplicates; ``control=False`` uses no calibrator. Raises InputError for misaligned
    or impossible columns.

    Several rounds that each drew with equal chances are one draw with equal chances: give None. Chances of one round
    are no chances of the whole, and weighting by them would let the first, small round speak loudest.
    """
    s, y = probabilities(score, "score"), probabilities(correct)
    pi = np.ones(len(rows)) if probability is None else np.asarray(probability, dtype=np.float64)
    if not len(rows) == len(y) == len(pi):
        raise InputError(f"labels must be row-aligned, got {len(rows)} rows, {len(y)} verdicts, {len(pi)} chances")
    if len(rows) and (rows.min() < 0 or rows.max() >= len(s) or len(np.unique(rows)) < len(rows)):
        raise InputError(f"labelled rows must be distinct numbers from 0 to {len(s) - 1}")
    if (bad := ~((pi > 0) & (pi <= 1))).any():
        raise InputError(
            f"a chance of being drawn must be above 0 and at most 1, got {pi[bad][0]} in label {bad.argmax()}"
        )
    if len(rows) == 0:
        return Audit(len(s), rows, y, pi, np.empty(0, dtype=np.int64), np.ones(1), None)
    place, share = _bins(s if design_score is None else np.asarray(design_score, dtype=np.float64), rows)
    weight = 1 / pi
    weight = weight * (share / np.bincount(place, weights=weight, minlength=len(share)))[place]
    known = None
    if control and len(rows) >= 2 * LABELS_PER_BIN:
        x = covariates_of(s, covariates)
        known = cross_fit(x, rows, y, weight, folds_of(rows, group))
    return Audit(len(s), rows, y, weight, place, share, known)


def _tuning(loss: Floats, known: Floats, weight: Floats) -> float:
    """Slope of loss on known in [0, 1]; 0 when their correlation is below 1 / sqrt(n - 2), which is noise."""
    if len(loss) < 4:
        return 0.0
    w = weight / weight.sum()
    loss, known = loss - w @ loss, known - w @ known
    spread, both = float(w @ known**2), float(w @ (known * loss))
    total = float(np.sqrt(spread * (w @ loss**2)))
    if total <= 1e-15 or both / total < 1 / np.sqrt(len(loss) - 2):
        return 0.0
    return float(np.clip(both / spread, 0, 1))


def _within(values: Floats, audit: Audit) -> tuple[float, float]:
    """Variance of the weighted mean of (n,) ``values`` from their spread inside the bins, and its third moment's ratio.

    Labels of unequal weight count by the usual sum w^2 (v - mean)^2, with n / (n - 1) in each bin.
    """
    h = len(audit.bin_share)
    count = np.bincount(audit.bin, minlength=h)
    mass = np.bincount(audit.bin, weights=audit.weight, minlength=h)
    mean = np.bincount(audit.bin, weights=audit.weight * values, minlength=h) / np.maximum(mass, 1e-300)
    off = audit.weight * (values - mean[audit.bin])
    scale = np.where(count > 1, count / np.maximum(count - 1, 1), 1.0)[audit.bin]
    variance = float((off**2 * scale).sum())
    skewness = float((off**3).sum() / variance**1.5) if variance > 0 else 0.0
    return variance, skewness


def mean_of(audit: Audit, loss: Linear, *, caution: float = 1.0) -> Estimate:
    """Estimate of the population mean of a loss a + b y. At least one label.

    ``caution`` in [0, 1]: how far the variance is raised to the one that the calibrator expects, where that is larger.
    """
    rows, n = audit.rows, len(audit)
    own = loss.a[rows] + loss.b[rows] * audit.correct
    if n < 2:
        return Estimate(float(audit.weight @ own), float("nan"), n, 0.0)
    if audit.known is None:
        variance, skewness = _within(own, audit)
        total = variance + _between(own, audit)
        return Estimate(float(audit.weight @ own), float(np.sqrt(total)), n, 0.0, skewness)
    fold = audit.known.fold
    value: float = 0.0
    tuning = np.zeros(n)
    residual, known = own.copy(), np.zeros(n)
    spread, unseen = 0.0, 1 - n / audit.size  # nothing to borrow once all is labelled
    for k in range(len(audit.known.pool)):
        inside = fold == k
        f = loss.a + loss.b * audit.known.pool[k]
        lam = unseen * _tuning(own[~inside], f[rows[~inside]], audit.weight[~inside])
        tuning[inside] = lam
        known[inside] = lam * f[rows[inside]]
        residual[inside] = own[inside] - known[inside]
        share = float(audit.weight[inside].sum())
        value += share * lam * float(f.mean())
        spread += share * lam**2 * float(f.var())
    value += float(audit.weight @ residual)
    variance, skewness = _within(residual, audit)
    variance += caution * max(_expected(audit, loss) - variance, 0.0)
    centred = residual - audit.weight @ residual
    shared = 2 * float(audit.weight @ (centred * known))
    total = variance + max(spread + shared + _between(residual, audit) * audit.size, 0.0) / audit.size
    return Estimate(value, float(np.sqrt(total)), n, float(audit.weight @ tuning), skewness)


def _expected(audit: Audit, loss: Linear) -> float:
    """Variance of the weighted mean if verdicts scatter about the calibrator m by kappa m (1 - m).

    Rare, large losses are often absent from a small sample, whose own spread is then too small; kappa (1 for 0/1
    verdicts of a calibrated m, less for shares) is pooled over all labels and loss.b says what a verdict weighs.
    """
    if audit.known is None:
        return 0.0
    m = audit.known.pool[audit.known.fold, audit.rows]
    scatter = m * (1 - m)
    kappa = float(audit.weight @ (audit.correct - m) ** 2) / max(float(audit.weight @ scatter), 1e-12)
    return kappa * float(((audit.weight * loss.b[audit.rows]) ** 2) @ scatter)


def _between(values: Floats, audit: Audit) -> float:
    """Variance that the pool itself has as a sample, from the spread of bin means: sum share (mean_h - mean)^2 / N."""
    mass = np.bincount(audit.bin, weights=audit.weight, minlength=len(audit.bin_share))
    sums = np.bincount(audit.bin, weights=audit.weight * values, minlength=len(audit.bin_share))
    means = sums / np.maximum(mass, 1e-300)
    return float(mass @ (means - mass @ means) ** 2) / audit.size


def brier_loss(score: Floats) -> Linear:
    """(s - y)^2 = s^2 + (1 - 2 s) y for a 0/1 verdict."""
    return Linear(score**2, 1 - 2 * score)


def bias_loss(score: Floats) -> Linear:
    """s - y: bias in the large."""
    return Linear(score, -np.ones(len(score)))


def alignment_loss(score: Floats, threshold: float) -> Linear:
    """1{s >= t} y + 1{s < t} (1 - y)."""
    above = (score >= threshold).astype(np.float64)
    return Linear(1 - above, 2 * above - 1)


def difference(first: Linear, second: Linear) -> Linear:
    """The paired loss: first minus second, item by item."""
    return Linear(first.a - second.a, first.b - second.b)
