"""Recalibration: cross-fitted, rising, and as simple as the number of labels asks for."""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression

from elical_core.errors import ConfigError, InputError
from elical_core.metrics.brier import brier
from elical_core.metrics.recalibration import METHODS, fit_calibrator, method_for, recalibrate


def overconfident(n, seed=0):
    rng = np.random.default_rng(seed)
    c = rng.random(n)
    return c, (rng.random(n) < expit(0.6 * logit(np.clip(c, 1e-3, 1 - 1e-3)) - 1)).astype(float)


@pytest.mark.parametrize("method", METHODS)
def test_each_method_repairs_and_never_falls(method):
    c, y = overconfident(3000)
    done = recalibrate(c, y, method=method)
    assert brier(done.confidence, y) < brier(c, y) - 0.02
    mapped = fit_calibrator(c, y, method).apply(np.linspace(0, 1, 101))
    assert (np.diff(mapped) >= -1e-12).all()
    assert ((mapped >= 0) & (mapped <= 1)).all()


def test_platt_finds_the_line():
    c, y = overconfident(100_000)
    assert fit_calibrator(c, y, "platt").weights == pytest.approx([-1, 0.6], abs=0.03)


def test_isotonic_is_scikit_learn_s():
    c, y = overconfident(500)
    c = c.round(2)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(c, y)
    at = np.linspace(0, 1, 33)
    assert fit_calibrator(c, y, "isotonic").apply(at) == pytest.approx(theirs.predict(at))


def test_beta_drops_a_falling_direction():
    rng = np.random.default_rng(0)
    c = rng.random(400)
    mapped = fit_calibrator(c, (rng.random(400) < 1 - c).astype(float), "beta").apply(np.linspace(0, 1, 50))
    assert (np.diff(mapped) >= -1e-12).all()


def test_the_method_follows_the_number_of_labels():
    assert [method_for(n) for n in (199, 200, 1999, 2000)] == ["platt", "beta", "beta", "isotonic"]
    c, y = overconfident(2000)
    assert "from 10,000 on it is safe" in recalibrate(c, y).warning
    assert recalibrate(c[:100], y[:100]).warning == ""


def test_an_item_is_not_fitted_on_itself_nor_on_its_duplicates():
    c, y = overconfident(60)
    group = np.arange(60) // 6
    flipped = y.copy()
    flipped[:6] = 1 - flipped[:6]
    before, after = (recalibrate(c, v, group=group).confidence for v in (y, flipped))
    assert after[:6] == pytest.approx(before[:6])
    assert after[6:12] != pytest.approx(before[6:12])


def test_row_order_does_not_matter():
    c, y = overconfident(80)
    mixed = np.random.default_rng(1).permutation(80)
    assert recalibrate(c[mixed], y[mixed]).confidence == pytest.approx(recalibrate(c, y).confidence[mixed])


@pytest.mark.parametrize("answer", [0.0, 1.0])
def test_one_class_and_edges_stay_inside(answer):
    c = np.array([0.0, 0.2, 1.0, 1.0, 0.7, 0.0])
    for method in METHODS:
        mapped = recalibrate(c, np.full(6, answer), method=method).confidence
        assert ((mapped >= 0) & (mapped <= 1)).all()


def test_too_little_is_refused():
    with pytest.raises(InputError, match="at least two items"):
        recalibrate([0.5], [1])
    with pytest.raises(InputError, match="two groups"):
        recalibrate([0.5, 0.6], [1, 0], group=[1, 1])
    with pytest.raises(InputError, match="no labels"):
        fit_calibrator(np.empty(0), np.empty(0), "platt")
    with pytest.raises(ConfigError, match="known are platt"):
        recalibrate([0.5, 0.6], [1, 0], method="magic")
