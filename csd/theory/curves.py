"""The paper's closed forms as curves; every curve carries its name at its end. Axes stay while the sliders move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import plotly.graph_objects as go

from csd import theme
from csd.plots.labels import LABELS, Label, add_labels, unit_label
from csd.plots.style import SPEEDUP, add_unit_line, axis_end, head_axis, marker, style
from csd.theory.ewif import best_k, ewif_combined, ewif_horizontal, ewif_speculative, ewif_vertical

Row = tuple[str, str, list[float], list[float]]
"""A curve's name, the method whose look it has, its x and its y values."""
HEIGHT = 340  # px


def speedup_over_k(c: float, alphas: Sequence[float] = (0.5, 0.6, 0.7, 0.8, 0.9), longest: int = 24) -> go.Figure:
    """Speculative decoding (Leviathan et al., theorem 3.8): the speed-up over k for several alphas, at one cost c."""
    ks = [float(k) for k in range(longest + 1)]
    rows: list[Row] = [
        (f"α = {alpha:g}", "speculative", ks, [ewif_speculative(alpha, c, int(k)) for k in ks]) for alpha in alphas
    ]
    shown = alphas[-2]
    k = best_k(shown, c, longest)
    best = f"k = {k} is best ({ewif_speculative(shown, c, k):.2f}×)" if k else "no k pays"
    return _curves(rows, f"c = {c:g}, α = {shown:g}: {best}", "k, guesses per check")


def speedup_over_alpha(costs: Sequence[float] = (0.02, 0.05, 0.1, 0.2, 0.4), longest: int = 24) -> go.Figure:
    """Speculative decoding with the best k for each alpha, for several costs c."""
    alphas = [round(0.3 + 0.02 * i, 2) for i in range(34)]
    rows: list[Row] = [
        (f"c = {c:g}", "speculative", alphas, [ewif_speculative(a, c, best_k(a, c, longest)) for a in alphas])
        for c in costs
    ]
    cheap, dear = (ewif_speculative(0.8, c, best_k(0.8, c, longest)) for c in (costs[0], costs[-1]))
    title = f"α = 0.8: from {dear:.1f}× to {cheap:.1f}× as c falls"
    return _curves(rows, title, "α of the draft, with its best k")


def cascades_over_alpha(c: float, copies: float, copied: float = 0.001) -> go.Figure:
    """The two cascades and both together, each with its best lengths, over the draft's alpha.

    c: cost of the draft; copies: alpha of a copied token, for the target and for the draft; copied: its cost.
    """
    alphas = [round(0.5 + 0.025 * i, 3) for i in range(19)]
    runs, inner, tails = range(1, 13), range(7), range(7)

    def combined(a: float) -> float:
        lengths = product(runs, inner, tails)
        return max(ewif_combined(a, copies, copies, c, copied, n, k, tail) for n, k, tail in lengths)

    best: dict[str, tuple[str, Callable[[float], float]]] = {
        "speculative": ("speculative", lambda a: max(ewif_speculative(a, c, n) for n in runs)),
        "horizontal": (
            "horizontal cascade",
            lambda a: max(ewif_horizontal([(a, c, n), (copies, copied, tail)]) for n, tail in product(runs, tails)),
        ),
        "vertical": (
            "vertical cascade",
            lambda a: max(ewif_vertical(a, copies, c, copied, n, k) for n, k in product(runs, inner)),
        ),
        "both": ("cascade", combined),
    }
    rows: list[Row] = [(name, method, alphas, [highest(a) for a in alphas]) for name, (method, highest) in best.items()]
    at = alphas.index(0.8)
    alone, both = rows[0][3][at], rows[-1][3][at]
    title = f"α = 0.8: {both / alone:.2f}× the speed of speculative"
    return _curves(rows, title, "α of the draft")


def _curves(rows: Sequence[Row], title: str, x_title: str) -> go.Figure:
    figure, methods = go.Figure(), {method for _, method, _, _ in rows}
    for name, method, xs, ys in rows:
        look = theme.method_look(method)
        figure.add_scatter(
            name=name,
            x=xs,
            y=ys,
            mode="lines+markers" if len(methods) > 1 else "lines",
            line={"color": look.light, "width": 2.5, "dash": look.dash if len(methods) > 1 else "solid"},
            marker={**marker(method, size=9), "maxdisplayed": 8},
            hovertemplate=f"{name}, %{{x}}: %{{y:.2f}}×<extra></extra>",
        )
    add_unit_line(figure)
    style(figure, title, x_title, "")
    head_axis(figure, SPEEDUP)
    top = axis_end([max(ys) for _, _, _, ys in rows])
    xs = rows[0][2]
    figure.update_xaxes(range=[xs[0], xs[-1]], zeroline=False)
    figure.update_yaxes(range=[0, top])
    figure.update_layout(height=HEIGHT, margin={"r": LABELS})
    margin = figure.layout.margin
    labels = [Label(name, xs[-1], ys[-1], theme.method_look(method).light) for name, method, _, ys in rows]
    add_labels(figure, [*labels, unit_label(xs[-1])], top, HEIGHT - margin.t - margin.b)
    return figure
