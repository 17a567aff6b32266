"""Bars in rows: for each lane a heading, and below it a named row for each part, labelled at the end of its bar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from csd.plots.style import extra_lines

ROW = 25  # px
EDGES = 112  # px of a figure above and below its rows


@dataclass(frozen=True)
class Bar:
    """A row: a bar from `start` to `end` in a colour, and what is written beside it and shown on hovering."""

    name: str
    start: float
    end: float
    colour: str
    text: str
    hover: str


def grouped_bars(groups: Sequence[tuple[str, Sequence[Bar]]]) -> go.Figure:
    """Horizontal bars under the headings of their groups, the first group on top."""
    figure, names, y = go.Figure(), [], 0
    for heading, bars in groups:
        names += ["", *(escape(bar.name) for bar in bars)]
        figure.add_annotation(
            text=f"<b>{escape(heading)}</b>", x=0, xref="paper", xanchor="left", y=y, showarrow=False
        )  # where there is no bar: beside the names it would take half of a phone
        figure.add_bar(
            name=heading,
            orientation="h",
            y=[y + 1 + i for i in range(len(bars))],
            base=[bar.start for bar in bars],
            x=[bar.end - bar.start for bar in bars],
            width=0.72,
            marker={"color": [bar.colour for bar in bars]},
            text=[bar.text for bar in bars],
            textposition="outside",
            cliponaxis=False,
            customdata=[escape(bar.hover) for bar in bars],
            hovertemplate="%{customdata}<extra></extra>",
        )
        y += 1 + len(bars)
    return figure.update_yaxes(tickvals=list(range(len(names))), ticktext=names, range=[len(names) - 0.4, -0.6])


def shape_rows(figure: go.Figure) -> go.Figure:
    """The height and the axes of a figure with rows, once it has its style."""
    count = len(figure.layout.yaxis.ticktext)
    figure.update_yaxes(automargin=True, showgrid=False, zeroline=False, ticks="", fixedrange=True)
    figure.update_xaxes(nticks=5, tickangle=0)
    return figure.update_layout(height=EDGES + ROW * count + extra_lines(figure), margin={"l": 20, "r": 76})
