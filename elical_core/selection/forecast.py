"""Where the curve is going: A(n) = A_inf - a n^-b with priors, an 80% band, and how many labels a target needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from elical_core.errors import InputError

Floats = NDArray[np.float64]
FIRST_AT = 60
AHEAD = (50, 100, 250)
LEVEL = 0.8
_POWERS = np.linspace(0.2, 1.5, 14)
_DRAWS = 4000
_MOST_LABELS = 100_000


@dataclass(frozen=True, kw_only=True)
class ForecastPoint:
    """Expected ``value`` at ``labels`` in total, with its 80% band."""

    labels: int
    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class LabelsToTarget:
    """Total labels at which the curve is expected to reach ``target``. None = not within 100,000 (censored)."""

    target: float
    middle: int | None
    low: int | None
    high: int | None


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """``points`` ahead and ``reach``, or neither and a ``reason``. ``widened``: by what back-testing asked for."""

    points: tuple[ForecastPoint, ...]
    reach: LabelsToTarget | None
    widened: float = 1.0
    reason: str = ""


def _thin(labels: Floats, value: Floats) -> tuple[Floats, Floats]:
    """Points at least a tenth apart in labels, the last one kept: neighbours on a curve repeat each other's noise."""
    kept: list[int] = []
    for i in range(len(labels) - 1, -1, -1):
        if not kept or labels[i] <= labels[kept[-1]] / 1.1 - 1:
            kept.append(i)
    kept.reverse()
    return labels[kept], value[kept]


def _draws(labels: Floats, value: Floats, rng: np.random.Generator) -> tuple[Floats, Floats, Floats, float]:
    """(A_inf, a, b) samples of the posterior, each (draws,), and the points' noise; ``value`` rises towards A_inf.

    For each power b of a grid the model is linear: A_inf has a wide prior at the last value, the drop at the first
    point is half-normal. Powers weigh by evidence times a log-normal prior at .6.
    """
    scale = max(float(np.ptp(value)), 0.01)
    rough = float(np.std(np.diff(value)) / np.sqrt(2)) if len(value) > 2 else scale / 2
    noise = max(rough, 0.1 * scale / np.sqrt(len(value)), 1e-4)
    centre = np.array([value[-1], 0.0])
    prior = np.diag([(2 * scale) ** 2, (3 * scale) ** 2])
    means, roots, evidence = [], [], []
    for b in _POWERS:
        x = np.column_stack([np.ones(len(labels)), -((labels / labels[0]) ** -b)])
        spread = x @ prior @ x.T + noise**2 * np.eye(len(x))
        off = value - x @ centre
        gain = np.linalg.solve(spread, x @ prior).T
        covariance = prior - gain @ x @ prior
        means.append(centre + gain @ off)
        roots.append(np.linalg.cholesky((covariance + covariance.T) / 2 + 1e-14 * np.eye(2)))
        fit = -0.5 * float(off @ np.linalg.solve(spread, off)) - 0.5 * float(np.linalg.slogdet(spread)[1])
        evidence.append(fit - 0.5 * (np.log(b / 0.6) / 0.5) ** 2)
    which = rng.choice(len(_POWERS), size=_DRAWS, p=softmax(evidence))
    sample = np.stack(means)[which] + np.einsum("nij,nj->ni", np.stack(roots)[which], rng.standard_normal((_DRAWS, 2)))
    drop = np.abs(sample[:, 1])
    b = _POWERS[which]
    return sample[:, 0], drop * labels[0] ** b, b, noise


def _columns(labels: ArrayLike, value: ArrayLike) -> tuple[Floats, Floats]:
    n, v = np.asarray(labels, dtype=np.float64), np.asarray(value, dtype=np.float64)
    if n.shape != v.shape or n.ndim != 1:
        raise InputError(f"labels and values must be two columns of one length, got {n.shape} and {v.shape}")
    kept = np.isfinite(v) & (n > 0)
    order = np.argsort(n[kept], kind="stable")
    return n[kept][order], v[kept][order]


def forecast(
    labels: ArrayLike,
    value: ArrayLike,
    *,
    higher_is_better: bool = True,
    ahead: Sequence[int] = AHEAD,
    target: float | None = None,
    widen: float = 1.0,
    seed: int = 0,
) -> Forecast:
    """The curve ``ahead`` labels after its last point, and when it reaches ``target``.

    ``labels`` (P,) training labels of each point, ``value`` (P,) the metric there; points without a value or without a
    label are skipped. ``widen`` >= 1 stretches the band (see ``back_test``). From 60 labels and 4 spread points on.
    """
    n, v = _columns(labels, value)
    sign = 1.0 if higher_is_better else -1.0
    if len(n) == 0 or n[-1] < FIRST_AT:
        have = int(n[-1]) if len(n) else 0
        return Forecast(points=(), reach=None, reason=f"a forecast starts at {FIRST_AT} labels; there are {have}")
    last, (n, v) = n[-1], _thin(n, sign * v)
    if len(n) < 4:
        return Forecast(points=(), reach=None, reason="too few points on the curve for a forecast")
    limit, a, b, noise = _draws(n, v, np.random.default_rng(seed))
    shake = np.random.default_rng(seed + 1).standard_normal(_DRAWS) * noise
    points = []
    for step in ahead:
        values = limit - a * (last + step) ** -b + shake
        low, middle, high = np.quantile(values, [(1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2])
        low, high = middle - widen * (middle - low), middle + widen * (high - middle)
        ends = sorted([sign * low, sign * high])
        points.append(
            ForecastPoint(labels=int(last + step), value=float(sign * middle), low=float(ends[0]), high=float(ends[1]))
        )
    reach = None if target is None else _reach(limit, a, b, sign * target, target)
    return Forecast(points=tuple(points), reach=reach, widened=widen)


def _reach(limit: Floats, a: Floats, b: Floats, goal: float, target: float) -> LabelsToTarget:
    room = limit - goal
    possible = (room > 0) & (a > 0)
    at = np.full(len(limit), np.inf)
    at[possible] = np.exp(np.minimum(np.log(a[possible] / room[possible]) / b[possible], np.log(10.0 * _MOST_LABELS)))
    at[(room > 0) & (a <= 0)] = 0
    low, middle, high = np.quantile(at, [(1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2], method="inverted_cdf")

    def told(count: float) -> int | None:
        return int(np.ceil(count)) if count <= _MOST_LABELS else None

    return LabelsToTarget(target=target, middle=told(middle), low=told(low), high=told(high))


@dataclass(frozen=True, kw_only=True)
class BackTest:
    """How forecasts made at n did against the value at 2n: ``coverage`` of ``tried`` bands, the ``widen`` to use."""

    tried: int
    coverage: float | None
    widen: float


def back_test(labels: ArrayLike, value: ArrayLike, *, higher_is_better: bool = True) -> BackTest:
    """Repeats the forecast at earlier points of the same project; bands are widened when under 60% of them held.

    ``widen`` is then what would have made 80% of the bands hold.
    """
    n, v = _columns(labels, value)
    misses = []
    for i in range(len(n)):
        j = int(np.searchsorted(n, 2 * n[i]))
        if n[i] < FIRST_AT or j >= len(n):
            continue
        step = int(n[j] - n[i])
        made = forecast(n[: i + 1], v[: i + 1], higher_is_better=higher_is_better, ahead=(step,)).points
        if made:
            side = made[0].high - made[0].value if v[j] > made[0].value else made[0].value - made[0].low
            misses.append(abs(v[j] - made[0].value) / max(side, 1e-12))
    if not misses:
        return BackTest(tried=0, coverage=None, widen=1.0)
    coverage = float(np.mean(np.array(misses) <= 1))
    widen = max(1.0, float(np.quantile(misses, LEVEL))) if coverage < 0.6 else 1.0
    return BackTest(tried=len(misses), coverage=coverage, widen=widen)
