"""Selective risk: what abstaining on the least confident questions would save."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from app.components.figure import NORMAL, blank, empty
from app.components.palette import estimator_colour, estimator_name


def selective_risk(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, height: int = NORMAL) -> go.Figure:
    """Share of wrong answers among those kept against coverage; ``curves`` maps an estimator to (coverage, risk)."""
    drawn = {name: curve for name, curve in curves.items() if curve[0]}
    if not drawn:
        return empty("No audit labels yet.<br>They show what abstaining would save.", height=height)
    figure = blank(height)
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
