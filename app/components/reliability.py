"""The reliability diagram: is stated confidence true?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from app.components.figure import NORMAL, blank, empty
from app.components.palette import STAGE_1, estimator_colour, estimator_name, faded


@dataclass(frozen=True, kw_only=True)
class Bin:
    """One reliability bin: ``n`` > 0 items of mean confidence and observed accuracy, both in [0, 1]."""

    confidence: float
    accuracy: float
    n: int


def reliability(bins: Mapping[str, Sequence[Bin]], *, height: int = NORMAL) -> go.Figure:
    """Observed accuracy against stated confidence, one line an estimator; dots grow with the number of questions.

    The bars on the diagonal are the noise floor: where 95% of the dots of a perfectly calibrated model would lie, given
    the last estimator's bins (p +- 1.96 sqrt(p (1 - p) / n)).
    """
    drawn = {name: sorted(inside, key=lambda b: b.confidence) for name, inside in bins.items() if inside}
    if not drawn:
        return empty("No audit labels yet.<br>They show whether stated confidence is true.", height=height)
    figure = blank(height)
    floor_x: list[float | None] = []
    floor_y: list[float | None] = []
    for b in list(drawn.values())[-1]:
        half = 1.96 * (b.confidence * (1 - b.confidence) / b.n) ** 0.5
        floor_x += [b.confidence, b.confidence, None]
        floor_y += [max(0.0, b.confidence - half), min(1.0, b.confidence + half), None]
    figure.add_scatter(
        x=floor_x,
        y=floor_y,
        mode="lines",
        line={"color": faded(STAGE_1, 0.25), "width": 14},
        hoverinfo="skip",
        name="noise floor",
        legendrank=2000,
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
