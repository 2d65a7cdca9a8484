"""I-optimal gains against brute force, exact chances, and how the other selectors choose."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elical_core.selection import Pool
from elical_core.selection.covering import BadgeSelector, KCenterSelector
from elical_core.selection.drawing import even_walk_by_chance
from elical_core.selection.extremes import ConflictSelector, UncertaintySelector
from elical_core.selection.rio import (
    RioMixSelector,
    capped,
    gain,
    pool_design,
    prior_covariance,
    remaining_gain,
    rio_chances,
    with_information,
)


def pool_of(n, r=4, seed=0, labelled=100, group=None, **more):
    rng = np.random.default_rng(seed)
    # a tenth of the pool lies far out, where the head is unsure
    features = rng.normal(size=(n, r)) * np.where(rng.random(n) < 0.1, 4, 1)[:, None]
    return Pool(
        confidence=rng.beta(1, 2, n),
        embedding=np.empty((n, 0), dtype=np.float32),
        group=np.arange(n) if group is None else group,
        consistency=np.full(n, np.nan),
        features=features.astype(np.float32),
        labelled=labelled,
        **more,
    )


def parts(pool):
    design = pool_design(pool, np.arange(len(pool)))
    return design, prior_covariance(design.x.shape[1] - 2), design.moment(design.g**2) / len(pool)


def test_the_gain_is_what_one_label_takes_off_the_remaining_error():
    design, c, m = parts(pool_of(40, dispersion=2.5))
    before = remaining_gain(c, m)
    for i, d in enumerate(gain(design, c, m)):
        x = design.x[i].astype(float)
        after = np.linalg.inv(np.linalg.inv(c) + 2.5 * design.g[i] * np.outer(x, x))
        assert d == pytest.approx(before - np.trace(after @ m), rel=1e-3)


def test_information_adds_to_the_precision():
    design, c, _ = parts(pool_of(40))
    information = design.moment(design.g)
    x = design.x.astype(float)
    assert information == pytest.approx(x.T @ (design.g[:, None] * x), rel=1e-4)
    assert with_information(c, information) == pytest.approx(np.linalg.inv(np.linalg.inv(c) + information), rel=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.001, 100), min_size=1, max_size=30), st.floats(0, 1))
def test_capped_chances_keep_their_sum(raw, share):
    total = round(share * len(raw))
    chance = capped(np.array(raw), total)
    assert chance.sum() == pytest.approx(total, abs=1e-6)
    assert chance.max() <= 1
    inside = chance < 1
    if total and inside.sum() > 1:  # what is not capped stays in proportion
        ratio = chance[inside] / np.array(raw)[inside]
        assert ratio.max() == pytest.approx(ratio.min())


def test_unequal_chances_are_exact_and_the_number_is_fixed():
    chance = np.array([1.0, 0.9, 0.5, 0.5, 0.3, 0.3, 0.3, 0.1, 0.1])
    strata = (np.array([0, 0, 0, 1, 1, 1, 2, 2, 2]),)
    seen = np.zeros(9)
    for seed in range(5000):
        picked = even_walk_by_chance(strata, chance, np.random.default_rng(seed))
        assert len(set(picked.tolist())) == 4
        seen[picked] += 1
    assert seen / 5000 == pytest.approx(chance, abs=0.03)  # SE .007


def test_rio_logs_the_true_chance():
    pool = pool_of(40, group=np.r_[np.arange(30), np.repeat([30, 31], 5)])
    rounds, seen, weighted = 3000, np.zeros(40), np.zeros(40)
    for seed in range(rounds):
        drawn = RioMixSelector(clusters=1).draw(pool, 8, np.random.default_rng(seed))
        seen[drawn.index] += 1
        weighted[drawn.index] += 1 / drawn.probability
    # each question's 1 / probability averages to 1, also inside groups, whose members lie apart
    assert weighted / rounds == pytest.approx(np.ones(40), abs=0.35)
    assert weighted.sum() / rounds == pytest.approx(40, rel=0.02)
    assert (seen / rounds).max() > 1.4 * 8 / 32


def test_rio_is_never_far_from_random():
    pool = pool_of(500)
    design, c, _ = parts(pool)
    chance = rio_chances(design, c, 50, focused=25)
    assert chance.sum() == pytest.approx(50)
    assert chance.min() >= 0.5 * 50 / 500 - 1e-9
    assert chance.max() > 2 * 50 / 500


def test_the_first_fifty_are_stratified_only():
    pool = pool_of(500, labelled=0)
    drawn = RioMixSelector(clusters=1).draw(pool, 50, np.random.default_rng(0))
    assert drawn.probability == pytest.approx(0.1)
    later = RioMixSelector(clusters=1).draw(pool_of(500, labelled=50), 50, np.random.default_rng(0))
    assert np.ptp(later.probability) > 0.05


def test_rio_lowers_the_remaining_error_about_as_much_as_picking_one_by_one():
    pool = pool_of(600, r=8)
    design, c0, m = parts(pool)
    x = design.x.astype(float)

    def after(index):
        return remaining_gain(with_information(c0, x[index].T @ (design.information[index, None] * x[index])), m)

    def one_by_one(rng):  # science.md section 8 to the letter: half even, half by D^4 with C updated at each pick
        c, free, picked = c0.copy(), np.ones(len(x), dtype=bool), []
        for i in range(60):
            d = np.where(free, gain(design, c, m) ** 4 if i % 2 else 1.0, 0.0)
            row = rng.choice(len(x), p=d / d.sum())
            free[row] = False
            picked.append(row)
            c = with_information(c, design.information[row] * np.outer(x[row], x[row]))
        return np.array(picked)

    def mean(draw):
        return np.mean([after(draw(np.random.default_rng(seed))) for seed in range(8)])

    rio = mean(lambda rng: RioMixSelector(clusters=1).draw(pool, 60, rng).index)
    exact = mean(one_by_one)
    even = mean(lambda rng: rng.permutation(600)[:60])
    assert rio < even
    assert (even - rio) > 0.75 * (even - exact)


def test_uncertainty_takes_the_middle_and_says_it_does_not_represent():
    pool = pool_of(30)
    drawn = UncertaintySelector().draw(pool, 5, np.random.default_rng(0))
    assert set(drawn.index) == set(np.argsort(np.abs(pool.confidence - 0.5))[:5])
    assert not drawn.representative


def test_equal_scores_have_equal_chances():
    pool = Pool(
        confidence=np.r_[0.5, np.full(9, 0.2)],
        embedding=np.empty((10, 0), dtype=np.float32),
        group=np.arange(10),
        consistency=np.full(10, np.nan),
    )
    drawn = UncertaintySelector().draw(pool, 4, np.random.default_rng(0))
    assert sorted(drawn.probability) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1])


def test_conflict_prefers_confident_and_inconsistent_and_knows_what_is_missing():
    pool = Pool(
        confidence=np.array([0.9, 0.9, 0.2, 0.99]),
        embedding=np.empty((4, 0), dtype=np.float32),
        group=np.arange(4),
        consistency=np.array([0.9, 0.1, 0.1, np.nan]),
    )
    drawn = ConflictSelector().draw(pool, 4, np.random.default_rng(0))
    assert drawn.index.tolist() == [1, 2, 0, 3]  # .81, .18, .09, unknown


def test_k_center_avoids_what_is_labelled():
    points = np.array([[0.0], [0.1], [5.0], [9.0]], dtype=np.float32)
    pool = Pool(
        confidence=np.full(4, 0.5),
        embedding=np.empty((4, 0), dtype=np.float32),
        group=np.arange(4),
        consistency=np.full(4, np.nan),
        features=points,
        labelled_features=np.array([[0.0]], dtype=np.float32),
    )
    assert KCenterSelector().draw(pool, 2, np.random.default_rng(0)).index.tolist() == [3, 2]


def test_badge_spreads_over_clumps():
    rng = np.random.default_rng(0)
    centres = np.array([[10, 0], [-10, 0], [0, 10], [0, -10]])
    pool = Pool(
        confidence=np.full(200, 0.5),
        embedding=np.empty((200, 0), dtype=np.float32),
        group=np.arange(200),
        consistency=np.full(200, np.nan),
        features=(centres[np.arange(200) % 4] + 0.1 * rng.normal(size=(200, 2))).astype(np.float32),
    )
    assert {i % 4 for i in BadgeSelector().draw(pool, 4, rng).index.tolist()} == {0, 1, 2, 3}
