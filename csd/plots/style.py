"""The shared look of all figures: transparent, readable on light and dark pages.

Bars have the colours and patterns of the levels. Lanes and curves share one colour and differ by dash and marker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from csd import theme

DASHES = ("dot", "dash", "solid", "dashdot")
SYMBOLS = ("circle", "square", "triangle-up", "diamond")
FONT_SIZE = 15  # px
UNIT_LINE = {"color": theme.FIGURE_INK, "width": 1.5, "dash": "dot"}


def style(figure: go.Figure, title: str, x_title: str, y_title: str) -> go.Figure:
    """Give a figure the shared look, its title and those of its axes."""
    grid, line = theme.FIGURE_GRID, theme.FIGURE_INK
    axis: dict[str, Any] = {"gridcolor": grid, "linecolor": line, "zerolinecolor": grid}
    title_font = {"size": FONT_SIZE + 2}
    figure.update_layout(
        template="none",
        title={"text": title, "font": title_font, "x": 0.01, "xanchor": "left", "y": 0.97, "yanchor": "top"},
        font={"size": FONT_SIZE, "color": theme.FIGURE_INK, "family": "Arial, Liberation Sans, sans-serif"},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        margin={"l": 70, "r": 20, "t": 84, "b": 58},
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"},
        hoverlabel={"bgcolor": theme.LIGHT_INK, "font": {"color": theme.LIGHT_GROUND, "size": FONT_SIZE}},
        bargap=0.3,
        showlegend=True,
    )
    figure.update_xaxes(title={"text": x_title}, **axis)
    return figure.update_yaxes(title={"text": y_title}, rangemode="tozero", **axis)


def add_bars(
    figure: go.Figure, name: str, names: Sequence[str], values: Sequence[float], labels: Sequence[str], **options: Any
) -> None:
    """Add one bar per lane, with its value written above it; `options` are plotly's."""
    figure.add_bar(
        name=name, x=list(names), y=list(values), text=list(labels), textposition="outside", cliponaxis=False, **options
    )


def bar_fill(colour: str, shape: str = "") -> dict[str, Any]:
    """A bar's marker: the colour, and over it a pattern where `shape` names one."""
    pattern = {"shape": shape, "bgcolor": colour, "fgcolor": "rgba(255,255,255,0.85)", "size": 8, "solidity": 0.25}
    return {"color": colour, "line": {"color": colour, "width": 1}, **({"pattern": pattern} if shape else {})}


def curve_line(number: int) -> dict[str, Any]:
    """The line of one of several curves: they differ by dash."""
    return {"color": theme.FIGURE_INK, "width": 3, "dash": DASHES[number % len(DASHES)]}


def add_unit_line(figure: go.Figure) -> None:
    """A line at 1, the speed of autoregressive decoding."""
    figure.add_hline(y=1, line=UNIT_LINE)


def empty_figure(title: str, reason: str) -> go.Figure:
    """A figure without data that says why there is none."""
    figure = style(go.Figure(), title, "", "")
    figure.update_layout(showlegend=False)
    figure.add_annotation(text=reason, x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False)
    figure.update_xaxes(visible=False)
    return figure.update_yaxes(visible=False)
