"""A dot plot with a row for each kind of prompt and a dot for each lane, named above the first row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from csd import theme
from csd.plots.style import SPEEDUP, UNIT_LINE, axis_end, extra_lines, marker, style, whiskers

ROW, LINE = 40, 20  # px of a row, and of a name above the first
EDGES = 112  # px of a figure above and below its rows


@dataclass(frozen=True)
class LaneDot:
    """A lane's speed-up on one kind; `spread` is the lowest and the highest of several repeats. Of two lanes with one
    method, the second is `again`, and open."""

    kind: str
    name: str
    method: str
    value: float
    spread: tuple[float, float] | None
    again: bool = False


def dots_by_kind(title: str, dots: Sequence[LaneDot]) -> go.Figure:
    """The first kind on top, and a line at 1: autoregressive decoding."""
    figure, kinds = go.Figure(), list(dict.fromkeys(dot.kind for dot in dots))
    for dot in dots:
        _add_dot(figure, kinds.index(dot.kind), dot)
    style(figure, title, SPEEDUP, "")
    figure.add_vline(x=1, line=UNIT_LINE, layer="below")
    heads = {dot.name: (dot.value, kinds.index(dot.kind)) for dot in reversed(dots)} | {"autoregressive": (1.0, 0)}
    for line, (name, (value, row)) in enumerate(sorted(heads.items(), key=lambda head: -head[1][0])):
        _add_name(figure, name, value, row, line)
    figure.update_xaxes(range=[0, axis_end([max(dot.spread or (dot.value,)) for dot in dots])], zeroline=False)
    figure.update_yaxes(
        tickvals=list(range(len(kinds))),
        ticktext=[escape(kind) for kind in kinds],
        range=[len(kinds) - 0.4, -0.5 - LINE * len(heads) / ROW],
        automargin=True,
        zeroline=False,
    )
    height = EDGES + ROW * len(kinds) + LINE * len(heads) + extra_lines(figure)
    return figure.update_layout(height=height, margin={"l": 0, "r": 92}, title={"x": 0})


def _add_name(figure: go.Figure, name: str, value: float, row: int, line: int) -> None:
    """A name above the first row, with a leader down to a dot of its own. The fastest is the lowest, so that no leader
    crosses a name."""
    figure.add_annotation(
        text=escape(name),
        x=value,
        y=row,
        ax=0,
        ay=-24 - LINE * line - ROW * row,
        xanchor="left",
        yanchor="middle",
        showarrow=True,
        arrowhead=0,
        arrowwidth=1,
        arrowcolor=theme.OVERHEAD.light,
        standoff=8,
    )


def _add_dot(figure: go.Figure, y: int, dot: LaneDot) -> None:
    told = f"{dot.kind}, {dot.name}: {dot.value:.2f}×"
    told += f", {dot.spread[0]:.2f} to {dot.spread[1]:.2f}" if dot.spread else ""
    figure.add_scatter(
        name=dot.name,
        x=[dot.value],
        y=[y],
        mode="markers",
        marker=marker(dot.method, not dot.again, 13),
        cliponaxis=False,
        error_x=whiskers(dot.method, dot.value, dot.spread),
        hovertemplate=f"{escape(told)}<extra></extra>",
    )
