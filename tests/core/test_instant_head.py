"""The instant head: its limits, its optimum against scipy, its evidence against integration, its speed."""

import time

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import expit
from threadpoolctl import threadpool_info

from elical_core.errors import ConfigError, InputError
from elical_core.selection.instant_head import Head, InstantHeadConfig, design, dispersion_of, fit_head
from elical_core.selection.logistic import fit_map, log_likelihood, one_thread, safe_logit
from elical_core.selection.whitening import Whitening


def world(n, r=0, seed=0, k=20, spread=2.0, strength=0.3):
    """Stage-1 logits, features, shares of k correct samples and greedy verdicts of a made-up model."""
    rng = np.random.default_rng(seed)
    z0, phi = rng.normal(-0.5, 1.5, n), rng.normal(size=(n, r))
    p = expit(0.8 * z0 - 0.4 + phi @ (strength * rng.normal(size=r)))
    knows = rng.beta(spread * p + 1e-3, spread * (1 - p) + 1e-3)
    return z0, phi.astype(np.float32), rng.binomial(k, knows) / k, (rng.random(n) < knows).astype(float)


def test_without_labels_it_is_stage_1_with_the_prior_s_doubt():
    head = fit_head(np.empty(0), np.empty(0))
    assert head.mean.tolist() == [1.0, 0.0]
    assert head.covariance == pytest.approx(np.diag([0.25, 1.0]))
    assert (head.dispersion, head.greedy_shift, head.labels) == (1.0, 0.0, 0)
    # z0 = 2: variance .25 * 4 + 1 = 2, so sigmoid(2 / sqrt(1 + 2 pi / 8))
    assert head.predict(np.array([2.0])) == pytest.approx(expit(2 / np.sqrt(1 + np.pi / 4)))


def test_the_mode_is_scipy_s():
    z0, phi, y, _ = world(60, 5)
    x, w = design(z0, phi), np.full(60, 2.5)
    prior, precision = np.r_[1.0, np.zeros(6)], np.r_[4.0, 1.0, np.full(5, 25.0)]

    def loss(b):
        return -log_likelihood(x @ b, y, w) + 0.5 * precision @ (b - prior) ** 2

    fit = fit_map(x, y, w, prior_mean=prior, precision=precision)
    best = minimize(loss, prior, method="BFGS", options={"gtol": 1e-9})
    assert fit.mean == pytest.approx(best.x, abs=1e-5)
    assert fit.objective == pytest.approx(-best.fun)


def test_the_evidence_is_the_integral():
    # one weight, wide enough data that Laplace is close: log of the integral of likelihood x prior
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(80, 1)), np.ones(80)
    y = (rng.random(80) < expit(x[:, 0])).astype(float)
    for precision in (0.5, 4.0, 100.0):
        p = np.array([precision])
        fit = fit_map(x, y, w, prior_mean=np.zeros(1), precision=p)

        def density(b, precision=precision):
            eta = x[:, 0] * b
            return np.exp(log_likelihood(eta, y, w) - 0.5 * precision * b * b) * np.sqrt(precision / (2 * np.pi))

        exact = np.log(quad(density, -5, 5, points=[float(fit.mean[0])], limit=200)[0])
        assert fit.log_evidence == pytest.approx(exact, abs=0.02)


def test_a_small_width_is_platt_scaling_and_a_large_one_is_free():
    z0, phi, y, _ = world(200, 8)
    platt = fit_head(z0, y)
    tight = fit_head(z0, y, features=phi, config=InstantHeadConfig(widths=(1e-4,)))
    free = fit_head(z0, y, features=phi, config=InstantHeadConfig(widths=(100.0,)))
    assert tight.mean[:2] == pytest.approx(platt.mean, abs=1e-4)
    assert tight.predict(z0, phi) == pytest.approx(platt.predict(z0), abs=1e-4)
    assert np.abs(free.mean[2:]).max() > 0.1


def test_dispersion_counts_independent_labels():
    rng = np.random.default_rng(1)
    p = rng.uniform(0.2, 0.8, 20_000)
    k = np.full(20_000, 20.0)
    assert dispersion_of(p, rng.binomial(20, p) / 20, k) == pytest.approx(20, rel=0.05)  # samples are independent
    assert dispersion_of(p, (rng.random(20_000) < p).astype(float), k) == pytest.approx(1, rel=0.03)  # all the same
    # beta with concentration 2: variance of a share p(1-p) (1/20 + 19/20 / 3), so m = 1 / (.05 + .3167) = 2.727
    knows = rng.beta(2 * p, 2 * (1 - p))
    assert dispersion_of(p, rng.binomial(20, knows) / 20, k) == pytest.approx(2.727, rel=0.05)
    assert dispersion_of(p, np.round(p), np.ones(20_000)) == 1.0


def test_hard_labels_have_no_dispersion():
    z0, _, _, greedy = world(300)
    assert fit_head(z0, greedy, samples=1).dispersion == 1.0


def test_more_evidence_for_features_that_matter():
    z0, phi, y, _ = world(600, 10, strength=0.5)
    _, noise, _, _ = world(600, 10, seed=9)
    useful, useless = fit_head(z0, y, features=phi), fit_head(z0, y, features=noise)
    widths = np.array(InstantHeadConfig().widths)
    assert useful.width_weight @ widths > 3 * (useless.width_weight @ widths)
    for head in (useful, useless):
        assert head.width_weight.sum() == pytest.approx(1)
        assert head.width_weight.min() >= 0.01 / 1.06


def test_one_gaussian_stands_for_the_mixture():
    z0, phi, y, _ = world(150, 6)
    head = fit_head(z0, y, features=phi)
    parts = [fit_head(z0, y, features=phi, config=InstantHeadConfig(widths=(w,))) for w in InstantHeadConfig().widths]
    exact = sum(s * part.predict(z0, phi) for s, part in zip(head.width_weight, parts, strict=True))
    assert head.predict(z0, phi) == pytest.approx(exact, abs=0.01)


def test_the_logit_variance_is_x_c_x():
    z0, phi, y, _ = world(80, 7)
    head = fit_head(z0, y, features=phi)
    x = design(z0, phi)
    mu, variance = head.logit(z0, phi)
    assert mu == pytest.approx(x @ head.mean, abs=1e-4)
    assert variance == pytest.approx(np.einsum("nd,de,ne->n", x, head.covariance, x), rel=1e-3)


def test_a_warm_start_and_an_undo_are_exact():
    z0, phi, y, greedy = world(120, 12)
    cold = fit_head(z0[:100], y[:100], features=phi[:100], greedy=greedy[:100])
    longer = fit_head(z0, y, features=phi, greedy=greedy, warm=cold)
    undone = fit_head(z0[:100], y[:100], features=phi[:100], greedy=greedy[:100], warm=longer)
    assert undone.mean == pytest.approx(cold.mean, abs=1e-8)
    assert undone.covariance == pytest.approx(cold.covariance, abs=1e-8)
    assert undone.greedy_shift == pytest.approx(cold.greedy_shift, abs=1e-8)


def test_greedy_answers_get_their_own_intercept_from_thirty_verdicts_on():
    rng = np.random.default_rng(0)
    z0 = rng.normal(-1, 1, 400)
    y = rng.binomial(20, expit(z0)) / 20
    greedy = (rng.random(400) < expit(z0 + 1.2)).astype(float)
    head = fit_head(z0, y, greedy=greedy)
    assert head.greedy_shift == pytest.approx(1.2, abs=0.3)
    assert head.predict(z0).mean() == pytest.approx(greedy.mean(), abs=0.02)
    assert head.predict(z0, greedy=False).mean() == pytest.approx(y.mean(), abs=0.02)
    few = np.where(np.arange(400) < 29, greedy, np.nan)
    assert fit_head(z0, y, greedy=few).greedy_shift == 0.0
    assert np.isfinite(fit_head(z0, y, greedy=np.ones(400)).greedy_shift)
    assert fit_head(z0, greedy, samples=1, greedy=greedy).greedy_shift == 0.0


@pytest.mark.parametrize("label", [0.0, 1.0])
@pytest.mark.parametrize("n", [1, 2, 500])
def test_one_class_and_separable_labels_stay_finite(label, n):
    z0, phi, _, _ = world(n, 3)
    head = fit_head(z0 * 50, np.full(n, label), features=phi, greedy=np.full(n, label))
    assert np.isfinite(head.mean).all()
    p = head.predict(z0 * 50, phi)
    assert ((p > 0) & (p < 1)).all() or n == 500
    clean = (z0 > 0).astype(float)
    assert np.isfinite(fit_head(z0 * 50, clean, samples=1).mean).all()


def test_constant_confidence_learns_the_base_rate():
    y = np.r_[np.ones(30), np.zeros(70)]
    head = fit_head(np.zeros(100), y, samples=1)
    assert head.predict(np.zeros(1))[0] == pytest.approx(0.3, abs=0.02)


def test_bad_labels_are_named():
    with pytest.raises(InputError, match="row 1"):
        fit_head(np.zeros(2), np.array([0.5, 1.5]))
    with pytest.raises(InputError, match="not finite in row 0"):
        fit_head(np.array([np.nan, 0.0]), np.array([0.5, 0.5]))
    with pytest.raises(InputError, match="y has 1 rows for 2 labels"):
        fit_head(np.zeros(2), np.zeros(1))
    with pytest.raises(InputError, match="features must have the shape"):
        fit_head(np.zeros(2), np.zeros(2)).predict(np.zeros(2), np.zeros((2, 3), dtype=np.float32))
    with pytest.raises(ConfigError, match="widths"):
        InstantHeadConfig(widths=())


def test_a_weight_of_two_is_the_label_twice():
    z0, _, y, _ = world(40)
    twice = fit_head(np.r_[z0, z0], np.r_[y, y], samples=1)
    assert fit_head(z0, y, samples=1, weight=2).mean == pytest.approx(twice.mean, abs=1e-7)


def test_extreme_confidences_have_finite_logits():
    assert np.isfinite(safe_logit(np.array([0.0, 1.0]))).all()
    assert safe_logit(np.array([0.5]))[0] == 0.0


def test_whitening_makes_unit_variance_and_repeats_itself():
    rng = np.random.default_rng(0)
    raw = (rng.normal(size=(500, 6)) @ rng.normal(size=(6, 10)) + 3).astype(np.float32)
    fit = Whitening.fit(raw, 128)
    white = fit.apply(raw)
    assert white.shape == (500, 6)  # ten columns span six directions
    assert np.cov(white.T, ddof=0) == pytest.approx(np.eye(6), abs=1e-3)
    assert white.mean(axis=0) == pytest.approx(0, abs=1e-3)
    assert Whitening.fit(raw, 3).apply(raw) == pytest.approx(white[:, :3], abs=1e-3)


def test_whitening_of_nothing_much():
    assert Whitening.fit(np.ones((5, 4), dtype=np.float32), 2).apply(np.ones((5, 4), dtype=np.float32)).shape == (5, 0)
    assert Whitening.fit(np.zeros((5, 0), dtype=np.float32), 2).axes.shape == (0, 0)
    with pytest.raises(InputError, match="no features"):
        Whitening.fit(np.empty((0, 4), dtype=np.float32), 2)
    bad = np.ones((5, 4), dtype=np.float32)
    bad[2, 1] = np.nan
    with pytest.raises(InputError, match="first is row 2"):
        Whitening.fit(bad, 2)


def test_labels_help_a_miscalibrated_stage_1():
    z0, phi, y, greedy = world(2000, 16, seed=3, strength=0.4)
    train, rest = slice(0, 250), slice(1000, 2000)
    head = fit_head(z0[train], y[train], features=phi[train], greedy=greedy[train])
    before = np.mean((expit(z0[rest]) - greedy[rest]) ** 2)
    platt = np.mean((fit_head(z0[train], y[train]).predict(z0[rest]) - greedy[rest]) ** 2)
    after = np.mean((head.predict(z0[rest], phi[rest]) - greedy[rest]) ** 2)
    assert after < platt < before


def test_one_thread_is_lifted_by_the_last_one_out():
    def threads():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    before = threads()
    first, second = one_thread(), one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert threads() == {1}
    second.__exit__(None, None, None)
    assert threads() == before


def test_a_thousand_labels_refit_within_a_tenth_of_a_second():
    z0, phi, y, greedy = world(1000, 128)
    times = []
    for _ in range(5):
        begin = time.process_time()  # on one thread this is the wall time of an idle machine
        head = fit_head(z0, y, features=phi, greedy=greedy)
        times.append(time.process_time() - begin)
    assert isinstance(head, Head)
    assert min(times) < 0.1
