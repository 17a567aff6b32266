"""Acceptance by position in the drafted block, above the number of blocks that it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import sqrt
from statistics import NormalDist

import plotly.graph_objects as go

from csd import theme
from csd.plots import findings
from csd.plots.labels import place_beside
from csd.plots.race import NOTHING_DRAFTED
from csd.plots.style import FONT_SIZE, empty_figure, marker, style
from csd.record import metrics
from csd.record.metrics import AcceptanceCount
from csd.record.race import Race

SURE = 5  # blocks from which on a share is joined by a line; fewer are open symbols
MANY = 24  # positions, from which on their symbols are smaller
Z = NormalDist().inv_cdf(0.975)


def acceptance_by_position(race: Race) -> go.Figure:
    """Share of the blocks that reach a position in which the target accepted the token there, and their number."""
    lanes = [
        (name, trace.header.method, counts)
        for name, trace in zip(race.names, race.traces, strict=True)
        if (counts := metrics.by_position(trace))
    ]
    if not lanes:
        return empty_figure("Acceptance by position in the block", NOTHING_DRAFTED)
    figure = go.Figure()
    for name, method, counts in lanes:
        _add_shares(figure, name, method, counts)
        _add_counts(figure, name, method, counts)
    style(figure, findings.block(race), f"position (open symbols: n < {SURE})", "accepted")
    longest = max(len(counts) for _, _, counts in lanes)
    curves = [(name, [(i, one.rate) for i, one in enumerate(counts, 1)]) for name, _, counts in lanes]
    for (name, _), (x, y, up) in zip(curves, place_beside(curves, longest, 1.0), strict=True):
        figure.add_annotation(text=escape(name), x=x, y=y, yshift=16 if up else -16, showarrow=False)
    axis = {"gridcolor": theme.FIGURE_GRID, "linecolor": theme.LIGHT_INK, "zerolinecolor": theme.FIGURE_GRID}
    figure.update_xaxes(range=[0.4, longest + 0.6], anchor="y2")
    figure.update_yaxes(tickformat=".0%", range=[0, 1.08], dtick=0.25, domain=[0.3, 1])
    below = {
        "domain": [0, 0.19],
        "title": {"text": "blocks", "standoff": 10, "font": {"size": FONT_SIZE}},
        "rangemode": "tozero",
        "nticks": 3,
    }
    return figure.update_layout(height=420, yaxis2={**axis, **below})


def wilson(count: AcceptanceCount) -> tuple[float, float]:
    """The 95 % confidence interval of a share (Wilson, 1927), which is wide where there are few samples."""
    n, p = count.proposed, count.rate
    middle, half = p + Z * Z / (2 * n), Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    return (middle - half) / (1 + Z * Z / n), (middle + half) / (1 + Z * Z / n)


def _add_shares(figure: go.Figure, name: str, method: str, counts: Sequence[AcceptanceCount]) -> None:
    """A line over the positions that at least SURE blocks reach, and a symbol at every position."""
    look, places = theme.method_look(method), range(1, len(counts) + 1)
    shown = [marker(method, count.proposed >= SURE) for count in counts]
    figure.add_scatter(
        name=name,
        x=[place for place, count in zip(places, counts) if count.proposed >= SURE],
        y=[count.rate for count in counts if count.proposed >= SURE],
        mode="lines",
        line={"color": look.light, "width": 2.5},
        hoverinfo="skip",
    )
    figure.add_scatter(
        name=name,
        x=list(places),
        y=[count.rate for count in counts],
        mode="markers",
        marker={
            "symbol": [one["symbol"] for one in shown],
            "size": 9 if len(counts) <= MANY else 6,
            "color": look.light,
            "line": {"color": look.light, "width": 1.5},
        },
        cliponaxis=False,
        customdata=[_told(name, place, count) for place, count in zip(places, counts)],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _add_counts(figure: go.Figure, name: str, method: str, counts: Sequence[AcceptanceCount]) -> None:
    """How many blocks reach each position, as steps."""
    figure.add_scatter(
        name=f"{name}, blocks",
        x=list(range(1, len(counts) + 1)),
        y=[count.proposed for count in counts],
        mode="lines",
        line={"color": theme.method_look(method).light, "width": 2, "shape": "hvh"},
        yaxis="y2",
        hovertemplate=f"{escape(name)}, position %{{x}}: %{{y}} blocks<extra></extra>",
    )


def _told(name: str, place: int, count: AcceptanceCount) -> str:
    low, high = wilson(count)
    share = f"{count.accepted} of {count.proposed} ({count.rate:.0%}, 95% interval {low:.0%} to {high:.0%})"
    return escape(f"{name}, position {place}: {share}")
