"""When to stop and where the curve is going."""

from dataclasses import replace

import numpy as np
import pytest

from elical_core.errors import ConfigError, InputError
from elical_core.selection.forecast import back_test, forecast
from elical_core.selection.stopping import AdviceKind, Look, StoppingConfig, advise

DONE = Look(train=200, audit=70, gain=0.02, gain_low=0.004, remaining=0.001, next_gain=0.0005, shift=0.004)


def curve(n, seed=0, noise=0.002, limit=0.9, a=0.8, b=0.6):
    labels = np.arange(10, n + 1, 5)
    return labels, limit - a * labels**-b + np.random.default_rng(seed).normal(0, noise, len(labels))


def test_stop_needs_two_looks_in_a_row():
    assert advise([DONE, DONE]).kind is AdviceKind.STOP
    assert "at least 0.0040" in advise([DONE, DONE]).sentence
    assert advise([DONE]).kind is AdviceKind.CONTINUE
    assert advise([replace(DONE, gain_low=-0.1), DONE]).open == ("the second look in a row",)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"audit": 59}, "59 of 60 audit labels"),
        ({"train": 99}, "99 of 100 training labels"),
        ({"gain_low": -0.001}, "at least -0.0010"),
        ({"gain_low": None}, "no gain measured yet"),
        (
            {"remaining": 0.02, "next_gain": 0.01},
            "50% of the reachable gain is left; 100 more labels would bring 0.0100",
        ),
        ({"remaining": None, "next_gain": None}, "not known yet; no forecast yet"),
        ({"shift": 0.02}, "confidences moved by 0.020"),
        ({"shift": None}, "no earlier head"),
    ],
)
def test_each_condition_keeps_it_going_and_is_named(change, words):
    advice = advise([DONE, replace(DONE, **change)])
    assert advice.kind is AdviceKind.CONTINUE
    assert any(words in reason for reason in advice.open)
    assert words in advice.sentence


def test_little_left_or_a_slow_forecast_is_enough():
    assert advise([replace(DONE, next_gain=None)] * 2).kind is AdviceKind.STOP
    assert advise([replace(DONE, remaining=0.5)] * 2).kind is AdviceKind.STOP


def test_futility():
    flat = Look(train=240, audit=60, gain=0.0, gain_low=-0.01, remaining=0.001, next_gain=0.0, shift=0.001)
    advice = advise([flat])
    assert advice.kind is AdviceKind.FUTILE
    assert "already calibrated" in advice.sentence
    assert advise([replace(flat, train=100)]).kind is AdviceKind.CONTINUE
    assert advise([replace(flat, next_gain=0.01)]).kind is AdviceKind.CONTINUE


def test_no_labels():
    assert advise([]).kind is AdviceKind.CONTINUE
    with pytest.raises(ConfigError):
        StoppingConfig(remaining_share=2)


def test_the_forecast_follows_the_curve():
    labels, value = curve(200)
    made = forecast(labels, value, target=0.87)
    assert [p.labels for p in made.points] == [250, 300, 450]
    for p in made.points:
        truth = 0.9 - 0.8 * p.labels**-0.6
        assert p.low < truth < p.high
        assert p.high - p.low < 0.05
    # .9 - .8 n^-.6 = .87 at n = (.8 / .03)^(1 / .6) = 238
    assert made.reach.low <= 238
    assert made.reach.high is None or made.reach.high >= 238
    assert 150 < made.reach.middle < 500


def test_a_falling_metric_is_the_mirror_image():
    labels, value = curve(200)
    up, down = forecast(labels, value), forecast(labels, 1 - value, higher_is_better=False)
    for a, b in zip(up.points, down.points, strict=True):
        assert b.value == pytest.approx(1 - a.value, abs=1e-6)
        assert (b.low, b.high) == (pytest.approx(1 - a.high, abs=1e-6), pytest.approx(1 - a.low, abs=1e-6))


def test_an_unreachable_target_is_censored():
    labels, value = curve(300, noise=0.0005)
    reach = forecast(labels, value, target=0.99).reach
    assert reach.middle is None
    assert reach.high is None


def test_too_early_is_said():
    labels, value = curve(50)
    made = forecast(labels, value)
    assert made.points == ()
    assert "starts at 60 labels; there are 50" in made.reason
    assert forecast([], []).reason
    assert "too few points" in forecast([60, 61], [0.5, 0.5]).reason
    with pytest.raises(InputError, match="one length"):
        forecast([1, 2], [1])


def test_missing_values_and_a_flat_curve_are_fine():
    labels, value = curve(200)
    value[::3] = np.nan
    assert len(forecast(labels, value).points) == 3
    flat = forecast(np.arange(10, 200, 5), np.full(38, 0.8))
    assert flat.points[0].value == pytest.approx(0.8, abs=0.01)


def test_bands_hold_about_as_often_as_they_say():
    held = [
        p.low <= 0.9 - 0.8 * p.labels**-0.6 <= p.high
        for seed in range(60)
        for p in forecast(*curve(120, seed=seed, noise=0.004)).points
    ]
    assert np.mean(held) > 0.7


def test_the_back_test_widens_what_did_not_hold():
    labels, value = curve(400)
    good = back_test(labels, value)
    assert good.tried > 10
    assert good.coverage > 0.6
    assert good.widen == 1
    jump = np.where(labels > 150, value + 0.2, value)
    bad = back_test(labels, jump)
    assert bad.widen > 1
    made, wide = forecast(labels, value), forecast(labels, value, widen=2)
    assert wide.points[0].high - wide.points[0].low == pytest.approx(2 * (made.points[0].high - made.points[0].low))
    assert back_test([10, 20], [0.1, 0.2]).coverage is None
