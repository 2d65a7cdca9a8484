"""The instant head: Stage 1 moved by labels within a tenth of a second (science.md section 7).

A logistic model of x = (z0, 1, phi), z0 the Stage-1 logit and phi whitened features, with a prior centred on "Stage 1
as it is". Prior width tau -> 0 is Platt scaling, a large tau a free head; widths are averaged by Laplace evidence.
Soft labels enter as a fractional likelihood times a dispersion: how many independent 0/1 labels one share is worth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax

from elical_core.config import StageConfig
from elical_core.errors import ConfigError, InputError
from elical_core.selection.logistic import Floats, MapFit, fit_map, one_thread, safe_logit

_PREDICT_ROWS = 65_536


@dataclass(frozen=True, kw_only=True)
class InstantHeadConfig(StageConfig):
    """Prior of the head. ``widths``: standard deviations of feature weights that are averaged over."""

    slope_sd: float = 0.5
    intercept_sd: float = 1.0
    widths: tuple[float, ...] = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32)
    weight_floor: float = 0.01
    greedy_minimum: int = 30  # greedy verdicts from which the second intercept is fitted
    greedy_sd: float = 1.0

    def __post_init__(self) -> None:
        self._between("slope_sd", 1e-3, 100)
        self._between("intercept_sd", 1e-3, 100)
        self._between("weight_floor", 0, 0.1)
        self._between("greedy_minimum", 1, 10_000)
        self._between("greedy_sd", 1e-3, 100)
        if not self.widths or min(self.widths) <= 0:
            raise ConfigError(f"widths must be positive and at least one, got {self.widths}")


@dataclass(frozen=True)
class Head:
    """Gaussian posterior of the weights of (z0, 1, phi): ``mean`` (d,) and ``covariance`` (d, d), d = r + 2.

    ``dispersion``: how many 0/1 labels one soft label counts for; ``width_weight`` (widths,) sums to 1;
    ``greedy_shift``: log odds that greedy answers are correct more often than sampled ones, 0 until enough verdicts;
    ``labels``: how many it was fitted on. ``modes`` are kept for warm starts only.
    """

    mean: Floats
    covariance: Floats
    dispersion: float
    width_weight: Floats
    greedy_shift: float
    labels: int
    modes: tuple[Floats, ...] = ()

    @property
    def rank(self) -> int:
        return len(self.mean) - 2

    def logit(self, z0: Floats, features: NDArray[np.floating] | None = None) -> tuple[Floats, Floats]:
        """Mean (n,) and variance (n,) of the logit of the soft target; float32 features are worked on as they are."""
        phi = _features(features, len(z0), self.rank)
        mu = self.mean[0] * z0 + self.mean[1]
        c = self.covariance
        variance = c[0, 0] * z0**2 + 2 * c[0, 1] * z0 + c[1, 1]
        if self.rank:
            kind = phi.dtype
            weights = self.mean[2:].astype(kind)
            root = np.linalg.cholesky(c[2:, 2:] + 1e-12 * np.eye(self.rank)).astype(kind)
            cross = c[2:, :2].astype(kind)
            for first in range(0, len(z0), _PREDICT_ROWS):
                rows = slice(first, first + _PREDICT_ROWS)
                block = phi[rows]
                mu[rows] += block @ weights
                both = block @ cross
                variance[rows] += np.square(block @ root).sum(axis=1) + 2 * (both[:, 0] * z0[rows] + both[:, 1])
        return mu, np.maximum(variance, 0)

    def predict(self, z0: Floats, features: NDArray[np.floating] | None = None, *, greedy: bool = True) -> Floats:
        """(n,) probability that the greedy answer is correct, or with ``greedy=False`` the share of correct samples.

        The weights' uncertainty is averaged over: sigmoid(mu / sqrt(1 + pi s2 / 8)).
        """
        mu, variance = self.logit(z0, features)
        shift = self.greedy_shift if greedy else 0.0
        probability: Floats = expit(mu / np.sqrt(1 + np.pi * variance / 8) + shift)
        return probability


def _features(features: NDArray[np.floating] | None, n: int, rank: int | None = None) -> NDArray[np.floating]:
    if features is None:
        features = np.empty((n, 0))
    if features.ndim != 2 or len(features) != n or (rank is not None and features.shape[1] != rank):
        wanted = f"({n}, {'r' if rank is None else rank})"
        raise InputError(f"features must have the shape {wanted}, got {features.shape}; whiten them with the same map")
    return features


def design(z0: Floats, features: NDArray[np.floating] | None = None) -> Floats:
    """(n, 2 + r) rows (z0, 1, phi) in float64."""
    phi = _features(features, len(z0))
    return np.column_stack([z0, np.ones(len(z0)), phi]).astype(np.float64)


def dispersion_of(p: Floats, y: Floats, samples: Floats) -> float:
    """m = clip(sum p(1-p) / sum (y-p)^2, 1, k) over soft labels (samples > 1), k their mean number of samples.

    1 with fewer than two of them. The residual variance of a hard label is p(1-p), of a share p(1-p)/m: m is what one
    share is worth in hard labels.
    """
    soft = samples > 1
    if soft.sum() < 2:
        return 1.0
    noise = float(np.square(y[soft] - p[soft]).sum())
    k = float(samples[soft].mean())
    return float(np.clip((p[soft] * (1 - p[soft])).sum() / max(noise, 1e-12), 1, k))


def _check(z0: Floats, x: Floats, y: Floats, samples: Floats, weight: Floats) -> None:
    for name, column in (("y", y), ("samples", samples), ("weight", weight)):
        if len(column) != len(z0):
            raise InputError(f"{name} has {len(column)} rows for {len(z0)} labels; align them")
    if not np.isfinite(x).all():
        row = int((~np.isfinite(x)).any(axis=1).argmax())
        raise InputError(f"logit or features are not finite in row {row} (counted from 0); compute them again")
    if not ((y >= 0) & (y <= 1)).all():
        row = int((~((y >= 0) & (y <= 1))).argmax())
        raise InputError(f"a label must lie between 0 and 1, got {y[row]} in row {row}; leave missing labels out")


@one_thread()
def fit_head(
    z0: Floats,
    y: Floats,
    *,
    features: NDArray[np.floating] | None = None,
    samples: ArrayLike = 20,
    weight: ArrayLike = 1.0,
    greedy: Floats | None = None,
    config: InstantHeadConfig | None = None,
    warm: Head | None = None,
) -> Head:
    """Fits the head on n labels, n >= 0: without any it is the prior, without features it is Platt scaling.

    ``z0`` (n,) Stage-1 logits; ``y`` (n,) shares of correct samples, or 0/1; ``features`` (n, r) whitened; ``samples``
    how many answers each label judged, 1 = a hard label; ``weight`` (n,) >= 0; ``greedy`` (n,) 0/1 or NaN, the verdict
    on the greedy answer. ``warm``: an earlier head, which saves time and changes nothing else.
    """
    config = config or InstantHeadConfig()
    x = design(z0, features)
    k, w = (np.broadcast_to(np.asarray(v, dtype=np.float64), z0.shape) for v in (samples, weight))
    _check(z0, x, y, k, w)
    rank = x.shape[1] - 2
    basic = np.array([1 / config.slope_sd**2, 1 / config.intercept_sd**2])
    centre = np.r_[1.0, np.zeros(rank + 1)]
    platt = fit_map(x[:, :2], y, w, prior_mean=centre[:2], precision=basic)
    m = dispersion_of(expit(x[:, :2] @ platt.mean), y, k)
    w = w * np.where(k > 1, m, 1.0)
    widths = config.widths if rank else config.widths[:1]
    modes = warm.modes if warm is not None and len(warm.modes) == len(widths) and warm.rank == rank else ()
    fits: list[MapFit] = []
    for i, width in enumerate(widths):
        precision = np.r_[basic, np.full(rank, width**-2)]
        start = modes[i] if modes else fits[-1].mean if fits else np.r_[platt.mean, np.zeros(rank)]
        fits.append(fit_map(x, y, w, prior_mean=centre, precision=precision, start=start))
    share = softmax([fit.log_evidence for fit in fits])
    share = np.maximum(share, config.weight_floor)
    share = share / share.sum()
    mean = sum(s * fit.mean for s, fit in zip(share, fits, strict=True))
    covariance = sum(
        s * (fit.covariance + np.outer(fit.mean - mean, fit.mean - mean)) for s, fit in zip(share, fits, strict=True)
    )
    head = Head(np.asarray(mean), np.asarray(covariance), m, share, 0.0, len(z0), tuple(fit.mean for fit in fits))
    # 0/1 labels are greedy verdicts already: a shift would count them twice
    shift = _greedy_shift(head, z0, features, greedy, config) if (k > 1).any() else 0.0
    return Head(head.mean, head.covariance, m, share, shift, len(z0), head.modes)


def _greedy_shift(
    head: Head, z0: Floats, features: NDArray[np.floating] | None, greedy: Floats | None, config: InstantHeadConfig
) -> float:
    """Log odds to add for greedy answers, shrunk to 0; 0 with fewer than ``config.greedy_minimum`` verdicts."""
    if greedy is None or (known := np.isfinite(greedy)).sum() < config.greedy_minimum:
        return 0.0
    offset = safe_logit(head.predict(z0, features, greedy=False))[known]
    y, b = greedy[known], 0.0
    for _ in range(30):
        p = expit(offset + b)
        step = ((y - p).sum() - b / config.greedy_sd**2) / ((p * (1 - p)).sum() + 1 / config.greedy_sd**2)
        b += float(np.clip(step, -2, 2))
        if abs(step) < 1e-10:
            break
    return b
