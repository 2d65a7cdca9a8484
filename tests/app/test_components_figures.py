"""Figures from plain values: what is drawn, in which colour, and what an empty or one-point figure says."""

from __future__ import annotations

import pytest

from app.components.budget_curve import CurvePoint, budget_curve
from app.components.figure import NORMAL, SMALL
from app.components.palette import CALIBRATED, INSTANT_HEAD, STAGE_1, TARGET, estimator_colour, faded
from app.components.reliability import Bin, reliability
from app.components.selective_risk import selective_risk

STAGE_1_POINT = CurvePoint(n_labels=0, value=0.74, low=0.70, high=0.78)


def test_colours_mean_the_same_everywhere() -> None:
    assert [estimator_colour(e) for e in ("stage-1", "instant-head", "calibrated")] == [
        STAGE_1,
        INSTANT_HEAD,
        CALIBRATED,
    ]
    assert faded("#102030", 0.5) == "rgba(16,32,48,0.5)"


def test_curve_starts_with_stage_1_at_zero_and_hangs_the_others_on_it() -> None:
    points = [CurvePoint(n_labels=n, value=v, low=v - 0.03, high=v + 0.03) for n, v in ((100, 0.80), (50, 0.77))]
    figure = budget_curve({"stage-1": [STAGE_1_POINT], "calibrated": points}, "auroc", target=0.85)
    by_name = {trace.name: trace for trace in figure.data if trace.name}
    assert tuple(by_name["Stage 1"].x) == (0,)
    assert tuple(by_name["Stage 2 (LoRA)"].x) == (50, 100)  # sorted by labels
    assert by_name["Stage 2 (LoRA)"].line.color == CALIBRATED
    hanging = [trace for trace in figure.data if trace.line.dash == "dot" and trace.showlegend is False]
    assert [tuple(trace.x) for trace in hanging] == [(0, 50)]
    assert any(shape.y0 == 0.85 and shape.line.color == TARGET for shape in figure.layout.shapes)
    assert "higher is better" in figure.layout.yaxis.title.text


def test_one_point_has_its_interval_as_bars() -> None:
    figure = budget_curve({"stage-1": [STAGE_1_POINT]}, "auroc")
    (trace,) = figure.data
    assert trace.error_y.array[0] == pytest.approx(0.04)
    assert trace.error_y.arrayminus[0] == pytest.approx(0.04)


@pytest.mark.parametrize(
    "figure", [budget_curve({}, "auroc"), budget_curve({"stage-1": []}, "ece"), reliability({}), selective_risk({})]
)
def test_empty_figures_keep_their_height_and_say_why(figure) -> None:
    assert figure.layout.height == NORMAL
    assert not figure.data
    assert "yet" in figure.layout.annotations[0].text


def test_small_empty_curve_is_small() -> None:
    assert budget_curve({}, "auroc", height=SMALL).layout.height == SMALL


def test_reliability_noise_floor_by_hand() -> None:
    # p = .5, n = 100: 1.96 * sqrt(.25 / 100) = .098
    figure = reliability({"stage-1": [Bin(confidence=0.5, accuracy=0.3, n=100)]})
    floor = next(trace for trace in figure.data if trace.name == "noise floor")
    assert list(floor.y)[:2] == pytest.approx([0.402, 0.598])


def test_selective_risk_draws_one_line_an_estimator() -> None:
    figure = selective_risk({"stage-1": ([0.5, 1.0], [0.1, 0.3]), "calibrated": ([], [])})
    assert [trace.name for trace in figure.data] == ["Stage 1"]
