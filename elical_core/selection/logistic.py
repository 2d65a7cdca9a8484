"""Penalised logistic regression on shares, by Newton's method.

Only numpy's linear algebra is used: numpy and scipy carry a BLAS each, and two sets of spinning threads made a fit of
25 ms take 700 ms on a busy machine with two cores. Matrices this small are also best left to one thread: see
``one_thread``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

Floats = NDArray[np.float64]
_TOLERANCE = 1e-9
_MAX_STEPS = 50
CLIP = 1e-6


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


class _Inside:
    """How many callers are inside ``one_thread``; the limit is the process's, so the last one out lifts it."""

    lock = Lock()
    count = 0
    limit: AbstractContextManager[object] | None = None


@contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra on one thread: with small matrices and busy cores, waiting for the other thread costs seconds.

    May be nested and entered from several threads.
    """
    with _Inside.lock:
        _Inside.count += 1
        if _Inside.count == 1:
            _Inside.limit = _blas().limit(limits=1)
            _Inside.limit.__enter__()
    try:
        yield
    finally:
        with _Inside.lock:
            _Inside.count -= 1
            if _Inside.count == 0 and _Inside.limit is not None:
                _Inside.limit.__exit__(None, None, None)
                _Inside.limit = None


def safe_logit(probability: NDArray[np.floating]) -> Floats:
    """Log odds of (n,) in [0, 1], clipped to 1e-6 from either end so that 0 and 1 stay finite."""
    p = np.clip(np.asarray(probability, dtype=np.float64), CLIP, 1 - CLIP)
    logit: Floats = np.log(p) - np.log1p(-p)
    return logit


def log_likelihood(eta: Floats, y: Floats, weight: Floats) -> float:
    """sum w [y log p + (1 - y) log(1 - p)] with p = sigmoid(eta); ``y`` in [0, 1]."""
    return float(weight @ (y * eta - np.logaddexp(0, eta)))


@dataclass(frozen=True)
class MapFit:
    """``mean`` (d,) the mode; ``covariance`` (d, d) the inverse of the negative Hessian there; ``objective`` the log
    posterior without constants; ``log_evidence`` its Laplace approximation up to what the data alone set."""

    mean: Floats
    covariance: Floats
    objective: float
    log_evidence: float
    steps: int


def fit_map(
    x: Floats, y: Floats, weight: Floats, *, prior_mean: Floats, precision: Floats, start: Floats | None = None
) -> MapFit:
    """Mode of sum w [y log p + (1-y) log(1-p)] - 1/2 (b - prior_mean)' diag(precision) (b - prior_mean).

    ``x`` (n, d), n may be 0; ``y`` (n,) in [0, 1]; ``weight`` (n,) >= 0; ``precision`` (d,) > 0. Newton with halved
    steps until the step is below 1e-9, so the start changes nothing but the time.
    """
    b = prior_mean.copy() if start is None else start.copy()

    def value(at: Floats) -> float:
        return log_likelihood(x @ at, y, weight) - 0.5 * float(precision @ (at - prior_mean) ** 2)

    current, steps = value(b), 0
    for steps in range(1, _MAX_STEPS + 1):  # noqa: B007  counted for the report
        p = expit(x @ b)
        gradient = x.T @ (weight * (y - p)) - precision * (b - prior_mean)
        step = np.linalg.solve(_hessian(x, weight * p * (1 - p), precision), gradient)
        size = 1.0
        while (there := value(b + size * step)) < current - 1e-12 * abs(current) and size > 1e-8:
            size /= 2
        b, current = b + size * step, there
        if np.abs(size * step).max() < _TOLERANCE:
            break
    p = expit(x @ b)
    hessian = _hessian(x, weight * p * (1 - p), precision)
    covariance = np.linalg.inv(hessian).astype(np.float64)
    log_evidence = current + 0.5 * float(np.log(precision).sum() - np.linalg.slogdet(hessian)[1])
    return MapFit(b, covariance, current, log_evidence, steps)


def _hessian(x: Floats, curvature: Floats, precision: Floats) -> Floats:
    """x' diag(curvature) x + diag(precision), (d, d)."""
    scaled = x * np.sqrt(curvature)[:, None]
    h: Floats = scaled.T @ scaled
    h[np.diag_indices_from(h)] += precision
    return h
