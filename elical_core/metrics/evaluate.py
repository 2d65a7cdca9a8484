"""Every metric of a set of confidences, each with N, what was left out, and a 95% interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elical_core.domain import Measured
from elical_core.metrics.alignment import cross_fitted
from elical_core.metrics.audit_ece import ece_interval, gaps_of
from elical_core.metrics.auprc import auprc_of
from elical_core.metrics.auroc import auroc_of, delong_variance, one_class_reason
from elical_core.metrics.binning import BinSums, mass_sums, width_sums
from elical_core.metrics.brier import brier_of, clipped, nll_of, parts_of, skill_of
from elical_core.metrics.checks import finite, groups, probabilities, same_length, verdicts
from elical_core.metrics.ece import MCE_MIN_ITEMS, debiased_of, ece_of, mce_of, noise_floor, signed_gap_of
from elical_core.metrics.intervals import (
    basic_interval,
    check_resamples,
    logit_interval,
    newcombe_auroc,
    percentile_interval,
    resample_counts,
    sizes_of,
    wilson,
)
from elical_core.metrics.selective import COVERAGES, accuracy_at_of, aurc_of, excess_aurc_of, prr_of
from elical_core.metrics.smooth_ece import smooth_ece_of
from elical_core.metrics.soft import soft_floor, weighted_correlation, weighted_ranks
from elical_core.metrics.tally import Floats, Ranked, Tally
from elical_core.selection.logistic import one_thread

Groups = NDArray[np.int64] | None
RAISED_BY_NOISE = {"ece", "ece_15", "ece_mass", "smooth_ece", "mce", "brier_reliability"}
BINNED: dict[str, Callable[[Tally], BinSums]] = {
    "ece": lambda counts: width_sums(counts, 10),
    "ece_15": lambda counts: width_sums(counts, 15),
    "ece_mass": lambda counts: mass_sums(counts, 10),
}


def ranking_metrics(counts: Tally) -> dict[str, Floats]:
    """Metrics that need only an order, each (R,)."""
    return {
        "auroc": auroc_of(counts),
        "auprc_correct": auprc_of(counts),
        "auprc_wrong": auprc_of(counts, wrong=True),
        "accuracy": counts.accuracy,
        "aurc": aurc_of(counts),
        "excess_aurc": excess_aurc_of(counts),
        "prr": prr_of(counts),
        **{f"accuracy_at_{coverage:.0%}"[:-1]: accuracy_at_of(counts, coverage) for coverage in COVERAGES},
    }


def calibration_metrics(counts: Tally) -> dict[str, Floats]:
    """Metrics that take the confidence at its word, each (R,)."""
    tenths = width_sums(counts, 10)
    parts = parts_of(counts)
    return {
        "ece": ece_of(tenths),
        "ece_15": ece_of(width_sums(counts, 15)),
        "ece_mass": ece_of(mass_sums(counts, 10)),
        "smooth_ece": smooth_ece_of(counts),
        "mce": mce_of(tenths),
        "squared_error_debiased": debiased_of(counts, 10),
        "signed_gap": signed_gap_of(counts),
        "brier": brier_of(counts),
        "brier_skill": skill_of(counts),
        "brier_reliability": parts.reliability,
        "brier_resolution": parts.resolution,
        "brier_uncertainty": parts.uncertainty,
        "brier_within": parts.within,
        "nll": nll_of(counts),
    }


def _both(counts: Tally) -> dict[str, Floats]:
    return ranking_metrics(counts) | calibration_metrics(counts)


def bootstrap(
    ranked: Ranked, group: Groups, metrics: Callable[[Tally], dict[str, Floats]], resamples: int, seed: int
) -> dict[str, Floats]:
    """Each metric on ``resamples`` group resamples, (resamples,). ``group`` (N,) is row-aligned with the input."""
    index, count = sizes_of(None if group is None else group[ranked.order], len(ranked))
    pieces = [
        metrics(ranked.tally(w if group is None else w[:, index])) for w in resample_counts(count, resamples, seed)
    ]
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]} if pieces else {}


def _undefined(name: str, ranked: Ranked) -> str:
    if name == "mce":
        return f"undefined: no bin holds {MCE_MIN_ITEMS} items"
    return one_class_reason(ranked.correct) or "undefined on these items"


def _measured(
    name: str, value: float, interval: tuple[float, float] | None, how: str, *, n: int, left_out: int, reason: str = ""
) -> Measured:
    if not np.isfinite(value):
        return Measured(metric=name, value=None, low=None, high=None, n=n, left_out=left_out, reason=reason)
    low, high = interval or (None, None)
    return Measured(metric=name, value=value, low=low, high=high, n=n, left_out=left_out, method=how)


def _auroc_interval(ranked: Ranked, value: float) -> tuple[tuple[float, float], str]:
    found = logit_interval(value, delong_variance(ranked.score, ranked.correct))
    if found:
        return found, "DeLong on the logit"
    right = int(ranked.correct.sum())
    return newcombe_auroc(value, right, len(ranked) - right), "Newcombe score interval"


def _evaluate(
    ranked: Ranked,
    group: Groups,
    metrics: Callable[[Tally], dict[str, Floats]],
    *,
    resamples: int,
    seed: int,
    left_out: int,
) -> list[Measured]:
    values = metrics(ranked.tally())
    drawn = bootstrap(ranked, group, metrics, resamples, seed) if _can_resample(group, len(ranked)) else {}
    found = []
    for name, column in values.items():
        value, n = float(column[0]), len(ranked)
        interval, how = percentile_interval(drawn[name]) if drawn else None, f"{resamples} bootstrap resamples"
        if resamples and group is None and name in BINNED:
            interval, how = ece_interval(gaps_of(BINNED[name](ranked.tally()))), "inverted test over bins"
        elif drawn and name in RAISED_BY_NOISE:
            interval, how = basic_interval(value, drawn[name]), f"{how}, mirrored"
        if group is not None:
            how = how.replace("bootstrap", "group-bootstrap")
        elif resamples and name == "accuracy":
            interval, how = wilson(ranked.correct.sum(), n), "Wilson"
        elif resamples and name == "auroc" and np.isfinite(value):
            interval, how = _auroc_interval(ranked, value)
        if interval is None:
            how = "no interval"
        reason = _undefined(name, ranked)
        found.append(_measured(name, value, interval, how, n=n, left_out=left_out, reason=reason))
    return found


def _can_resample(group: Groups, n: int) -> bool:
    return (n if group is None else len(np.unique(group))) >= 2


def _mean_of(
    name: str, values: Floats, group: Groups, *, resamples: int, seed: int, left_out: int, reason: str
) -> Measured:
    """The mean of (n,) per-item ``values`` sorted canonically, with its group-bootstrap interval."""
    n = len(values)
    if n == 0 or np.isnan(values).any():
        return Measured(metric=name, value=None, low=None, high=None, n=n, left_out=left_out, reason=reason)
    index, count = sizes_of(group, n)
    sums, sizes = np.bincount(index, values, count), np.bincount(index, minlength=count).astype(np.float64)
    means = [w @ sums / (w @ sizes) for w in resample_counts(count, resamples, seed)] if count >= 2 else []
    interval = percentile_interval(np.concatenate(means)) if means else None
    how = f"{resamples} bootstrap resamples" if interval else "no interval"
    return _measured(name, float(values.mean()), interval, how, n=n, left_out=left_out)


@one_thread()
def evaluate(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    group: ArrayLike | None = None,
    resamples: int = 2000,
    seed: int = 0,
    left_out: int = 0,
) -> list[Measured]:
    """All metrics of ``confidence`` (n,) in [0, 1], the stated probability that this answer is correct.

    ``correct`` (n,) 0/1 of the greedy answer; ``group`` (n,) labels, near-duplicates share one: they are resampled
    together. ``left_out``: items without a verdict or a confidence, which the caller counted. Shuffling rows changes
    nothing. ``resamples=0`` leaves intervals out. An undefined metric has value None and a reason.
    Raises InputError naming the rows that are not finite or out of range.
    """
    c, y = probabilities(confidence), verdicts(correct)
    n = same_length(confidence=c, correct=y)
    g = groups(group, n)
    check_resamples(resamples)
    if n == 0:
        return _nothing((*_names(), "nll_clipped", "noise_floor", "noise_floor_95", "alignment", "majority"), left_out)
    ranked = Ranked(c, y, g)
    found = _evaluate(ranked, g, _both, resamples=resamples, seed=seed, left_out=left_out)
    floor = noise_floor(c, 10, seed=seed)
    how = f"ECE of {floor.redraws} redraws from the confidences themselves"
    found += [
        _measured("noise_floor", floor.mean, None, f"mean {how}", n=n, left_out=left_out),
        _measured("noise_floor_95", floor.p95, None, f"95% point of the {how}", n=n, left_out=left_out),
        _measured(
            "nll_clipped", float(clipped(c)), None, "count of confidences clipped at 1e-6", n=n, left_out=left_out
        ),
    ]
    g_sorted = None if g is None else g[ranked.order]
    agreed = cross_fitted(ranked.score, ranked.correct, g_sorted)
    reason = "undefined: a threshold needs other items or groups than the one it judges"
    found.append(
        _mean_of("alignment", agreed, g_sorted, resamples=resamples, seed=seed, left_out=left_out, reason=reason)
    )
    found.append(_measured("majority", float(max(y.mean(), 1 - y.mean())), None, "baseline", n=n, left_out=left_out))
    return found


@one_thread()
def evaluate_ranking(
    score: ArrayLike,
    correct: ArrayLike,
    *,
    group: ArrayLike | None = None,
    resamples: int = 2000,
    seed: int = 0,
    left_out: int = 0,
) -> list[Measured]:
    """The metrics that an uncalibrated ``score`` (n,) of any finite range can have; higher = more confident."""
    s, y = finite(score, "score"), verdicts(correct)
    n = same_length(score=s, correct=y)
    g = groups(group, n)
    check_resamples(resamples)
    if n == 0:
        return _nothing(tuple(ranking_metrics(_probe())), left_out)
    return _evaluate(Ranked(s, y, g), g, ranking_metrics, resamples=resamples, seed=seed, left_out=left_out)


@one_thread()
def evaluate_soft(
    confidence: ArrayLike,
    share: ArrayLike,
    k: int,
    *,
    group: ArrayLike | None = None,
    resamples: int = 2000,
    seed: int = 0,
    left_out: int = 0,
) -> list[Measured]:
    """Soft MSE, its noise floor and Spearman of ``confidence`` (n,) against ``share`` (n,) of ``k`` samples correct."""
    c, a = probabilities(confidence), probabilities(share, "share")
    n = same_length(confidence=c, share=a)
    g = groups(group, n)
    check_resamples(resamples)
    floor = soft_floor(a, k)
    if n == 0:
        return _nothing(("soft_mse", "soft_floor", "spearman", "soft_signed_gap"), left_out)
    order = np.lexsort((a, c) if g is None else (g, a, c))
    c, a, g = c[order], a[order], None if g is None else g[order]

    def means(name: str, values: Floats) -> Measured:
        return _mean_of(name, values, g, resamples=resamples, seed=seed, left_out=left_out, reason="")

    index, count = sizes_of(g, n)
    draws = resample_counts(count, resamples, seed) if count >= 2 else iter(())
    rho = _spearman_of(c, a, np.ones((1, n)))[0]
    drawn = [_spearman_of(c, a, w[:, index]) for w in draws] if np.isfinite(rho) else []
    interval = percentile_interval(np.concatenate(drawn)) if drawn else None
    return [
        means("soft_mse", (c - a) ** 2),
        _measured("soft_floor", floor, None, f"mean a(1-a)/k, k={k}", n=n, left_out=left_out),
        _measured(
            "spearman",
            float(rho),
            interval,
            f"{resamples} bootstrap resamples" if interval else "no interval",
            n=n,
            left_out=left_out,
            reason="undefined: confidence or share is the same for every item",
        ),
        means("soft_signed_gap", c - a),
    ]


def _spearman_of(c: Floats, a: Floats, weight: Floats) -> Floats:
    return weighted_correlation(weighted_ranks(c, weight), weighted_ranks(a, weight), weight)


def _probe() -> Tally:
    return Tally(np.array([0.5]), np.ones((1, 1)), np.ones((1, 1)))


def _names() -> tuple[str, ...]:
    return tuple(_both(_probe()))


def _nothing(names: Sequence[str], left_out: int) -> list[Measured]:
    reason = "undefined: no items"
    return [Measured(metric=m, value=None, low=None, high=None, n=0, left_out=left_out, reason=reason) for m in names]


@one_thread()
def paired_difference(
    conf_a: ArrayLike,
    conf_b: ArrayLike,
    correct: ArrayLike,
    *,
    group: ArrayLike | None = None,
    resamples: int = 2000,
    seed: int = 0,
    left_out: int = 0,
) -> list[Measured]:
    """Each metric of ``conf_a`` minus that of ``conf_b`` on the same items, intervals from the same resamples of both.

    Row-aligned (n,) arrays as in ``evaluate``. Metrics are named as there with ``_difference`` added.
    """
    a, b, y = probabilities(conf_a, "conf_a"), probabilities(conf_b, "conf_b"), verdicts(correct)
    n = same_length(conf_a=a, conf_b=b, correct=y)
    g = groups(group, n)
    check_resamples(resamples)
    if n == 0:
        return _nothing([f"{name}_difference" for name in _names()], left_out)
    order = np.lexsort((y, b, a) if g is None else (g, y, b, a))
    a, b, y, g = a[order], b[order], y[order], None if g is None else g[order]
    first, second = Ranked(a, y), Ranked(b, y)
    index, count = sizes_of(g, n)

    def difference(weight: Floats) -> dict[str, Floats]:
        left, right = (_both(ranked.tally(weight[:, ranked.order])) for ranked in (first, second))
        return {name: left[name] - right[name] for name in left}

    draws = resample_counts(count, resamples, seed) if count >= 2 else iter(())
    pieces = [difference(w[:, index]) for w in draws]
    found = []
    for name, column in difference(np.ones((1, n))).items():
        interval = percentile_interval(np.concatenate([piece[name] for piece in pieces])) if pieces else None
        how = f"{resamples} paired bootstrap resamples" if interval else "no interval"
        reason = _undefined(name, first)
        label = f"{name}_difference"
        found.append(_measured(label, float(column[0]), interval, how, n=n, left_out=left_out, reason=reason))
    return found
