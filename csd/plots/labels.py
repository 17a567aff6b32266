"""Direct labels: each stands at the end of its own curve, and a leader shows which one where they are close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from csd import theme

LINE = 19  # px between two labels
LETTER = 7.5  # px, of a letter in the mean
SIZE = (430.0, 215.0)  # px that a plot is assumed to have
PLACES = 100  # points of a curve that are looked at for its name
LABELS = 122  # px beside a plot, for its labels
AWAY = 16  # px between the end of a curve and its label


@dataclass(frozen=True)
class Label:
    """A curve's name, the point at which it ends, and its colour."""

    text: str
    x: float
    y: float
    colour: str


def unit_label(x: float) -> Label:
    """Names the line at 1, which ends at x."""
    return Label("autoregressive", x, 1.0, theme.LIGHT_INK)


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places at least `gap` apart, in the same order and between `low` and `high`, as near to the given ones as
    possible: the least sum of squares, by pooling neighbours that are too close.
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    pools: list[tuple[float, int]] = []  # mean of a pool's places, each less the room of the labels below; its size
    for rank, i in enumerate(order):
        pools.append((places[i] - rank * gap, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (one, n), (other, m) = pools[-2:]
            pools[-2:] = [((one * n + other * m) / (n + m), n + m)]
    last = max(low, high - (len(places) - 1) * gap)
    free = [min(max(mean, low), last) for mean, size in pools for _ in range(size)]
    found = [0.0] * len(places)
    for rank, i in enumerate(order):
        found[i] = free[rank] + rank * gap
    return found


def add_labels(figure: go.Figure, labels: Sequence[Label], top: float, height: float) -> None:
    """Labels to the right of the ends of curves, over a y axis from 0 to `top` that is `height` px high.

    The leader runs from the end of the curve, so it is right however far the label had to move.
    """
    ends = [height * min(label.y, top) / top for label in labels]
    for label, end, place in zip(labels, ends, spread(ends, LINE, 0, height), strict=True):
        figure.add_annotation(
            text=escape(label.text),
            x=label.x,
            y=min(label.y, top),
            ax=AWAY,
            ay=end - place,
            xanchor="left",
            showarrow=True,
            arrowhead=0,
            arrowwidth=1.5,
            arrowcolor=label.colour,
            standoff=6,
        )


def place_beside(
    curves: Sequence[tuple[str, Sequence[tuple[float, float]]]], across: float, top: float
) -> list[tuple[float, float, bool]]:
    """For the name of each curve, a point of it and whether to write above or below that point.

    The one where the name covers the fewest points and names, as if the plot were SIZE px; `across` and `top` are the
    lengths of its axes.
    """
    scale_x, scale_y = SIZE[0] / across, SIZE[1] / top
    curves = [(text, curve[:: 1 + len(curve) // PLACES]) for text, curve in curves]
    points = [(x * scale_x, y * scale_y) for _, curve in curves for x, y in curve]
    names: list[tuple[float, float]] = []  # centres of the names placed so far
    found = []
    for text, curve in curves:
        half = len(text) * LETTER / 2

        def covered(place: tuple[float, float, bool], half: float = half) -> tuple[float, float]:
            x, y = place[0] * scale_x, place[1] * scale_y + (16 if place[2] else -16)
            outside = max(0.0, half - x) + max(0.0, x + half - SIZE[0]) + max(0.0, 8 - y) + max(0.0, y - SIZE[1])
            hits = sum(abs(px - x) < half + 6 and abs(py - y) < 15 for px, py in points)
            others = sum(abs(px - x) < 2 * half and abs(py - y) < LINE for px, py in names)
            return outside + hits + 20 * others, abs(x - SIZE[0] / 2)

        best = min(((x, y, up) for x, y in curve for up in (True, False)), key=covered)
        names.append((best[0] * scale_x, best[1] * scale_y + (16 if best[2] else -16)))
        found.append(best)
    return found
