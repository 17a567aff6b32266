"""The figures of the theory: prediction beside measurement, the what-if curves, and the paper's closed forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from statistics import median

import plotly.graph_objects as go

from csd import theme
from csd.plots.style import FONT_SIZE, SYMBOLS, add_bars, add_unit_line, bar_fill, curve_line, empty_figure, style
from csd.theory.comparison import LaneComparison, format_spread
from csd.theory.ewif import best_k, ewif_combined, ewif_horizontal, ewif_speculative, ewif_vertical
from csd.theory.what_if import Curve

Row = tuple[str, list[float], list[float]]
"""A curve's name, its x and its y values."""


def prediction(lanes: Sequence[LaneComparison]) -> go.Figure:
    """Each lane's predicted speed-up beside the measured one, with its range over the races of the same settings."""
    title = "Speed-up: the paper's prediction and this race"
    lanes = [lane for lane in lanes if lane.measured]
    if len(lanes) < 2:
        return empty_figure(title, "This needs an autoregressive lane and another lane, each with at least one token.")
    figure = go.Figure()
    flat = [(lane.name, lane.flat) for lane in lanes if lane.flat is not None]
    wide = [(lane.name, lane.wide) for lane in lanes if lane.wide is not None]
    _add_predictions(figure, "predicted, every review costs one pass", "", flat)
    _add_predictions(figure, "predicted, with this lane's cost of wide reviews", "/", wide)
    _add_measurements(figure, lanes)
    style(figure, title, "", "× autoregressive")
    figure.update_layout(legend={"font": {"size": FONT_SIZE - 2}})
    return figure.update_xaxes(categoryorder="array", categoryarray=[lane.name for lane in lanes])


def what_if(curves: Sequence[Curve]) -> go.Figure:
    """Predicted speed-up over k, or the first number of K; a large marker shows the current setting."""
    figure = go.Figure()
    for number, curve in enumerate(curves, 1):
        line = curve_line(number)
        if curve.wide != curve.flat:
            figure.add_scatter(
                name=f"{curve.name}, if every review cost one pass",
                x=list(curve.ks),
                y=list(curve.flat),
                mode="lines",
                line={**line, "color": theme.OVERHEAD.figure, "width": 1.5},
                hovertemplate="%{x}: %{y:.2f}x if every review cost one pass<extra></extra>",
            )
        figure.add_scatter(
            name=curve.name,
            x=list(curve.ks),
            y=list(curve.wide),
            mode="lines+markers",
            line=line,
            marker={
                "symbol": SYMBOLS[number],
                "size": [16 if k == curve.current else 0 for k in curve.ks],
                "color": theme.FIGURE_INK,
                "opacity": 1,
            },
            hovertemplate=curve.name + ", %{x}: %{y:.2f}x<extra></extra>",
        )
    add_unit_line(figure)
    style(figure, "Predicted speed-up", "k, or the first number of K, in tokens", "× autoregressive")
    return figure.update_layout(legend={"font": {"size": FONT_SIZE - 1}}, margin={"t": 110}, height=400)


def speedup_over_k(c: float, alphas: Sequence[float] = (0.5, 0.6, 0.7, 0.8, 0.9), longest: int = 24) -> go.Figure:
    """Speculative decoding (Leviathan et al., theorem 3.8): the speed-up over k for several alphas, at one cost c."""
    ks = range(longest + 1)
    rows: list[Row] = [(f"α = {alpha:g}", [*ks], [ewif_speculative(alpha, c, k) for k in ks]) for alpha in alphas]
    return _curves(rows, f"Speculative decoding over k, c = {c:g}", "k, drafted tokens per review")


def speedup_over_alpha(costs: Sequence[float] = (0.02, 0.05, 0.1, 0.2, 0.4), longest: int = 24) -> go.Figure:
    """Speculative decoding with the best k for each alpha, for several costs c."""
    alphas = [round(0.3 + 0.02 * i, 2) for i in range(34)]
    rows = [(f"c = {c:g}", alphas, [ewif_speculative(a, c, best_k(a, c, longest)) for a in alphas]) for c in costs]
    return _curves(rows, f"Speculative decoding with its best k, up to {longest}", "α, share of accepted tokens")


def cascades_over_alpha(c: float, copies: float, copied: float = 0.001) -> go.Figure:
    """The two cascades and both together, each with its best lengths, over the draft's alpha.

    c: cost of the draft; copies: alpha of a copied token, for the target and for the draft; copied: its cost.
    """
    alphas = [round(0.5 + 0.025 * i, 3) for i in range(19)]
    runs, inner, tails = range(1, 13), range(7), range(7)

    def combined(a: float) -> float:
        lengths = product(runs, inner, tails)
        return max(ewif_combined(a, copies, copies, c, copied, n, k, tail) for n, k, tail in lengths)

    best: dict[str, Callable[[float], float]] = {
        "speculative": lambda a: max(ewif_speculative(a, c, n) for n in runs),
        "horizontal": lambda a: max(
            ewif_horizontal([(a, c, n), (copies, copied, tail)]) for n, tail in product(runs, tails)
        ),
        "vertical": lambda a: max(ewif_vertical(a, copies, c, copied, n, k) for n, k in product(runs, inner)),
        "both": combined,
    }
    rows = [(name, alphas, [highest(a) for a in alphas]) for name, highest in best.items()]
    title = f"The two cascades, c = {c:g}, {copies:.0%} of copied tokens accepted"
    return _curves(rows, title, "α, share of the draft's accepted tokens")


def _add_predictions(figure: go.Figure, label: str, shape: str, rows: Sequence[tuple[str, float]]) -> None:
    add_bars(
        figure,
        label,
        [name for name, _ in rows],
        [value for _, value in rows],
        [f"{value:.2f}x" for _, value in rows],
        marker=bar_fill(theme.OVERHEAD.figure, shape),
        hovertemplate="%{x}, " + label + ": %{y:.2f}x<extra></extra>",
    )


def _add_measurements(figure: go.Figure, lanes: Sequence[LaneComparison]) -> None:
    """Medians over the races, with bars from the slowest to the fastest."""
    medians = [median(lane.measured) for lane in lanes]
    add_bars(
        figure,
        "measured",
        [lane.name for lane in lanes],
        medians,
        [f"{value:.2f}x" for value in medians],
        marker=bar_fill(theme.TARGET.figure),
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [max(lane.measured) - value for lane, value in zip(lanes, medians, strict=True)],
            "arrayminus": [value - min(lane.measured) for lane, value in zip(lanes, medians, strict=True)],
            "color": theme.FIGURE_INK,
        },
        customdata=[format_spread(lane.measured) for lane in lanes],
        hovertemplate="%{x}, measured: %{customdata}<extra></extra>",
    )


def _curves(rows: Sequence[Row], title: str, x_title: str) -> go.Figure:
    """Curves that differ by dash and marker, not by colour, each with its name at its right end."""
    figure = go.Figure()
    symbols = (*SYMBOLS, "x")
    highest = max(max(ys) for _, _, ys in rows)
    label_y = -1.0
    for number, (name, xs, ys) in sorted(enumerate(rows), key=lambda row: row[1][2][-1]):
        figure.add_scatter(
            name=name,
            x=xs,
            y=ys,
            mode="lines+markers",
            line=curve_line(number),
            marker={
                "symbol": symbols[number % len(symbols)],
                "size": 10,
                "color": theme.FIGURE_INK,
                "maxdisplayed": 8,
            },
            hovertemplate=f"{name}, %{{x}}: %{{y:.2f}}x<extra></extra>",
        )
        label_y = max(ys[-1], label_y + 0.07 * highest)  # names of curves that end together go one above the other
        figure.add_annotation(text=name, x=xs[-1], y=label_y, xanchor="left", xshift=8, showarrow=False)
    add_unit_line(figure)
    style(figure, title, x_title, "× autoregressive")
    return figure.update_layout(showlegend=False, margin={"t": 50, "r": 100}, height=400)
