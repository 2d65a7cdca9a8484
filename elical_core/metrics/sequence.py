"""Intervals that stay valid when somebody looks after every label: an asymptotic confidence sequence.

Half-width after t labels of standard deviation s (Waudby-Smith and others, 2021; normal mixture):
sqrt(2 (t s^2 r^2 + 1) / (t^2 r^2) log(sqrt(t s^2 r^2 + 1) / alpha)). Written with rho = s r it is s / sqrt(t), the
fixed-n standard error, times a factor of t and rho alone, which applies to any estimate with such an error.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.optimize import minimize_scalar

from elical_core.errors import ConfigError
from elical_core.metrics.intervals import normal_quantile

TUNED_FOR = 250
ALPHA = 0.05


def half_width(t: float, sd: float, rho: float, alpha: float = ALPHA) -> float:
    """Half-width after ``t`` >= 1 labels; ``rho`` > 0 sets where it is tightest."""
    inflated = t * rho * rho + 1
    return float(sd * np.sqrt(2 * inflated / (t * rho) ** 2 * np.log(np.sqrt(inflated) / alpha)))


@lru_cache(maxsize=32)
def best_rho(t: int = TUNED_FOR, alpha: float = ALPHA) -> float:
    """The rho that makes the sequence tightest at ``t`` labels."""
    found = minimize_scalar(
        lambda log_rho: half_width(t, 1.0, np.exp(log_rho), alpha), bounds=(-8, 2), method="bounded"
    )
    return float(np.exp(found.x))


def anytime_factor(n: int, *, tuned_for: int = TUNED_FOR, alpha: float = ALPHA) -> float:
    """How many times wider than the fixed-n interval at ``n`` >= 1 labels; about 1.55 at ``tuned_for``."""
    if n < 1:
        raise ConfigError(f"an interval needs at least one label, got {n}")
    fixed = normal_quantile(1 - alpha) / np.sqrt(n)
    return float(half_width(n, 1.0, best_rho(tuned_for, alpha), alpha) / fixed)
