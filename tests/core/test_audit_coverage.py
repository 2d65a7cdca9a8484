"""Intervals hold the truth as often as they say; small simulations here, the full table is made by a command."""

import numpy as np
import pytest

from elical_core.errors import ConfigError
from elical_core.metrics.audit_ece import BinGaps, ece_interval
from elical_core.metrics.coverage import as_markdown, coverage_table, true_values
from elical_core.metrics.intervals import normal_quantile
from elical_core.metrics.sequence import anytime_factor, best_rho, half_width


def test_a_small_coverage_table():
    rows = coverage_table(sizes=(60,), worlds=("even",), labels=("hard",), draws=("uniform",), repeats=60, pool=1000)
    assert {row.metric for row in rows} >= {"auroc", "brier", "ece", "brier_gain", "auroc_gain", "signed_gap"}
    for row in rows:
        assert row.coverage > 0.83, row  # .95 - 4 SE of 60 repeats
        assert row.coverage == pytest.approx(1 - row.below - row.above, abs=0.05)
    assert "| even | hard | uniform | fixed | 60 |" in as_markdown(rows)
    assert rows == coverage_table(
        sizes=(60,), worlds=("even",), labels=("hard",), draws=("uniform",), repeats=60, pool=1000
    )


@pytest.mark.slow
def test_the_coverage_of_every_interval():
    for row in coverage_table(sizes=(60, 250), repeats=200):
        assert row.coverage > 0.89, row
        if row.look == "any":
            assert row.coverage > 0.92, row


def test_bad_requests_are_refused():
    with pytest.raises(ConfigError, match="no world mars"):
        coverage_table(worlds=("mars",))
    with pytest.raises(ConfigError, match="larger"):
        coverage_table(sizes=(100,), pool=50)


def test_the_made_up_stage_1_is_worse_than_the_score():
    assert true_values(0.0)["brier_gain"] > 0
    assert true_values(-2.2)["auroc_gain"] > 0


@pytest.mark.parametrize("gap", [np.zeros(5), np.full(5, 0.1), np.array([0, 0, 0, 0, 0.4])])
def test_the_ece_interval_holds_the_truth(gap):
    rng = np.random.default_rng(0)
    accuracy, n = np.linspace(0.1, 0.5, 5), 20
    held = 0
    for _ in range(200):
        right = rng.binomial(n, accuracy)
        smooth = (right + 0.5) / (n + 1)
        low, high = ece_interval(
            BinGaps(np.full(5, 0.2), accuracy + gap - right / n, smooth * (1 - smooth) / n), redraws=400
        )
        held += low <= np.abs(gap).mean() <= high
    assert held / 200 > 0.89


def test_the_sequence_is_tightest_where_it_is_tuned():
    assert anytime_factor(250) == pytest.approx(1.55, abs=0.01)
    widths = [half_width(t, 1.0, best_rho(250)) / half_width(t, 1.0, best_rho(t)) for t in (60, 250, 1000)]
    assert widths[1] == pytest.approx(1, abs=1e-4)
    assert min(widths) == pytest.approx(1, abs=1e-4)
    # the formula written out: t = 100, s = 2, r = .1 (rho = s r = .2), alpha = .05
    t, s, r = 100, 2.0, 0.1
    written = np.sqrt(2 * (t * s**2 * r**2 + 1) / (t**2 * r**2) * np.log(np.sqrt(t * s**2 * r**2 + 1) / 0.05))
    assert half_width(t, s, s * r) == pytest.approx(written)
    with pytest.raises(ConfigError):
        anytime_factor(0)


def test_looking_after_every_label_stays_valid():
    rng = np.random.default_rng(0)
    z, missed_fixed, missed_any = normal_quantile(), 0, 0
    for _ in range(300):
        draws = rng.normal(size=400)
        t = np.arange(1, 401)
        mean = np.abs(np.cumsum(draws) / t)[59:]
        fixed = z / np.sqrt(t[59:])
        wide = np.array([half_width(k, 1.0, best_rho()) for k in t[59:]])
        missed_fixed += (mean > fixed).any()
        missed_any += (mean > wide).any()
    assert missed_any / 300 < 0.05
    assert missed_fixed / 300 > 0.1
