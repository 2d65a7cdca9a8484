"""Certified abstention: a promise about the error among answers that are given, or the honest "cannot certify"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc

from elical_core.errors import ConfigError
from elical_core.metrics.checks import finite, same_length, verdicts
from elical_core.metrics.intervals import clopper_pearson_upper
from elical_core.metrics.selective import check_coverage
from elical_core.metrics.tally import tally


@dataclass(frozen=True, kw_only=True)
class CertifiedPoint:
    """One planned coverage. ``bound``: Clopper-Pearson upper bound of the error at the level Holm gave to this test."""

    planned: float
    coverage: float
    threshold: float
    kept: int
    errors: int
    bound: float
    certified: bool


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """``best``: the certified point with the largest coverage, or None = cannot certify, for the stated ``reason``.

    ``unavoidable``: the share that even a perfect order must leave unanswered, (mu - a) / (1 - a), floored at 0.
    """

    max_error: float
    alpha: float
    points: tuple[CertifiedPoint, ...]
    best: CertifiedPoint | None
    unavoidable: float
    reason: str = ""


def certify(
    score: ArrayLike, correct: ArrayLike, *, max_error: float, coverages: Sequence[float], alpha: float = 0.05
) -> Certificate:
    """Which of ``coverages``, fixed before looking at verdicts, keep the error at or below ``max_error``.

    All certified points hold together with chance 1 - ``alpha`` (exact binomial tests, Holm). The items must not have
    been used to fit the score. ``score`` (n,) finite; ``correct`` (n,) 0/1; equal scores are kept together.
    """
    if not 0 < max_error < 1 or not 0 < alpha < 1:
        raise ConfigError(f"max_error and alpha must be between 0 and 1, got {max_error} and {alpha}")
    for coverage in coverages:
        check_coverage(coverage)
    if not coverages:
        raise ConfigError("coverages is empty; name at least one planned coverage, for example 0.5")
    s, y = finite(score, "score"), verdicts(correct)
    if same_length(score=s, correct=y) == 0:
        return Certificate(
            max_error=max_error, alpha=alpha, points=(), best=None, unavoidable=0.0, reason="cannot certify: no items"
        )
    counts = tally(s, y)
    kept, right = np.cumsum(counts.total[0][::-1]), np.cumsum(counts.right[0][::-1])
    planned = sorted(set(coverages))
    at = [int((kept >= c * kept[-1] * (1 - 1e-12)).argmax()) for c in planned]
    n = [int(kept[i]) for i in at]
    errors = [int(kept[i] - right[i]) for i in at]
    # chance of so few errors if the true error were max_error: P(Bin(n, a) <= e)
    p = np.array([betainc(k - e, e + 1, 1 - max_error) if e < k else 1.0 for k, e in zip(n, errors, strict=True)])
    certified = np.zeros(len(p), dtype=bool)
    level = np.full(len(p), alpha / len(p))
    for rank, i in enumerate(np.argsort(p, kind="stable")):
        level[i] = alpha / (len(p) - rank)
        if p[i] > level[i]:
            break
        certified[i] = True
    points = tuple(
        CertifiedPoint(
            planned=c,
            coverage=n[j] / len(s),
            threshold=float(counts.score[::-1][at[j]]),
            kept=n[j],
            errors=errors[j],
            bound=clopper_pearson_upper(errors[j], n[j], float(level[j])),
            certified=bool(certified[j]),
        )
        for j, c in enumerate(planned)
    )
    mu = 1 - float(y.mean())
    best = max((point for point in points if point.certified), key=lambda point: point.coverage, default=None)
    reason = "" if best else f"cannot certify an error of at most {max_error:.1%} at any planned coverage"
    unavoidable = max(0.0, (mu - max_error) / (1 - max_error))
    return Certificate(
        max_error=max_error, alpha=alpha, points=points, best=best, unavoidable=unavoidable, reason=reason
    )
