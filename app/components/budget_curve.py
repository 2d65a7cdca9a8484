"""The budget curve: what each label bought."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from app.components.figure import NORMAL, blank, empty
from app.components.palette import STAGE_1, TARGET, estimator_colour, estimator_name, faded
from app.components.words import better_word, metric_name

NOTHING_YET = "No measurement yet.<br>Stage 1 appears here once it is trained and some labels are in."


@dataclass(frozen=True, kw_only=True)
class CurvePoint:
    """A metric after ``n_labels`` labels, with its 95% interval where there is one."""

    n_labels: int
    value: float
    low: float | None = None
    high: float | None = None


def budget_curve(
    series: Mapping[str, Sequence[CurvePoint]],
    metric: str,
    *,
    budget: int | None = None,
    target: float | None = None,
    why_empty: str = "",
    height: int = NORMAL,
) -> go.Figure:
    """The metric against labels, one line an estimator (keys: estimator ids), bands are 95% intervals.

    Stage 1 stands at zero labels; the others hang on it by a dotted line, because without labels they are Stage 1.
    """
    drawn = {name: sorted(points, key=lambda p: p.n_labels) for name, points in series.items() if points}
    if not drawn:
        return empty(
            "No measurement yet.<br>Stage 1 appears here once it is trained and some labels are in.", height=height
        )
    figure = blank(height)
    start = drawn.get("stage-1", [None])[0]
    for name, points in drawn.items():
        if len(points) > 1:
            _band(figure, points, estimator_colour(name))
    for name, points in drawn.items():
        if name != "stage-1" and start is not None and points[0].n_labels > start.n_labels:
            figure.add_scatter(
                x=[start.n_labels, points[0].n_labels],
                y=[start.value, points[0].value],
                mode="lines",
                line={"color": estimator_colour(name), "dash": "dot", "width": 1.5},
                hoverinfo="skip",
                showlegend=False,
            )
        _line(figure, name, points)
    _finish(figure, drawn, metric, budget, target)
    return figure


def _band(figure: go.Figure, points: Sequence[CurvePoint], colour: str) -> None:
    inside = [p for p in points if p.low is not None and p.high is not None]
    figure.add_scatter(
        x=[p.n_labels for p in inside] + [p.n_labels for p in reversed(inside)],
        y=[p.high for p in inside] + [p.low for p in reversed(inside)],
        mode="lines",
        fill="toself",
        fillcolor=faded(colour, 0.16),
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
    )


def _line(figure: go.Figure, name: str, points: Sequence[CurvePoint]) -> None:
    alone = len(points) == 1 and points[0].low is not None and points[0].high is not None
    bars = (
        {
            "type": "data",
            "symmetric": False,
            "array": [(p.high or p.value) - p.value for p in points],
            "arrayminus": [p.value - (p.low or p.value) for p in points],
            "width": 5,
            "thickness": 1.5,
        }
        if alone
        else None
    )
    figure.add_scatter(
        x=[p.n_labels for p in points],
        y=[p.value for p in points],
        customdata=[[p.low, p.high] for p in points],
        mode="lines+markers",
        name=estimator_name(name),
        line={"color": estimator_colour(name), "width": 2.5, "dash": "dash" if name == "stage-1" else "solid"},
        marker={"size": 9 if len(points) < 8 else 5, "symbol": "diamond" if name == "stage-1" else "circle"},
        error_y=bars,
        hovertemplate="%{x} labels: <b>%{y:.3f}</b><br>95% %{customdata[0]:.3f} to %{customdata[1]:.3f}",
    )


def _finish(
    figure: go.Figure,
    drawn: Mapping[str, Sequence[CurvePoint]],
    metric: str,
    budget: int | None,
    target: float | None,
) -> None:
    most = max(p.n_labels for points in drawn.values() for p in points)
    right = max(most, min(budget or 0, max(4 * most, 50)), 10)
    figure.update_xaxes(title="labels", range=[-0.03 * right, 1.05 * right])
    figure.update_yaxes(title=f"{metric_name(metric)} ({better_word(metric)})", tickformat=".2f")
    if "stage-1" in drawn and len(drawn["stage-1"]) == 1:
        figure.add_hline(y=drawn["stage-1"][0].value, line={"color": STAGE_1, "dash": "dot", "width": 1})
    if target is not None:
        figure.add_hline(
            y=target, line={"color": TARGET, "width": 1.5}, annotation_text="target", annotation_font_color=TARGET
        )
