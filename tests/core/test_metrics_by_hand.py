"""Every metric on items few enough to compute on paper; the arithmetic stands beside the number."""

import numpy as np
import pytest
from scipy.stats import beta, spearmanr
from sklearn.metrics import average_precision_score, brier_score_loss, log_loss, roc_auc_score

from elical_core.errors import ConfigError, InputError
from elical_core.metrics import evaluate, evaluate_ranking, evaluate_soft, paired_difference, reliability
from elical_core.metrics.alignment import alignment, best_threshold, majority_baseline, paper_alignment
from elical_core.metrics.auprc import auprc
from elical_core.metrics.auroc import auroc, delong_variance
from elical_core.metrics.brier import brier, brier_parts, brier_skill, nll
from elical_core.metrics.certified import certify
from elical_core.metrics.ece import debiased_squared_error, ece, mce, noise_floor, signed_gap
from elical_core.metrics.intervals import clopper_pearson_upper, newcombe_auroc, wilson
from elical_core.metrics.selective import accuracy_at, aurc, excess_aurc, prr, threshold_for
from elical_core.metrics.smooth_ece import smooth_ece
from elical_core.metrics.soft import soft_floor, soft_mse, spearman


def by_name(found):
    return {m.metric: m for m in found}


def test_auroc_counts_a_tie_as_half():
    # correct .9 .5, wrong .5 .1: pairs (.9,.5) won, (.9,.1) won, (.5,.5) half, (.5,.1) won -> 3.5 / 4
    assert auroc([0.9, 0.5, 0.5, 0.1], [1, 1, 0, 0]) == pytest.approx(0.875)


def test_auroc_takes_any_finite_score_and_one_class_is_undefined():
    assert auroc([-7.0, 2.3, 900.0], [0, 0, 1]) == 1.0
    assert np.isnan(auroc([0.1, 0.9], [1, 1]))
    assert np.isnan(auroc([], []))


def test_delong_by_hand():
    # correct .9 .6 .3, wrong .5 .2. won by each correct: 1, 1, .5 -> var .25/3 (ddof 1: mean .8333,
    # squares .02778 .02778 .11111 sum .16667 / 2 = .08333); lost share of each wrong: .5 loses to 2/3, .2 to 3/3
    # -> var (.6667, 1) = .05556. Sum .08333/3 + .05556/2
    got = delong_variance(np.array([0.9, 0.6, 0.3, 0.5, 0.2]), np.array([1, 1, 1, 0, 0.0]))
    assert got == pytest.approx(0.0833333 / 3 + 0.0555556 / 2, abs=1e-6)


def test_auprc_steps_over_distinct_scores():
    # from the top: .9 (correct) precision 1, recall 1/2; then the tie .5: 2 of 3 correct, recall 1: 1/2*1 + 1/2*2/3
    assert auprc([0.9, 0.5, 0.5], [1, 1, 0]) == pytest.approx(0.5 + 0.5 * 2 / 3)
    # wrong ones from the bottom: the tie .5 holds the only wrong: precision 1/2
    assert auprc([0.9, 0.5, 0.5], [1, 1, 0], wrong=True) == pytest.approx(0.5)
    assert np.isnan(auprc([0.5], [1], wrong=True))


def test_ece_puts_one_in_the_last_bin():
    # bin 9: (|.95 - 1 + 1.0 - 0|) / 2 = .95 / 2
    assert ece([0.95, 1.0], [1, 0]) == pytest.approx(0.475)


def test_confidence_zero_has_a_bin():
    assert ece([0, 0, 1], [1, 0, 1]) == pytest.approx(1 / 3)  # bin 0: gap .5 x 2/3; bin 9: 0
    assert sum(b.count for b in reliability([0, 0, 1], [1, 0, 1])) == 3


@pytest.mark.parametrize("bins", [1, 2, 10, 15, 100])
@pytest.mark.parametrize("mass", [False, True])
def test_all_wrong_at_full_confidence_is_an_error_of_one(bins, mass):
    assert ece(np.ones(100), np.zeros(100), bins, mass=mass) == 1.0


def test_all_wrong_at_full_confidence_in_every_other_measure():
    assert smooth_ece(np.ones(100), np.zeros(100)) == pytest.approx(1.0, abs=0.02)
    assert mce(np.ones(100), np.zeros(100)) == 1.0
    assert signed_gap(np.ones(100), np.zeros(100)) == 1.0
    assert brier(np.ones(100), np.zeros(100)) == 1.0


def test_bin_edges_belong_to_the_upper_bin_despite_rounding():
    # .3 * 10 = 3.0000000000000004 and .7 * 10 = 7.000000000000001 or 6.999...: both are lower edges
    counts = [b.count for b in reliability(np.arange(11) / 10, np.ones(11))]
    assert counts == [1] * 9 + [2]


def test_mass_bins_do_not_split_ties():
    # 2 bins: four .2 lie below the middle (0 of 8), the tie of .6 starts at 4/8 = the second bin
    c, y = [0.2] * 4 + [0.6] * 4, [0, 0, 0, 1, 1, 1, 1, 0]
    assert ece(c, y, 2, mass=True) == pytest.approx(0.5 * abs(0.2 - 0.25) + 0.5 * abs(0.6 - 0.75))
    # all tied: one bin whatever the number asked for
    assert ece([0.5] * 4, [1, 1, 1, 0], 4, mass=True) == pytest.approx(0.25)


def test_debiased_error_by_hand():
    # one bin, c = .5, y = 1, 1, 0, 0: gap 0; residuals -+.5, sample variance 1/3, variance of the mean 1/12
    assert debiased_squared_error([0.5] * 4, [1, 1, 0, 0]) == pytest.approx(-1 / 12)


def test_mce_needs_twenty_items_in_a_bin():
    c, y = [0.05] * 20 + [0.95] * 19, [1] * 10 + [0] * 10 + [0] * 19
    assert mce(c, y) == pytest.approx(0.45)
    assert np.isnan(mce([0.95] * 19, [0] * 19))


def test_noise_floor_is_what_a_calibrated_model_shows():
    rng = np.random.default_rng(0)
    assert noise_floor(rng.random(100)).mean == pytest.approx(0.10, abs=0.02)
    assert noise_floor(rng.random(1000)).mean == pytest.approx(0.03, abs=0.006)
    assert noise_floor([0.0, 1.0]).p95 == 0.0
    assert np.isnan(noise_floor([]).mean)


def test_smooth_ece_at_its_fixed_point():
    # all residuals +.3 at c = .4 (7 of 10 correct): the smoothed curve keeps its sign, so the area is |mean residual|
    assert smooth_ece([0.4] * 10, [1] * 7 + [0] * 3) == pytest.approx(0.3, abs=2e-3)
    assert smooth_ece([0.0, 1.0], [0, 1]) == pytest.approx(0.0, abs=1e-3)


def test_smooth_ece_against_the_integral_written_out():
    rng = np.random.default_rng(3)
    c = rng.random(60)
    y = (rng.random(60) < c**2).astype(float)
    width, t = smooth_ece(c, y), (np.arange(4000) + 0.5) / 4000
    images = np.concatenate([c, -c, 2 - c, 2 + c, c - 2, -2 - c])  # reflections at 0 and 1
    kernel = np.exp(-0.5 * ((t[:, None] - images) / width) ** 2) / (width * np.sqrt(2 * np.pi))
    area = np.abs(kernel @ np.tile(y - c, 6)).mean() / 60
    assert area == pytest.approx(width, abs=2e-3)


def test_brier_and_its_parts():
    # (.2)^2, (.2)^2, (.8)^2, (.2)^2 -> (.04 * 3 + .64) / 4 = .19
    c, y = [0.8, 0.2, 0.2, 0.8], [1, 0, 1, 1]
    assert brier(c, y) == pytest.approx(0.19)
    assert brier_skill(c, y) == pytest.approx(1 - 0.19 / (0.75 * 0.25))
    parts = brier_parts(c, y)
    # bins .2 (accuracy .5) and .8 (accuracy 1): reliability (.3^2 + .2^2)/2, resolution (.25^2 + .25^2)/2
    assert parts.reliability[0] == pytest.approx(0.065)
    assert parts.resolution[0] == pytest.approx(0.0625)
    assert parts.uncertainty[0] == pytest.approx(0.1875)
    assert parts.within[0] == pytest.approx(0.0)


def test_nll_is_clipped_and_the_clipped_are_counted():
    assert nll([0.0, 0.5], [1, 1]) == pytest.approx((-np.log(1e-6) - np.log(0.5)) / 2)
    assert by_name(evaluate([0.0, 0.5], [1, 1], resamples=0))["nll_clipped"].value == 1


def test_risk_coverage_by_hand():
    # order .9 right, .8 wrong, .7 right: risks 0, 1/2, 1/3
    c, y = [0.9, 0.8, 0.7], [1, 0, 1]
    assert aurc(c, y) == pytest.approx((0 + 1 / 2 + 1 / 3) / 3)
    assert excess_aurc(c, y) == pytest.approx((0 + 1 / 2 + 1 / 3) / 3 - (0 + 0 + 1 / 3) / 3)
    assert prr(c, y) == pytest.approx((1 / 3 - 5 / 18) / (1 / 3 - 1 / 9))


def test_ties_are_one_point_on_the_risk_curve():
    assert aurc([0.5, 0.5, 0.5, 0.5], [1, 0, 0, 1]) == pytest.approx(0.5)
    assert prr([0.5, 0.5, 0.5, 0.5], [1, 0, 0, 1]) == pytest.approx(0.0)
    assert accuracy_at([0.9, 0.5, 0.5, 0.1], [1, 1, 0, 0], 0.5) == pytest.approx(2 / 3)  # the tie comes in whole


def test_accuracy_at_coverage():
    c, y = np.arange(10) / 10, [0, 0, 1, 0, 1, 0, 1, 1, 1, 1]
    assert accuracy_at(c, y, 0.5) == pytest.approx(4 / 5)
    assert accuracy_at(c, y, 0.7) == pytest.approx(5 / 7)
    assert accuracy_at(c, y, 1.0) == pytest.approx(0.6)
    with pytest.raises(ConfigError, match="coverage"):
        accuracy_at(c, y, 0)


def test_threshold_for_a_target_accuracy():
    c, y = [0.9, 0.8, 0.7, 0.6], [1, 1, 0, 1]
    found = threshold_for(c, y, 0.75)
    assert (found.threshold, found.coverage, found.accuracy) == (0.6, 1.0, 0.75)
    assert threshold_for(c, y, 0.9).threshold == 0.8
    missed = threshold_for([0.9, 0.1], [0, 1], 0.9)
    assert missed.threshold is None
    assert "50.0% correct at best" in missed.reason


def test_alignment_and_its_threshold():
    c, y = [0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1]
    assert alignment(c, y, 0.5) == 0.5
    # -inf .5, .25 -> 3/4, .5 -> 2/4, .75 -> 3/4, inf 2/4: the lower of the two best
    assert best_threshold(c, y) == pytest.approx(0.25)
    assert best_threshold([0.3, 0.9], [1, 1]) == -np.inf
    assert best_threshold([0.3, 0.9], [0, 0]) == np.inf
    assert majority_baseline([1, 0, 0]) == pytest.approx(2 / 3)
    with pytest.raises(InputError, match="no items"):
        best_threshold([], [])


def test_paper_alignment_splits_20_80():
    found = paper_alignment(np.linspace(0, 1, 50), np.linspace(0, 1, 50) > 0.5)
    assert (found.threshold_items, found.test_items) == (10, 40)
    assert found.alignment > 0.8


def test_certificate_against_the_exact_binomial():
    # 60 kept without an error: P(Bin(60, .05) = 0) = .95^60 = .046 <= .05
    got = certify(np.ones(60), np.ones(60), max_error=0.05, coverages=[1.0])
    assert got.best is not None
    assert got.best.bound == pytest.approx(beta.ppf(0.95, 1, 60))
    refused = certify(np.ones(58), np.ones(58), max_error=0.05, coverages=[1.0])
    assert refused.best is None
    assert "cannot certify" in refused.reason


def test_unavoidable_abstention():
    y = np.r_[np.ones(70), np.zeros(30)]
    got = certify(np.linspace(1, 0, 100), y, max_error=0.1, coverages=[0.5, 1.0])
    assert got.unavoidable == pytest.approx((0.3 - 0.1) / (1 - 0.1))
    assert [p.certified for p in got.points] == [True, False]


def test_soft_targets():
    assert soft_mse([0.5, 0.2], [1.0, 0.2]) == pytest.approx(0.125)
    assert soft_floor([0.5, 0.0], 20) == pytest.approx(0.125 / 19)
    c, a = [0.1, 0.2, 0.2, 0.9], [0.0, 0.5, 0.4, 0.4]
    assert spearman(c, a) == pytest.approx(spearmanr(c, a)[0])
    assert np.isnan(spearman([0.1, 0.2], [0.5, 0.5]))
    found = by_name(evaluate_soft(c, a, 20, resamples=50))
    assert found["spearman"].value == pytest.approx(spearmanr(c, a)[0])


def test_wilson_and_clopper_pearson():
    assert wilson(0, 10)[1] == pytest.approx(0.2775, abs=1e-4)  # z^2 / (n + z^2)
    assert wilson(0, 0) == (0.0, 1.0)
    assert clopper_pearson_upper(0, 60) == pytest.approx(1 - 0.05 ** (1 / 60))
    assert clopper_pearson_upper(3, 3) == 1.0


def test_newcombe_is_defined_at_one():
    low, high = newcombe_auroc(1.0, 10, 10)
    assert high == 1.0
    assert 0.75 < low < 0.95


def test_against_scikit_learn_on_continuous_scores():
    rng = np.random.default_rng(1)
    c = rng.random(500).round(2)
    y = rng.random(500) < c
    assert auroc(c, y) == pytest.approx(roc_auc_score(y, c))
    assert auprc(c, y) == pytest.approx(average_precision_score(y, c))
    assert auprc(c, y, wrong=True) == pytest.approx(average_precision_score(~y, -c))
    assert brier(c, y) == pytest.approx(brier_score_loss(y, c))
    assert nll(c, y) == pytest.approx(log_loss(y, np.clip(c, 1e-6, 1 - 1e-6)))


def test_reliability_bins_hold_means_and_wilson():
    bins = reliability([0.12, 0.18, 0.95], [0, 1, 1])
    assert (bins[1].count, bins[1].confidence, bins[1].accuracy) == (2, pytest.approx(0.15), 0.5)
    assert (bins[1].low, bins[1].high) == wilson(1, 2)
    assert bins[0].accuracy is None


@pytest.mark.parametrize("answer", [0, 1])
def test_one_class_is_explained_and_brier_still_shown(answer):
    found = by_name(evaluate(np.linspace(0.1, 0.9, 30), np.full(30, answer)))
    assert found["auroc"].value is None
    assert "only one class" in found["auroc"].reason
    assert found["brier"].value is not None
    assert found["brier"].low is not None
    assert all(m.value is not None or m.reason for m in found.values())


def test_no_items_and_one_item_are_states_not_crashes():
    for found in (evaluate([], []), paired_difference([], [], []), evaluate_ranking([], []), evaluate_soft([], [], 5)):
        assert found
        assert all(m.value is None and m.reason == "undefined: no items" and m.n == 0 for m in found)
    one = by_name(evaluate([0.7], [1], left_out=3))
    assert one["brier"].value == pytest.approx(0.09)
    assert one["brier"].low is None
    assert one["alignment"].value is None
    assert one["brier"].left_out == 3


def test_bad_values_name_the_rows():
    with pytest.raises(InputError, match=r"2\.3 in row 1 .*evaluate_ranking"):
        evaluate([0.5, 2.3], [1, 0])
    with pytest.raises(InputError, match="confidence is not a finite number in rows 0, 2"):
        evaluate([np.nan, 0.5, np.inf], [1, 0, 1])
    with pytest.raises(InputError, match=r"must be 0 or 1, got 0\.5 in row 1"):
        evaluate([0.5, 0.5], [1, 0.5])
    with pytest.raises(InputError, match="row-aligned"):
        evaluate([0.5, 0.5], [1])
    with pytest.raises(InputError, match="one column"):
        evaluate([[0.5], [0.5]], [1, 0])
    with pytest.raises(InputError, match="group"):
        evaluate([0.5, 0.5], [1, 0], group=["a"])
    with pytest.raises(InputError, match="numbers"):
        evaluate(["high", "low"], [1, 0])
    with pytest.raises(ConfigError, match="resamples"):
        evaluate([0.5, 0.5], [1, 0], resamples=3)


def test_uncalibrated_scores_can_be_ranked_only():
    found = by_name(evaluate_ranking([2.3, 0.1, -4.0], [1, 0, 0]))
    assert found["auroc"].value == 1.0
    assert "ece" not in found
    assert "brier" not in found


def test_paired_difference_is_exact_and_tighter_than_two_intervals():
    rng = np.random.default_rng(2)
    c = rng.random(400)
    y = rng.random(400) < c
    worse = np.clip(c + 0.05, 0, 1)
    both = by_name(paired_difference(c, worse, y))["brier_difference"]
    assert both.value == pytest.approx(brier(c, y) - brier(worse, y))
    alone = by_name(evaluate(c, y))["brier"]
    assert both.high - both.low < (alone.high - alone.low) / 2
    same = by_name(paired_difference(c, c, y))["auroc_difference"]
    assert (same.value, same.low, same.high) == (0, 0, 0)


def test_group_bootstrap_widens_when_near_duplicates_repeat():
    rng = np.random.default_rng(4)
    c = rng.random(60)
    y = (rng.random(60) < c).astype(float)
    once = by_name(evaluate(c, y))["brier"]
    copied = by_name(evaluate(np.tile(c, 5), np.tile(y, 5), group=np.tile(np.arange(60), 5)))["brier"]
    assert copied.value == pytest.approx(once.value)
    assert copied.high - copied.low == pytest.approx(once.high - once.low, rel=0.1)
