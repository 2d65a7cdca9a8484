"""Audit estimates as numbers for the screen: intervals that cover, values that are explained when they are missing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr, stdtrit

from elical_core.domain import Measured
from elical_core.metrics.audit import (
    Audit,
    Estimate,
    alignment_loss,
    audit_of,
    bias_loss,
    brier_loss,
    difference,
    mean_of,
)
from elical_core.metrics.audit_auroc import auroc_gain_of, auroc_of
from elical_core.metrics.audit_ece import ece_of
from elical_core.metrics.auroc import one_class_reason
from elical_core.metrics.intervals import LEVEL, newcombe_auroc, normal_quantile
from elical_core.metrics.sequence import anytime_factor
from elical_core.metrics.tally import Floats
from elical_core.selection.logistic import one_thread

ROUGH_BELOW = 20
_MOST_SKEW = 0.5


def mean_interval(estimate: Estimate, degrees: float, level: float = LEVEL) -> tuple[float, float] | None:
    """Student interval moved by the skewness of the losses (Cornish-Fisher); None below two labels.

    A loss like (s - y)^2 is mostly small and sometimes near 1, so the plain interval misses above too often: the upper
    limit moves out and the lower one in by se x skew (2 q^2 + 1) / 6.
    """
    if not np.isfinite(estimate.se):
        return None
    q = float(stdtrit(max(degrees, 1.0), (1 + level) / 2))
    shift = float(np.clip(estimate.skewness, -_MOST_SKEW, _MOST_SKEW)) * (2 * q * q + 1) / 6
    return estimate.value + (shift - q) * estimate.se, estimate.value + (shift + q) * estimate.se


def auroc_interval(estimate: Estimate, right: float, wrong: float, level: float = LEVEL) -> tuple[float, float] | None:
    """Normal interval on the logit; at 0, 1 or without an error the score interval from the class sizes."""
    if not np.isfinite(estimate.value):
        return None
    if not (0 < estimate.value < 1 and np.isfinite(estimate.se) and estimate.se > 0) or min(right, wrong) < 2:
        return newcombe_auroc(estimate.value, max(int(right), 1), max(int(wrong), 1), level)
    half = normal_quantile(level) * estimate.se / (estimate.value * (1 - estimate.value))
    centre = logit(estimate.value)
    return float(expit(centre - half)), float(expit(centre + half))


def streams_disagree(audit: Estimate, everything: Estimate) -> str:
    """One sentence when the audit-only and the all-label estimate differ by more than 2 standard errors, else empty.

    The errors are added as if the two shared no label, which makes the warning rarer, not more frequent.
    """
    apart = abs(audit.value - everything.value)
    error = float(np.hypot(audit.se, everything.se))
    if not np.isfinite(error) or apart <= 2 * error:
        return ""
    return (
        f"the audit labels alone say {audit.value:.3f}, all labels say {everything.value:.3f}: more than two standard "
        "errors apart, so trust the audit labels and look for questions that were labelled twice or out of turn"
    )


def _widened(estimate: Estimate, anytime: bool) -> tuple[Estimate, str]:
    if not anytime or estimate.n < 1:
        return estimate, "fixed-n"
    factor = anytime_factor(estimate.n)
    return Estimate(estimate.value, estimate.se * factor, estimate.n, estimate.tuning, estimate.skewness / factor), (
        "valid at any look"
    )


@one_thread()
def audit_measures(
    score: Floats,
    rows: NDArray[np.int64],
    correct: Floats,
    *,
    baseline: Floats | None = None,
    probability: Floats | None = None,
    design_score: Floats | None = None,
    covariates: Floats | None = None,
    group: NDArray[np.int64] | None = None,
    threshold: float = 0.5,
    anytime: bool = False,
    left_out: int = 0,
) -> list[Measured]:
    """The pool's auroc, brier, signed_gap, alignment and ece from audit labels, with 95% intervals.

    ``score`` (N,) confidences of the audit pool; ``rows`` (n,) labelled rows and ``correct`` (n,) 0/1 greedy verdicts;
    ``baseline`` (N,) Stage 1's confidences: adds auroc_gain and brier_gain, above 0 = better than Stage 1;
    ``threshold`` for alignment, chosen on training labels; ``anytime=True``: intervals that hold at every look at once;
    other arguments as in ``audit_of``. Undefined values say why; ``left_out`` labels have no verdict.
    """
    audit = audit_of(
        score,
        rows,
        correct,
        probability=probability,
        design_score=design_score,
        covariates=covariates,
        group=group,
    )
    n = len(audit)
    names = ["auroc", "brier", "signed_gap", "alignment", "ece"]
    names += ["auroc_gain", "brier_gain"] if baseline is not None else []
    if n == 0:
        why = "no audit labels with a verdict on the greedy answer yet"
        return [Measured(metric=m, value=None, low=None, high=None, n=0, left_out=left_out, reason=why) for m in names]
    found = [_auroc(audit, auroc_of(audit, score), anytime, left_out)]
    losses = {"brier": brier_loss(score), "signed_gap": bias_loss(score), "alignment": alignment_loss(score, threshold)}
    for name, loss in losses.items():
        found.append(_mean(name, mean_of(audit, loss), audit.degrees, anytime, left_out))
    found.append(_ece(audit, score, anytime, left_out))
    if baseline is not None:
        if one_class_reason(audit.correct):
            why = one_class_reason(audit.correct)
            found.append(_missing("auroc_gain", why, n, left_out))
        else:
            gain = auroc_gain_of(audit, score, baseline)
            found.append(_mean("auroc_gain", gain, min(audit.class_sizes) - 1, anytime, left_out))
        gain = mean_of(audit, difference(brier_loss(baseline), brier_loss(score)))
        found.append(_mean("brier_gain", gain, audit.degrees, anytime, left_out))
    return found


def _missing(metric: str, reason: str, n: int, left_out: int) -> Measured:
    return Measured(metric=metric, value=None, low=None, high=None, n=n, left_out=left_out, reason=reason)


def _mean(metric: str, estimate: Estimate, degrees: float, anytime: bool, left_out: int) -> Measured:
    wide, how = _widened(estimate, anytime)
    low, high = mean_interval(wide, degrees) or (None, None)
    method = f"weighted labels, {how}" if low is not None else "no interval from one label"
    return Measured(
        metric=metric, value=estimate.value, low=low, high=high, n=estimate.n, left_out=left_out, method=method
    )


def _auroc(audit: Audit, estimate: Estimate, anytime: bool, left_out: int) -> Measured:
    n = len(audit)
    if reason := one_class_reason(audit.correct):
        return _missing("auroc", reason, n, left_out)
    wide, how = _widened(estimate, anytime)
    low, high = auroc_interval(wide, *audit.class_sizes) or (None, None)
    rarer = min(audit.correct.sum(), n - audit.correct.sum())
    rough = f"; rough, {rarer:g} of the rarer class" if rarer < ROUGH_BELOW else ""
    method = f"influence function on the logit, {how}{rough}"
    return Measured(metric="auroc", value=estimate.value, low=low, high=high, n=n, left_out=left_out, method=method)


def _ece(audit: Audit, score: Floats, anytime: bool, left_out: int) -> Measured:
    n = len(audit)
    level = LEVEL if not anytime else float(max(2 * ndtr(normal_quantile() * anytime_factor(n)) - 1, LEVEL))
    found = ece_of(audit, score, level=min(level, 0.999))
    how = f"{found.bins} bins of equal mass, {'valid at any look' if anytime else 'fixed-n'}"
    return Measured(metric="ece", value=found.value, low=found.low, high=found.high, n=n, left_out=left_out, method=how)
