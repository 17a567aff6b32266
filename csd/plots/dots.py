"""Dot plots of speed-ups: a row for each lane, in its method's symbol and colour, with whiskers over repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from csd.plots.style import SPEEDUP, UNIT_LINE, axis_end, extra_lines, marker, style, whiskers

ROW = 46  # px: a line for the name and the numbers, and one for the dots
EDGES = 104  # px of a figure above and below its rows


@dataclass(frozen=True)
class Dot:
    """A speed-up; `spread` is the lowest and the highest of several repeats. Open dots stand for something else than
    the measured decoding speed."""

    value: float
    hover: str
    filled: bool = True
    spread: tuple[float, float] | None = None

    @property
    def ends(self) -> tuple[float, float]:
        return self.spread or (self.value, self.value)


@dataclass(frozen=True)
class DotRow:
    """A row with its name and its numbers above the dots, where they have room on a phone as well."""

    name: str
    method: str
    text: str
    dots: tuple[Dot, ...]


def dot_plot(title: str, rows: Sequence[DotRow]) -> go.Figure:
    """The first row on top, and a line at 1: autoregressive decoding."""
    figure = go.Figure()
    end = axis_end([high for row in rows for dot in row.dots for high in dot.ends])
    for y, row in enumerate(rows):
        for dot in row.dots:
            _add_dot(figure, y, row, dot)
        figure.add_annotation(
            text=f"<b>{escape(row.name)}</b>  {escape(row.text)}",
            x=0,
            xref="paper",
            y=y,
            xanchor="left",
            yshift=18,
            showarrow=False,
        )
    style(figure, title, SPEEDUP, "")
    for y in range(len(rows)):  # in pieces, so that it crosses no text
        figure.add_shape(type="line", x0=1, x1=1, y0=y - 0.15, y1=y + 0.3, line=UNIT_LINE, layer="below")
    figure.update_xaxes(range=[0, end], zeroline=False)
    figure.update_yaxes(
        tickvals=list(range(len(rows))), showticklabels=False, range=[len(rows) - 0.6, -0.8], zeroline=False
    )
    return figure.update_layout(height=EDGES + ROW * len(rows) + extra_lines(figure), margin={"l": 20, "r": 24})


def _add_dot(figure: go.Figure, y: int, row: DotRow, dot: Dot) -> None:
    figure.add_scatter(
        name=row.name,
        x=[dot.value],
        y=[y],
        mode="markers",
        marker=marker(row.method, dot.filled, 13 if dot.filled else 18),  # an open one is seen around a filled one
        cliponaxis=False,
        error_x=whiskers(row.method, dot.value, dot.spread),
        hovertemplate=f"{escape(dot.hover)}<extra></extra>",
    )
