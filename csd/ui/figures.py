"""Traces as plotly figures, one function per figure. No gradio, no torch.

Every figure is transparent and reads on light and dark pages: bars have the levels' colours and patterns, lanes have
one ink and differ by dash and marker. Numbers are python lists, counts stand in the hover.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

import plotly.graph_objects as go

from csd.analysis import metrics
from csd.analysis.theory import best_k, ewif_speculative
from csd.trace import Trace
from csd.ui import theme, theory

DASHES = ("dot", "dash", "solid", "dashdot")
SYMBOLS = ("circle", "square", "triangle-up", "diamond")
SIZE = 15  # px of the text


def speedup(traces: Sequence[Trace]) -> go.Figure:
    """Tokens per second of each lane over those of the autoregressive lane, while decoding and with prefill."""
    title = "Speed-up over autoregressive decoding"
    reference = next((trace for trace in traces if trace.header.method == "autoregressive" and trace.tokens), None)
    lanes = [(name, trace) for name, trace in _named(traces) if trace.tokens]
    if reference is None or len(lanes) < 2:
        return _sentence(title, "This needs an autoregressive lane and another one, each with at least one token.")
    names = [name for name, _ in lanes]
    figure = go.Figure()
    for label, shape, speed, seconds in (
        ("decoding", "", metrics.speed, _decoding),
        ("with prefill", "/", metrics.speed_with_prefill, _whole),
    ):
        ratios = [_finite(speed(trace) / speed(reference)) for _, trace in lanes]
        figure.add_bar(
            name=label,
            x=names,
            y=ratios,
            text=[f"{ratio:.2f}x" for ratio in ratios],
            textposition="outside",
            cliponaxis=False,
            marker=_fill(theme.TARGET.figure if not shape else theme.OVERHEAD.figure, shape),
            customdata=[[speed(trace), len(trace.tokens), seconds(trace)] for _, trace in lanes],
            hovertemplate="%{x}, " + label + ": %{y:.2f}x<br>%{customdata[0]:.1f} tokens/s<br>"
            "%{customdata[1]} tokens in %{customdata[2]:.3f} s<extra></extra>",
        )
    figure.add_hline(y=1, line={"color": theme.FIGURE_INK, "width": 1.5, "dash": "dot"})
    return dressed(figure, title, "", "times autoregressive")


def acceptance_by_level(traces: Sequence[Trace]) -> go.Figure:
    """Share of each level's proposals that the target accepted, per lane that drafts."""
    title = "Proposals accepted by the target, by the level that proposed them"
    lanes = [(name, trace, _grouped(metrics.acceptance(trace), trace)) for name, trace in _named(traces)]
    lanes = [lane for lane in lanes if lane[2]]
    if not lanes:
        return _sentence(title, "No lane drafted anything, so there is nothing to accept.")
    figure = go.Figure()
    for mark, label, look in _levels(traces):
        rows = [(name, counts[mark]) for name, _, counts in lanes if mark in counts]
        if not rows:
            continue
        figure.add_bar(
            name=f"{mark} {label}",
            x=[name for name, _ in rows],
            y=[count.rate for _, count in rows],
            text=[f"{count.accepted}/{count.proposed}" for _, count in rows],
            textposition="outside",
            cliponaxis=False,
            marker=_fill(look.figure, look.shape),
            customdata=[[count.accepted, count.proposed] for _, count in rows],
            hovertemplate=f"%{{x}}: %{{customdata[0]}} of %{{customdata[1]}} by {label} (%{{y:.1%}})<extra></extra>",
        )
    dressed(figure, title, "", "accepted / proposed")
    figure.update_xaxes(categoryorder="array", categoryarray=[name for name, _, _ in lanes])
    return figure.update_yaxes(tickformat=".0%", range=[0, 1.12])


def acceptance_by_position(traces: Sequence[Trace]) -> go.Figure:
    """Share of the blocks long enough in which the target accepted the token at each place of the block."""
    title = "Proposals accepted by the target, by position in the block"
    figure = go.Figure()
    for lane, (name, trace) in enumerate(_named(traces)):
        counts = metrics.by_position(trace)
        if not counts:
            continue
        figure.add_scatter(
            name=name,
            x=list(range(1, len(counts) + 1)),
            y=[count.rate for count in counts],
            mode="lines+markers",
            line={"color": theme.FIGURE_INK, "width": 3, "dash": DASHES[lane % len(DASHES)]},
            marker={"symbol": SYMBOLS[lane % len(SYMBOLS)], "size": 11, "color": theme.FIGURE_INK},
            customdata=[[count.accepted, count.proposed] for count in counts],
            hovertemplate=f"{name}, position %{{x}}: "
            + "%{customdata[0]} of %{customdata[1]} (%{y:.1%})<extra></extra>",
        )
    if not figure.data:
        return _sentence(title, "No lane drafted anything, so there is nothing to accept.")
    dressed(figure, title, "position in the drafted block", "accepted / drafted")
    return figure.update_yaxes(tickformat=".0%", range=[0, 1.05])


def time_per_level(traces: Sequence[Trace]) -> go.Figure:
    """Seconds that each level worked while decoding; with the overhead they add up to the lane's decoding time."""
    title = "Decoding time by level"
    lanes = [(name, trace) for name, trace in _named(traces) if trace.steps]
    if not lanes:
        return _sentence(title, "No lane has decoded anything yet.")
    figure = go.Figure()
    rows = [(mark, f"{mark} {label}", look) for mark, label, look in _levels(traces)]
    spent = [_grouped(metrics.seconds_by_level(trace), trace) for _, trace in lanes]
    for mark, label, look in (*rows, ("overhead", "overhead", theme.OVERHEAD)):
        seconds = [levels.get(mark, 0.0) for levels in spent]
        if not any(seconds):
            continue
        figure.add_bar(
            name=label,
            x=[name for name, _ in lanes],
            y=seconds,
            marker=_fill(look.figure, look.shape),
            customdata=[[one / trace.decode_seconds] for one, (_, trace) in zip(seconds, lanes, strict=True)],
            hovertemplate="%{x}, " + label + ": %{y:.3f} s, %{customdata[0]:.1%} of its decoding time<extra></extra>",
        )
    dressed(figure, title, "", "seconds")
    beside = {"orientation": "v", "x": 1.01, "y": 1, "yanchor": "top", "traceorder": "reversed"}  # as the stack
    return figure.update_layout(barmode="stack", legend=beside, margin={"t": 56})


# ---- theory


def prediction(lanes: Sequence[theory.Lane]) -> go.Figure:
    """Each lane's predicted speed-up beside the measured one, with its spread over the races of the same settings."""
    title = "Speed-up: the paper's prediction and this race"
    shown = [lane for lane in lanes if lane.measured]
    if len(shown) < 2:
        return _sentence(title, "This needs an autoregressive lane and another one, each with at least one token.")
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
            marker=_fill(colour, shape),
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
        marker=_fill(theme.TARGET.figure, ""),
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
    dressed(figure, title, "", "times autoregressive")
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
    dressed(figure, "Predicted speed-up", "k, or the first number of K, in tokens", "times autoregressive")
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
    dressed(figure, title, across, "times autoregressive")
    return figure.update_layout(showlegend=False, margin={"t": 50, "r": 100}, height=400)


# ---- rows


def _named(traces: Sequence[Trace]) -> list[tuple[str, Trace]]:
    """Each lane with a name of its own: a method that stands there twice is numbered."""
    methods = [trace.header.method for trace in traces]
    return [
        (f"{i + 1}: {method}" if methods.count(method) > 1 else method, trace)
        for i, (method, trace) in enumerate(zip(methods, traces, strict=True))
    ]


def _marks(trace: Trace) -> dict[str, str]:
    top = max((level.level for level in trace.header.levels), default=0)
    return {level.name: theme.mark(level.level, top) for level in trace.header.levels}


def _levels(traces: Sequence[Trace]) -> list[tuple[str, str, theme.Look]]:
    """(mark, names, look) of every level, from 0 up; the statistical ones share level 0."""
    known = {level.name: level for trace in traces for level in trace.header.levels}
    ordered = sorted(known.values(), key=lambda level: level.level)
    top = max((level.level for level in ordered), default=0)
    numbers = sorted({level.level for level in ordered})
    return [
        (
            theme.mark(number, top),
            " / ".join(level.name for level in ordered if level.level == number),
            theme.look(number, top),
        )
        for number in numbers
    ]


def _grouped(values: dict, trace: Trace) -> dict:
    """Values by level name, added up by mark; names that are no level ("overhead") keep theirs."""
    marks = _marks(trace)
    grouped: dict = {}
    for name, value in values.items():
        mark = marks.get(name, name)
        grouped[mark] = _sum(grouped[mark], value) if mark in grouped else value
    return grouped


def _sum(one, other):
    """Two seconds, or two counts."""
    if isinstance(one, metrics.Count):
        return metrics.Count(one.proposed + other.proposed, one.accepted + other.accepted)
    return one + other


def _decoding(trace: Trace) -> float:
    return trace.decode_seconds


def _whole(trace: Trace) -> float:
    return trace.decode_seconds + trace.prefill_seconds


def _finite(value: float) -> float:
    return value if math.isfinite(value) else 0.0


# ---- looks


def _fill(colour: str, shape: str) -> dict:
    pattern = {"shape": shape, "bgcolor": colour, "fgcolor": "rgba(255,255,255,0.85)", "size": 8, "solidity": 0.25}
    return {"color": colour, "line": {"color": colour, "width": 1}, **({"pattern": pattern} if shape else {})}


def dressed(figure: go.Figure, title: str, across: str, up: str) -> go.Figure:
    """The figure with the look that all of them share: transparent, one ink, a legend above; and its titles."""
    axis = {"gridcolor": theme.FIGURE_GRID, "linecolor": theme.FIGURE_INK, "zerolinecolor": theme.FIGURE_GRID}
    figure.update_layout(
        template="none",
        title={"text": title, "font": {"size": SIZE + 2}, "x": 0.01, "xanchor": "left", "y": 0.97, "yanchor": "top"},
        font={"size": SIZE, "color": theme.FIGURE_INK, "family": "Arial, Liberation Sans, sans-serif"},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        margin={"l": 70, "r": 20, "t": 84, "b": 58},
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"},
        hoverlabel={"bgcolor": theme.LIGHT_INK, "font": {"color": theme.LIGHT_GROUND, "size": SIZE}},
        bargap=0.3,
        showlegend=True,
    )
    figure.update_xaxes(title={"text": across}, **axis)
    return figure.update_yaxes(title={"text": up}, rangemode="tozero", **axis)


def _sentence(title: str, sentence: str) -> go.Figure:
    """An empty figure that says why it is empty."""
    figure = dressed(go.Figure(), title, "", "")
    figure.update_layout(showlegend=False)
    figure.add_annotation(text=sentence, x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False)
    figure.update_xaxes(visible=False)
    return figure.update_yaxes(visible=False)
