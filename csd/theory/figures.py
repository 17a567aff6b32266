"""The figures of the theory: prediction beside measurement, what-if, and the paper's curves."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import plotly.graph_objects as go

from csd import theme
from csd.plots.style import DASHES, SIZE, SYMBOLS, explained, fill, style
from csd.theory import prediction as theory
from csd.theory.ewif import best_k, ewif_speculative


def prediction(lanes: Sequence[theory.Lane]) -> go.Figure:
    """Each lane's predicted speed-up beside the measured one, with its spread over the races of the same settings."""
    title = "Speed-up: the paper's prediction and this race"
    shown = [lane for lane in lanes if lane.measured]
    if len(shown) < 2:
        return explained(title, "This needs an autoregressive lane and another one, each with at least one token.")
    figure = go.Figure()
    kinds = (
        ("predicted, every review costs one run", "", "flat", theme.OVERHEAD.figure),
        ("predicted, with this run's cost of wide reviews", "/", "wide", theme.OVERHEAD.figure),
    )
    for label, shape, field, colour in kinds:
        rows = [(lane.name, getattr(lane, field)) for lane in shown if getattr(lane, field) is not None]
        figure.add_bar(
            name=label,
            x=[name for name, _ in rows],
            y=[value for _, value in rows],
            text=[f"{value:.2f}x" for _, value in rows],
            textposition="outside",
            cliponaxis=False,
            marker=fill(colour, shape),
            hovertemplate="%{x}, " + label + ": %{y:.2f}x<extra></extra>",
        )
    middle = [median(lane.measured) for lane in shown]
    figure.add_bar(
        name="measured",
        x=[lane.name for lane in shown],
        y=middle,
        text=[f"{value:.2f}x" for value in middle],
        textposition="outside",
        cliponaxis=False,
        marker=fill(theme.TARGET.figure, ""),
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [max(lane.measured) - value for lane, value in zip(shown, middle)],
            "arrayminus": [value - min(lane.measured) for lane, value in zip(shown, middle)],
            "color": theme.FIGURE_INK,
        },
        customdata=[theory.spread(lane.measured) for lane in shown],
        hovertemplate="%{x}, measured: %{customdata}<extra></extra>",
    )
    style(figure, title, "", "times autoregressive")
    figure.update_layout(legend={"font": {"size": SIZE - 2}})
    return figure.update_xaxes(categoryorder="array", categoryarray=[lane.name for lane in shown])


def what_if(curves: Sequence[theory.Curve]) -> go.Figure:
    """Predicted speed-up over the first number of K, or k; a large marker where the knobs stand now."""
    figure = go.Figure()
    for i, curve in enumerate(curves):
        dash, symbol = DASHES[1 + i], SYMBOLS[1 + i]
        if curve.wide != curve.flat:
            figure.add_scatter(
                name=f"{curve.name}, if every review cost one run",
                x=list(curve.ks),
                y=list(curve.flat),
                mode="lines",
                line={"color": theme.OVERHEAD.figure, "width": 1.5, "dash": dash},
                hovertemplate="%{x}: %{y:.2f}x if every review cost one run<extra></extra>",
            )
        figure.add_scatter(
            name=curve.name,
            x=list(curve.ks),
            y=list(curve.wide),
            mode="lines+markers",
            line={"color": theme.FIGURE_INK, "width": 3, "dash": dash},
            marker={
                "symbol": symbol,
                "size": [16 if k == curve.at else 0 for k in curve.ks],
                "color": theme.FIGURE_INK,
                "opacity": 1,
            },
            hovertemplate=curve.name + ", %{x}: %{y:.2f}x<extra></extra>",
        )
    figure.add_hline(y=1, line={"color": theme.FIGURE_INK, "width": 1.5, "dash": "dot"})
    style(figure, "Predicted speed-up", "k, or the first number of K, in tokens", "times autoregressive")
    return figure.update_layout(legend={"font": {"size": SIZE - 1}}, margin={"t": 110}, height=400)


def speedup_over_k(c: float, alphas: Sequence[float] = (0.5, 0.6, 0.7, 0.8, 0.9), longest: int = 24) -> go.Figure:
    """Speculative decoding (Leviathan, theorem 3.8): the speed-up over k for several alpha, at one cost c."""
    ks = list(range(longest + 1))
    rows = [(f"α = {alpha:g}", ks, [ewif_speculative(alpha, c, k) for k in ks]) for alpha in alphas]
    return _family(rows, f"Speculative decoding over k, c = {c:g}", "k, drafted tokens per review")


def speedup_over_alpha(costs: Sequence[float] = (0.02, 0.05, 0.1, 0.2, 0.4), longest: int = 24) -> go.Figure:
    """Speculative decoding with the best k for each alpha, for several costs c."""
    alphas = [round(0.3 + 0.02 * i, 2) for i in range(34)]
    rows = [(f"c = {c:g}", alphas, [ewif_speculative(a, c, best_k(a, c, longest)) for a in alphas]) for c in costs]
    return _family(rows, f"Speculative decoding with its best k, up to {longest}", "α, share of accepted tokens")


def cascades_over_alpha(c: float, copies: float, copied: float = 0.001) -> go.Figure:
    """The two cascades and both together, each with its best lengths, over the draft's alpha.

    c: of the draft; copies: chance that a copied token is right, for the target and for the draft; copied: its cost.
    """
    alphas = [round(0.5 + 0.025 * i, 3) for i in range(19)]
    runs, inner, tails = range(1, 13), range(7), range(7)
    rows = [
        ("speculative", alphas, [max(ewif_speculative(a, c, n) for n in runs) for a in alphas]),
        (
            "horizontal",
            alphas,
            [max(theory.ewif_both(a, copies, copies, c, copied, n, 0, t) for n in runs for t in tails) for a in alphas],
        ),
        (
            "vertical",
            alphas,
            [max(theory.ewif_both(a, copies, copies, c, copied, n, k, 0) for n in runs for k in inner) for a in alphas],
        ),
        (
            "both",
            alphas,
            [
                max(theory.ewif_both(a, copies, copies, c, copied, n, k, t) for n in runs for k in inner for t in tails)
                for a in alphas
            ],
        ),
    ]
    return _family(
        rows, f"The two cascades, c = {c:g}, copies right {copies:.0%}", "α, share of the draft's accepted tokens"
    )


def _family(rows: Sequence[tuple[str, list, list]], title: str, across: str) -> go.Figure:
    """Curves of one kind: they differ by dash and by marker, not by colour, and each has its name at its right end."""
    figure = go.Figure()
    highest = max(max(ys) for _, _, ys in rows)
    above = -1.0
    for i, (name, xs, ys) in sorted(enumerate(rows), key=lambda row: row[1][2][-1]):
        figure.add_scatter(
            name=name,
            x=xs,
            y=ys,
            mode="lines+markers",
            line={"color": theme.FIGURE_INK, "width": 3, "dash": DASHES[i % len(DASHES)]},
            marker={
                "symbol": (*SYMBOLS, "x")[i % (len(SYMBOLS) + 1)],
                "size": 10,
                "color": theme.FIGURE_INK,
                "maxdisplayed": 8,
            },
            hovertemplate=f"{name}, %{{x}}: %{{y:.2f}}x<extra></extra>",
        )
        above = max(ys[-1], above + 0.07 * highest)  # names of curves that end together stand one above the other
        figure.add_annotation(text=name, x=xs[-1], y=above, xanchor="left", xshift=8, showarrow=False)
    figure.add_hline(y=1, line={"color": theme.FIGURE_INK, "width": 1.5, "dash": "dot"})
    style(figure, title, across, "times autoregressive")
    return figure.update_layout(showlegend=False, margin={"t": 50, "r": 100}, height=400)
