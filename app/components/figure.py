"""What all figures share. Heights are fixed, so nothing jumps when data arrives; an empty figure says why it is empty.
Colours come from ``palette`` and mean the same on every page."""

from __future__ import annotations

import plotly.graph_objects as go

from app.components.palette import STAGE_1, faded

CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"], "responsive": True}
SMALL, NORMAL = 230, 380  # pixels


def blank(height: int) -> go.Figure:
    figure = go.Figure()
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 12, "t": 36, "b": 8},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "xanchor": "left", "x": 0, "title": None},
        hovermode="closest",
        showlegend=True,
        xaxis={"zeroline": False, "automargin": True},
        yaxis={"zeroline": False, "automargin": True},
    )
    return figure


def empty(words: str, *, height: int = NORMAL) -> go.Figure:
    """A figure of the usual height that says in words why there is nothing to draw."""
    figure = blank(height)
    figure.update_xaxes(visible=False, range=[0, 1])
    figure.update_yaxes(visible=False, range=[0, 1])
    figure.add_shape(
        type="rect", x0=0, x1=1, y0=0, y1=1, line={"color": faded(STAGE_1, 0.5), "width": 1, "dash": "dot"}
    )
    figure.add_annotation(text=words, x=0.5, y=0.5, showarrow=False, font={"size": 14}, opacity=0.75)
    return figure
