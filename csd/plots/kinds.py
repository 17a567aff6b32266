"""A plot with a group of rows for each kind of prompt, and in it a row for each lane: from 1, autoregressive decoding,
to the lane's speed-up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from csd import theme, typeface
from csd.plots.style import UNIT_LINE, axis_end, marker, style

GAP = 0.7  # rows between two kinds
ABOVE, BELOW = 44, 54  # px of a figure above and below its rows: the names of the lanes, and the axis
SMALL = typeface.SIZES["note"]  # px, of a note
LARGE = typeface.SIZES["text"]  # px, of the number of a lane that wins; the others would run into those above and below
LEAST = 5.0  # where the axis ends at least, so that it seldom changes while rows fill in


@dataclass(frozen=True)
class LaneDot:
    """A lane's speed-up on one kind; `spread` is the lowest and the highest of several repeats, and `wins` says that
    the lane is clearly the fastest there. Of two lanes with one method, the second is `again`, and open."""

    kind: str
    name: str
    method: str
    value: float
    spread: tuple[float, float] | None
    wins: bool = False
    again: bool = False

    @property
    def end(self) -> float:
        return max(self.spread or (self.value,))


def rows_by_kind(
    kinds: Sequence[str], lanes: int, dots: Sequence[LaneDot], x_title: str, notes: Mapping[str, str] | None = None
) -> go.Figure:
    """The first kind on top, each with room for so many lanes, whether they have run or not; as high as the page lets
    it be. `notes` stand below the names of their kinds."""
    figure, block = go.Figure(), max(lanes, 1) + GAP
    names = list(dict.fromkeys(dot.name for dot in dots))
    _add_unit(figure, len(kinds) * block)
    for name in names:
        own = [dot for dot in dots if dot.name == name]
        _add_lane(figure, own, [kinds.index(dot.kind) * block + names.index(name) for dot in own])
    style(figure, "", x_title, "")
    figure.update_xaxes(range=[0, max(LEAST, axis_end([dot.end for dot in dots]))], zeroline=False)
    places = [i * block + (max(lanes, 1) - 1) / 2 for i in range(len(kinds))]
    texts = [_name(kind, (notes or {}).get(kind, "")) for kind in kinds]
    if len(kinds) == 1:  # the rows have the names of their lanes
        places, texts = list(range(len(names))), [_name(name, "") for name in names]
    figure.update_yaxes(
        tickvals=places,
        ticktext=texts,
        range=[len(kinds) * block - GAP, -0.9],
        automargin=True,
        showgrid=False,
        showline=False,
        zeroline=False,
    )
    look = {"orientation": "h", "x": 0, "xref": "container", "y": 1, "yref": "container", "yanchor": "top"}
    margin = {"l": 0, "r": 56, "t": ABOVE, "b": BELOW}
    return figure.update_layout(margin=margin, showlegend=len(kinds) > 1, legend=look)


def _name(kind: str, note: str) -> str:
    """What stands beside a kind's rows; the blanks keep it away from them."""
    below = f'<br><span style="font-size: {SMALL}px">{escape(note)}</span>  ' if note else ""
    return f"<b>{escape(kind)}</b>  {below}"


def _add_unit(figure: go.Figure, rows: float) -> None:
    figure.add_scatter(
        name="autoregressive", x=[1, 1], y=[-0.9, rows], mode="lines", line=UNIT_LINE, hoverinfo="skip", cliponaxis=True
    )


def _add_lane(figure: go.Figure, dots: Sequence[LaneDot], places: Sequence[float]) -> None:
    """Its lines from 1, its symbols with whiskers, and their numbers, bold where the lane wins."""
    one, name = dots[0], escape(dots[0].name)
    colour = theme.method_look(one.method).light
    figure.add_scatter(
        name=name,
        x=[x for dot in dots for x in (1, dot.value, None)],
        y=[y for place in places for y in (place, place, None)],
        mode="lines",
        line={"color": colour, "width": 6},
        opacity=0.28,
        hoverinfo="skip",
        showlegend=False,
    )
    ends = [dot.spread or (dot.value, dot.value) for dot in dots]
    figure.add_scatter(
        name=name,
        x=[dot.value for dot in dots],
        y=list(places),
        mode="markers",
        marker=marker(one.method, not one.again, 13),
        cliponaxis=False,
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [high - dot.value for dot, (_, high) in zip(dots, ends, strict=True)],
            "arrayminus": [dot.value - low for dot, (low, _) in zip(dots, ends, strict=True)],
            "color": colour,
            "thickness": 2,
            "width": 5,
            "visible": any(dot.spread for dot in dots),
        },
        customdata=[_told(dot) for dot in dots],
        hovertemplate="%{customdata}<extra></extra>",
    )
    for dot, place in zip(dots, places, strict=True):
        number = f"{dot.value:.1f}×"
        figure.add_annotation(
            text=f"<b>{number}</b>" if dot.wins else number,
            font={"size": LARGE} if dot.wins else None,
            x=max(dot.end, 1),  # the line at 1 would cross the number of a lane that is slower
            y=place,
            xshift=10,
            xanchor="left",
            yanchor="middle",
            showarrow=False,
        )


def _told(dot: LaneDot) -> str:
    told = f"{dot.kind}, {dot.name}: {dot.value:.2f}×"
    return escape(told + (f", {dot.spread[0]:.2f} to {dot.spread[1]:.2f}" if dot.spread else ""))
