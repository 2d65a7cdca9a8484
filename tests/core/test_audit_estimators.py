"""Pool estimates: the formulas against brute force on tiny pools, and unbiasedness under unequal draws."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elical_core.errors import InputError
from elical_core.metrics.audit import (
    Linear,
    alignment_loss,
    audit_of,
    bias_loss,
    brier_loss,
    difference,
    mean_of,
)
from elical_core.metrics.audit_auroc import auroc_gain_of, auroc_loss, auroc_of, pseudo_auroc
from elical_core.metrics.audit_ece import BinGaps, bin_gaps, chi_square_interval, ece_interval, ece_of
from elical_core.metrics.audit_report import audit_measures, mean_interval, streams_disagree
from elical_core.metrics.auroc import auroc, delong_variance
from elical_core.metrics.brier import brier
from elical_core.metrics.crossfit import covariates_of, cross_fit, folds_of
from elical_core.metrics.ece import ece


def world(n, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 1.5, n)
    return np.clip(p + rng.normal(0, 0.15, n), 0.01, 0.99), (rng.random(n) < p).astype(float), p


def test_a_fully_labelled_pool_is_the_plain_metric():
    s, y, _ = world(200)
    audit = audit_of(s, np.arange(200), y)
    assert mean_of(audit, brier_loss(s)).value == pytest.approx(brier(s, y))
    assert mean_of(audit, bias_loss(s)).value == pytest.approx((s - y).mean())
    assert mean_of(audit, alignment_loss(s, 0.5)).value == pytest.approx(((s >= 0.5) == (y == 1)).mean())
    assert auroc_of(audit, s).value == pytest.approx(auroc(s, y))
    assert ece_of(audit, s).value == pytest.approx(ece(s, y, 10, mass=True))


def test_at_lam_one_it_is_the_pseudo_outcome_mean():
    # yt = m + xi / pi (y - m); Brier = mean[s^2 - (2 s - 1) yt]
    s, y, _ = world(400)
    rows = np.random.default_rng(1).permutation(400)[:80]
    audit = audit_of(s, rows, y[rows], control=False)
    m = np.clip(s * 0.9, 0, 1)
    yt = m.copy()
    yt[rows] += audit.weight * 400 * (y[rows] - m[rows])
    spec = np.mean(s**2 - (2 * s - 1) * yt)
    f = brier_loss(s).a + brier_loss(s).b * m
    mine = f.mean() + audit.weight @ ((s[rows] - y[rows]) ** 2 - f[rows])
    assert mine == pytest.approx(spec)
    t = 0.4
    spec = np.mean(np.where(s >= t, yt, 1 - yt))
    loss = alignment_loss(s, t)
    assert np.mean(loss.a + loss.b * yt) == pytest.approx(spec)
    assert np.mean(bias_loss(s).a + bias_loss(s).b * yt) == pytest.approx(np.mean(s - yt))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.floats(-2, 3)), min_size=2, max_size=12))
def test_pseudo_auroc_is_the_double_sum(items):
    s, yt = np.array([a for a, _ in items], dtype=float), np.array([b for _, b in items])
    top = bottom = 0.0
    for i, j in itertools.permutations(range(len(s)), 2):
        pair = yt[i] * (1 - yt[j])
        top += pair * ((s[i] > s[j]) + 0.5 * (s[i] == s[j]))
        bottom += pair
    if bottom > 1e-6:
        assert pseudo_auroc(s, yt) == pytest.approx(top / bottom, rel=1e-6, abs=1e-9)
    elif bottom < 0:
        assert np.isnan(pseudo_auroc(s, yt))


def test_the_influence_function_is_the_derivative():
    # th(w) for weights w on labels: d th / d w_i at equal weights equals psi_i / n (psi has mean 0)
    s, y, _ = world(40)
    audit = audit_of(s, np.arange(40), y, control=False)
    theta, psi = auroc_loss(s, audit)
    values = psi.a + psi.b * y
    assert theta == pytest.approx(auroc(s, y))
    assert values.mean() == pytest.approx(0, abs=1e-12)

    def weighted(w):
        right, wrong = w * y, w * (1 - y)
        k = (s[:, None] > s) + 0.5 * (s[:, None] == s)
        return right @ k @ wrong / (right.sum() * wrong.sum())

    for i in range(0, 40, 7):
        w = np.ones(40)
        w[i] += 1e-5
        assert (weighted(w) - theta) / 1e-5 * 40 == pytest.approx(values[i], abs=2e-3)


def test_the_auroc_error_is_delong_s_without_a_control():
    s, y, _ = world(300)
    audit = audit_of(s, np.arange(300), y, design_score=np.zeros(300), control=False)
    assert auroc_of(audit, s).se ** 2 == pytest.approx(delong_variance(s, y), rel=0.03)


@pytest.mark.parametrize("control", [False, True])
def test_unequal_draws_do_not_bias_the_estimates(control):
    size, n, rounds = 600, 80, 300
    s, _, p = world(size, 3)
    chance = np.where(s > 0.5, 3.0, 1.0)
    chance *= n / chance.sum()
    truth = {"brier": np.mean(s**2 + (1 - 2 * s) * p), "bias": np.mean(s - p), "auroc": pseudo_auroc(s, p)}
    found = {name: [] for name in truth}
    for seed in range(rounds):
        rng = np.random.default_rng(seed)
        y = (rng.random(size) < p).astype(float)
        rows = np.flatnonzero(rng.random(size) < chance)
        audit = audit_of(s, rows, y[rows], probability=chance[rows], control=control)
        found["brier"].append(mean_of(audit, brier_loss(s)).value)
        found["bias"].append(mean_of(audit, bias_loss(s)).value)
        found["auroc"].append(auroc_of(audit, s).value)
    for name, values in found.items():
        error = np.std(values) / np.sqrt(rounds)
        assert abs(np.mean(values) - truth[name]) < 4 * error + 0.004, name
    naive = np.mean([np.mean((s[s > 0.5] - p[s > 0.5]) ** 2)])
    assert np.isfinite(naive)


def test_a_good_covariate_narrows_the_interval():
    rng = np.random.default_rng(0)
    s, y, _ = world(3000)
    knows = (y + rng.normal(0, 0.2, 3000))[:, None]
    rows = rng.permutation(3000)[:200]
    plain = mean_of(audit_of(s, rows, y[rows], control=False), bias_loss(s))
    helped = mean_of(audit_of(s, rows, y[rows], covariates=knows), bias_loss(s))
    assert helped.tuning > 0.5
    assert helped.se < 0.6 * plain.se
    assert abs(helped.value - (s - y).mean()) < abs(plain.value - (s - y).mean()) + 0.02


def test_a_useless_covariate_is_switched_off():
    rng = np.random.default_rng(0)
    s, y = np.full(500, 0.5), (rng.random(500) < 0.5).astype(float)
    audit = audit_of(s, np.arange(100), y[:100], covariates=rng.normal(size=(500, 1)))
    assert mean_of(audit, brier_loss(s)).tuning < 0.3


def test_cross_fitting_never_uses_the_label_it_predicts():
    s, y, _ = world(60)
    rows = np.arange(50)
    fold = folds_of(rows)
    x = covariates_of(s)
    before = cross_fit(x, rows, y[:50], np.ones(50), fold)
    flipped = y[:50].copy()
    flipped[7] = 1 - flipped[7]
    after = cross_fit(x, rows, flipped, np.ones(50), fold)
    assert after.pool[fold[7]] == pytest.approx(before.pool[fold[7]])
    assert after.pool[(fold[7] + 1) % 5] != pytest.approx(before.pool[(fold[7] + 1) % 5])


def test_near_duplicates_share_a_fold():
    fold = folds_of(np.arange(12), np.arange(12) // 3)
    assert all(len(set(fold[3 * g : 3 * g + 3].tolist())) == 1 for g in range(4))


def test_missing_covariates_count_as_average():
    x = covariates_of(np.array([0.2, 0.5, 0.8]), np.array([[1.0], [np.nan], [3.0]]))
    assert x[1, 1] == 0
    assert x[0, 1] == -x[2, 1]


def test_bin_gaps_by_hand():
    # 4 bins of one question each; bins without a label join their lower neighbour
    s, rows, y = np.array([0.1, 0.3, 0.6, 0.9]), np.array([0, 2]), np.array([0.0, 1.0])
    gaps = bin_gaps(audit_of(s, rows, y, control=False), s, bins=4)
    assert gaps.share == pytest.approx([0.5, 0.5])
    assert gaps.gap == pytest.approx([0.2 - 0, 0.75 - 1])


def test_the_ece_interval_is_zero_based_without_a_gap_and_narrower_than_chi_square():
    none = BinGaps(np.full(5, 0.2), np.array([0.05, -0.04, 0.03, -0.05, 0.02]), np.full(5, 0.01))
    low, high = ece_interval(none)
    assert low == 0
    assert high < chi_square_interval(none, 11.07)[1]
    clear = BinGaps(np.full(5, 0.2), np.full(5, 0.3), np.full(5, 0.001))
    low, high = ece_interval(clear)
    assert 0.26 < low < 0.3 < high < 0.34


def test_paired_gain_is_the_difference_and_tighter():
    s, y, _ = world(500)
    base = np.clip(s + 0.2, 0, 1)
    rows = np.arange(0, 500, 4)
    audit = audit_of(s, rows, y[rows], control=False)
    gain = mean_of(audit, difference(brier_loss(base), brier_loss(s)))
    alone = [mean_of(audit, brier_loss(c)) for c in (base, s)]
    assert gain.value == pytest.approx(alone[0].value - alone[1].value)
    assert gain.se < np.hypot(alone[0].se, alone[1].se)
    assert auroc_gain_of(audit, s, s).value == 0
    assert auroc_gain_of(audit, s, s).se == 0


@pytest.mark.parametrize("answer", [0.0, 1.0])
def test_report_states(answer):
    s, y, _ = world(50)
    empty = audit_measures(s, np.empty(0, dtype=int), np.empty(0), baseline=s, left_out=4)
    assert all(m.value is None and m.reason and m.left_out == 4 for m in empty)
    one = {m.metric: m for m in audit_measures(s, np.array([3]), np.array([answer]), baseline=s)}
    assert one["brier"].value == pytest.approx((s[3] - answer) ** 2)
    assert one["brier"].low is None
    assert "only one class" in one["auroc"].reason
    same = {m.metric: m for m in audit_measures(s, np.arange(30), np.full(30, answer), baseline=s)}
    assert same["auroc"].value is None
    assert same["auroc_gain"].value is None
    assert same["brier"].low is not None
    few = {m.metric: m for m in audit_measures(s, np.arange(30), y[:30], baseline=s**2)}
    assert all(m.low <= m.value <= m.high for m in few.values() if m.metric != "brier")
    assert "rarer class" in few["auroc"].method
    for m in audit_measures(s, np.arange(30), y[:30], baseline=s**2, anytime=True):
        inner = few[m.metric]
        assert m.high - m.low >= inner.high - inner.low - 1e-9
        assert "any look" in m.method


def test_constant_confidence_is_a_state():
    s = np.full(100, 0.3)
    y = (np.arange(100) % 3 == 0).astype(float)
    found = {m.metric: m for m in audit_measures(s, np.arange(60), y[:60])}
    assert found["auroc"].value == pytest.approx(0.5)
    assert found["ece"].value == pytest.approx(abs(0.3 - y[:60].mean()))


def test_impossible_labels_are_refused():
    s, y, _ = world(10)
    with pytest.raises(InputError, match="distinct"):
        audit_of(s, np.array([1, 1]), y[:2])
    with pytest.raises(InputError, match="distinct"):
        audit_of(s, np.array([10]), y[:1])
    with pytest.raises(InputError, match="above 0"):
        audit_of(s, np.array([1, 2]), y[:2], probability=np.array([0.5, 0.0]))
    with pytest.raises(InputError, match="row-aligned"):
        audit_of(s, np.array([1, 2]), y[:1])


def test_disagreeing_streams_are_named():
    s, y, _ = world(100)
    a = mean_of(audit_of(s, np.arange(100), y), brier_loss(s))
    assert streams_disagree(a, a) == ""
    assert "look for questions" in streams_disagree(a, a.of(a.value + 10 * a.se))


def test_a_skewed_loss_moves_its_interval_up():
    y = np.r_[np.ones(3), np.zeros(57)]
    s = np.full(60, 0.05)
    estimate = mean_of(audit_of(s, np.arange(60), y, control=False), brier_loss(s))
    low, high = mean_interval(estimate, 59)
    assert estimate.skewness > 0
    assert high - estimate.value > estimate.value - low


def test_half_a_million_scores_in_a_tenth_of_a_second():
    rng = np.random.default_rng(0)
    s = rng.random(560_000)
    rows = rng.permutation(560_000)[:250]
    audit = audit_of(s, rows, (rng.random(250) < s[rows]).astype(float), control=False)
    times = []
    for _ in range(3):
        begin = time.process_time()
        auroc_of(audit, s)
        times.append(time.process_time() - begin)
    assert min(times) < 0.3
    assert mean_of(audit, Linear(s, np.zeros(len(s)))).value == pytest.approx(0.5, abs=0.02)
