"""Plotly figures from plain values. Heights are fixed, so nothing jumps when data arrives; the empty figure says why it
is empty. Colours come from ``palette`` and mean the same on every page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from app.components.palette import STAGE_1, TARGET, estimator_colour, estimator_name, faded
from app.components.words import better_word, metric_name

CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"], "responsive": True}
SMALL, NORMAL = 230, 380


@dataclass(frozen=True, kw_only=True)
class CurvePoint:
    """A metric after ``n_labels`` labels, with its 95% interval where there is one."""

    n_labels: int
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class Bin:
    """One reliability bin: ``n`` > 0 items of mean confidence and observed accuracy, both in [0, 1]."""

    confidence: float
    accuracy: float
    n: int


def _figure(height: int) -> go.Figure:
    figure = go.Figure()
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 12, "t": 36, "b": 8},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "xanchor": "left", "x": 0, "title": None},
        hovermode="closest",
        xaxis={"zeroline": False, "automargin": True},
        yaxis={"zeroline": False, "automargin": True},
    )
    return figure


def empty(words: str, *, height: int = NORMAL) -> go.Figure:
    """A figure of the usual height that says in words why there is nothing to draw."""
    figure = _figure(height)
    figure.update_xaxes(visible=False, range=[0, 1])
    figure.update_yaxes(visible=False, range=[0, 1])
    figure.add_annotation(text=words, x=0.5, y=0.5, showarrow=False, font={"size": 14}, opacity=0.75)
    return figure


def budget_curve(
    series: Mapping[str, Sequence[CurvePoint]],
    metric: str,
    *,
    budget: int | None = None,
    target: float | None = None,
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
    figure = _figure(height)
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
        marker={"size": 9, "symbol": "diamond" if name == "stage-1" else "circle"},
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


def reliability(bins: Mapping[str, Sequence[Bin]], *, height: int = NORMAL) -> go.Figure:
    """Observed accuracy against stated confidence, one line an estimator; dots grow with the number of questions.

    The band round the diagonal is the noise floor: where 95% of the dots of a perfectly calibrated model would lie, given
    the last estimator's bin sizes (p +- 1.96 sqrt(p (1 - p) / n)).
    """
    drawn = {name: sorted(inside, key=lambda b: b.confidence) for name, inside in bins.items() if inside}
    if not drawn:
        return empty("No audit labels yet.<br>They show whether stated confidence is true.", height=height)
    figure = _figure(height)
    last = list(drawn.values())[-1]
    half = [1.96 * (b.confidence * (1 - b.confidence) / b.n) ** 0.5 for b in last]
    pairs = list(zip(last, half, strict=True))
    figure.add_scatter(
        x=[b.confidence for b, _ in pairs] + [b.confidence for b, _ in reversed(pairs)],
        y=[min(1, b.confidence + h) for b, h in pairs] + [max(0, b.confidence - h) for b, h in reversed(pairs)],
        fill="toself",
        fillcolor=faded(STAGE_1, 0.14),
        line={"width": 0},
        hoverinfo="skip",
        name="noise floor",
    )
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", line={"color": STAGE_1, "dash": "dot", "width": 1}, showlegend=False
    )
    for name, inside in drawn.items():
        largest = max(b.n for b in inside)
        figure.add_scatter(
            x=[b.confidence for b in inside],
            y=[b.accuracy for b in inside],
            customdata=[b.n for b in inside],
            mode="lines+markers",
            name=estimator_name(name),
            line={"color": estimator_colour(name), "width": 2, "dash": "dash" if name == "stage-1" else "solid"},
            marker={"size": [7 + 11 * (b.n / largest) ** 0.5 for b in inside]},
            hovertemplate="says %{x:.2f}, is <b>%{y:.2f}</b><br>%{customdata} questions",
        )
    figure.update_xaxes(title="stated confidence", range=[-0.03, 1.03], tickformat=".1f")
    figure.update_yaxes(title="observed accuracy", range=[-0.03, 1.03], tickformat=".1f")
    return figure


def selective_risk(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, height: int = NORMAL) -> go.Figure:
    """Share of wrong answers among those kept against coverage; ``curves`` maps an estimator to (coverage, risk)."""
    drawn = {name: curve for name, curve in curves.items() if curve[0]}
    if not drawn:
        return empty("No audit labels yet.<br>They show what abstaining would save.", height=height)
    figure = _figure(height)
    for name, (coverage, risk) in drawn.items():
        figure.add_scatter(
            x=list(coverage),
            y=list(risk),
            mode="lines+markers" if len(coverage) < 4 else "lines",
            name=estimator_name(name),
            line={"color": estimator_colour(name), "width": 2.5, "dash": "dash" if name == "stage-1" else "solid"},
            hovertemplate="answer %{x:.0%} of the questions:<br><b>%{y:.1%}</b> of them wrong",
        )
    figure.update_xaxes(title="share of questions answered", range=[0, 1.02], tickformat=".0%")
    figure.update_yaxes(title="wrong among answered", range=[0, None], rangemode="tozero", tickformat=".0%")
    return figure
