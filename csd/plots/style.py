"""The shared look of all figures: transparent, in the colours of a light page, which csd.theme turns dark.

Titles state a finding, axes name the quantity and its unit, and labels stand beside what they name. Figures do not
zoom: on a phone, a drag scrolls the page.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go

from csd import theme, typeface

DASHES = ("dot", "dash", "solid", "dashdot")
SYMBOLS = ("circle", "square", "triangle-up", "diamond")
FONT_SIZE = 15  # px
TITLE_WIDTH = 44  # characters: what a phone shows of a title in one line
LINE_HEIGHT = 20  # px, of a title
TICKS = 30  # px, of the numbers beside a y axis without a title
AXIS_ENDS = (2, 3.5, 5, 6.5, 8, 10, 12, 20, 30, 50)
UNIT_LINE = {"color": theme.LIGHT_INK, "width": 1.5, "dash": "dot"}
SPEEDUP = "speed-up (×)"


def style(figure: go.Figure, title: str, x_title: str, y_title: str) -> go.Figure:
    """Give a figure the shared look, its title and those of its axes."""
    ink = theme.LIGHT_INK
    axis: dict[str, Any] = {"gridcolor": theme.FIGURE_GRID, "linecolor": ink, "zerolinecolor": theme.FIGURE_GRID}
    lines = textwrap.wrap(title, TITLE_WIDTH) or [""]
    words = {"size": FONT_SIZE}
    across = {"title": {"text": x_title, "font": words, "standoff": 10}, **axis}
    upwards = {"title": {"text": y_title, "font": words, "standoff": 10}, "rangemode": "tozero", **axis}
    look = {
        "template": "none",
        "title": {
            "text": "<br>".join(map(escape, lines)),
            "font": {"size": FONT_SIZE, "weight": 600},
            "x": 0.01,
            "xanchor": "left",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 24},
        },
        "font": {"size": FONT_SIZE, "color": ink, "family": ", ".join(typeface.FAMILIES)},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 62, "r": 18, "t": 26 + LINE_HEIGHT * len(lines), "b": 56},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"},
        "hoverlabel": {"bgcolor": "#27272A", "bordercolor": "#27272A", "font": {"color": "#FAFAFA", "size": FONT_SIZE}},
        "bargap": 0.3,
        "showlegend": False,
        "dragmode": False,
    }
    # Merging the parts in Plotly takes ten times as long as handing it the whole layout.
    drawn = figure.layout.to_plotly_json()
    axes = {name: drawn.get(name, {}) for name in {"xaxis", "yaxis", *drawn} if name[1:5] == "axis"}
    styled = {name: {**own, **(across if name[0] == "x" else upwards)} for name, own in axes.items()}
    return figure.update(layout={**drawn, **look, **styled}, overwrite=True)


def head_axis(figure: go.Figure, text: str) -> None:
    """Write what the y axis counts above it and not beside it, so that the plot begins where its title does."""
    margin = figure.layout.margin
    figure.add_annotation(
        text=escape(text),
        xref="paper",
        x=0,
        xshift=-TICKS,
        xanchor="left",
        yref="paper",
        y=1,
        yshift=4,
        yanchor="bottom",
        showarrow=False,
    )
    figure.update_layout(margin={"l": TICKS, "t": margin.t + LINE_HEIGHT}, title={"x": 0})


def extra_lines(figure: go.Figure) -> int:
    """Height, in px, of the lines of a figure's title after the first."""
    return LINE_HEIGHT * figure.layout.title.text.count("<br>")


def axis_end(values: Sequence[float]) -> float:
    """Where an axis of speed-ups ends: one of a few values, so that it stays while sliders move."""
    most = max(values, default=0.0)
    return next((end for end in AXIS_ENDS if end >= 1.04 * most), 1.1 * most)


def marker(method: str, filled: bool = True, size: int = 12) -> dict[str, Any]:
    """A method's symbol; open where it stands for something that was not measured."""
    look = theme.method_look(method)
    shape = {"symbol": look.symbol if filled else f"{look.symbol}-open", "size": size, "color": look.light}
    return {**shape, "line": {"color": look.light, "width": 0 if filled else 2}}


def whiskers(method: str, value: float, spread: tuple[float, float] | None) -> dict[str, Any]:
    """From the lowest to the highest of several repeats; none where there is one."""
    low, high = spread or (value, value)
    look = {"color": theme.method_look(method).light, "thickness": 2, "width": 6, "visible": spread is not None}
    return {"type": "data", "symmetric": False, "array": [high - value], "arrayminus": [value - low], **look}


def add_unit_line(figure: go.Figure, **options: Any) -> None:
    """A horizontal line at 1, the speed of autoregressive decoding."""
    figure.add_hline(y=1, line=UNIT_LINE, layer="below", **options)


def empty_figure(title: str, reason: str) -> go.Figure:
    """A figure without data that says why there is none."""
    figure = style(go.Figure(), title, "", "")
    text = "<br>".join(textwrap.wrap(reason, TITLE_WIDTH))
    figure.add_annotation(text=text, x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False)
    figure.update_xaxes(visible=False)
    return figure.update_yaxes(visible=False).update_layout(height=220)
