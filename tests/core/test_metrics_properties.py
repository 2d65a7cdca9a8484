"""What must hold for any items: row order, copies, monotone maps, and agreement with slow definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from elical_core.metrics import evaluate, paired_difference, reliability
from elical_core.metrics.alignment import alignment, best_threshold
from elical_core.metrics.auprc import auprc
from elical_core.metrics.auroc import auroc
from elical_core.metrics.brier import brier, brier_parts
from elical_core.metrics.ece import ece
from elical_core.metrics.selective import aurc
from elical_core.metrics.smooth_ece import smooth_ece

item = st.tuples(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.7, 1.0])), st.booleans())
items = st.lists(item, min_size=1, max_size=40)


def columns(drawn):
    return np.array([c for c, _ in drawn]), np.array([y for _, y in drawn], dtype=float)


@settings(max_examples=30, deadline=None)
@given(items, st.randoms(use_true_random=False))
def test_row_order_changes_nothing_at_all(drawn, shuffler):
    rows = list(enumerate(drawn))
    shuffler.shuffle(rows)
    mixed, group = [d for _, d in rows], np.array([i // 2 for i, _ in rows])
    assert evaluate(*columns(drawn), resamples=60) == evaluate(*columns(mixed), resamples=60)
    ordered = np.arange(len(drawn)) // 2
    assert evaluate(*columns(drawn), group=ordered, resamples=60) == evaluate(
        *columns(mixed), group=group, resamples=60
    )
    c, y = columns(drawn)
    c2, y2 = columns(mixed)
    assert paired_difference(c, c**2, y, resamples=60) == paired_difference(c2, c2**2, y2, resamples=60)
    assert reliability(c, y) == reliability(c2, y2)


@settings(max_examples=100, deadline=None)
@given(items)
def test_copying_every_item_keeps_the_values(drawn):
    c, y = columns(drawn)
    c2, y2 = np.tile(c, 3), np.tile(y, 3)
    for metric in (ece, brier, aurc, auroc, auprc, smooth_ece):
        assert metric(c2, y2) == pytest.approx(metric(c, y), nan_ok=True, abs=1e-5)
    assert ece(c2, y2, mass=True) == pytest.approx(ece(c, y, mass=True), abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(items)
def test_bins_lose_nobody_and_errors_stay_in_range(drawn):
    c, y = columns(drawn)
    assert sum(b.count for b in reliability(c, y, 15)) == len(c)
    for value in (ece(c, y), ece(c, y, 15), ece(c, y, mass=True), smooth_ece(c, y), brier(c, y)):
        assert -1e-9 <= value <= 1 + 1e-9
    assert ece(c, y) >= abs(c.mean() - y.mean()) - 1e-9  # one bin is the least that bins can show
    parts = brier_parts(c, y)
    total = parts.reliability - parts.resolution + parts.uncertainty + parts.within
    assert total[0] == pytest.approx(brier(c, y), abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=2, max_size=40))
def test_ranking_ignores_monotone_maps_and_agrees_with_pairs(drawn):
    s, y = columns(drawn)
    if y.min() == y.max():
        assert np.isnan(auroc(s, y))
        return
    right, wrong = s[y == 1], s[y == 0]
    won = (right[:, None] > wrong).mean() + 0.5 * (right[:, None] == wrong).mean()
    assert auroc(s, y) == pytest.approx(won)
    assert auroc(s, y) == pytest.approx(roc_auc_score(y, s))
    assert auroc(np.exp(s / 3) - 100, y) == pytest.approx(auroc(s, y))
    assert auroc(-s, y) == pytest.approx(1 - auroc(s, y))
    assert auprc(s, y) == pytest.approx(average_precision_score(y, s))
    assert aurc(3 * s + 1, y) == pytest.approx(aurc(s, y))


@settings(max_examples=100, deadline=None)
@given(items)
def test_the_best_threshold_beats_every_other(drawn):
    c, y = columns(drawn)
    best = alignment(c, y, best_threshold(c, y))
    for t in np.r_[-np.inf, c, np.nextafter(c, np.inf), np.inf]:
        assert alignment(c, y, t) <= best + 1e-12


@settings(max_examples=60, deadline=None)
@given(items)
def test_flipping_both_columns_mirrors_calibration(drawn):
    c, y = columns(drawn)
    assert brier(1 - c, 1 - y) == pytest.approx(brier(c, y))
    assert smooth_ece(1 - c, 1 - y) == pytest.approx(smooth_ece(c, y), abs=2e-3)


def test_intervals_are_the_same_for_the_same_seed_only():
    rng = np.random.default_rng(0)
    c = rng.random(100)
    y = rng.random(100) < c
    assert evaluate(c, y, resamples=100) == evaluate(c, y, resamples=100)
    assert evaluate(c, y, resamples=100) != evaluate(c, y, resamples=100, seed=1)


def test_a_more_confident_estimator_ranks_higher():
    rng = np.random.default_rng(5)
    truth = rng.random(500)
    y = rng.random(500) < truth
    assert auroc(truth, y) > 0.7 > 0.3 > auroc(-truth, y)
