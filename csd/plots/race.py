"""The figures of one race: traces in, plotly figures out. No gradio, no torch."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from csd import theme
from csd.plots.style import DASHES, SYMBOLS, explained, fill, style
from csd.record import metrics
from csd.record.trace import Trace


def speedup(traces: Sequence[Trace]) -> go.Figure:
    """Tokens per second of each lane over those of the autoregressive lane, while decoding and with prefill."""
    title = "Speed-up over autoregressive decoding"
    reference = next((trace for trace in traces if trace.header.method == "autoregressive" and trace.tokens), None)
    lanes = [(name, trace) for name, trace in _named(traces) if trace.tokens]
    if reference is None or len(lanes) < 2:
        return explained(title, "This needs an autoregressive lane and another one, each with at least one token.")
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
            marker=fill(theme.TARGET.figure if not shape else theme.OVERHEAD.figure, shape),
            customdata=[[speed(trace), len(trace.tokens), seconds(trace)] for _, trace in lanes],
            hovertemplate="%{x}, " + label + ": %{y:.2f}x<br>%{customdata[0]:.1f} tokens/s<br>"
            "%{customdata[1]} tokens in %{customdata[2]:.3f} s<extra></extra>",
        )
    figure.add_hline(y=1, line={"color": theme.FIGURE_INK, "width": 1.5, "dash": "dot"})
    return style(figure, title, "", "times autoregressive")


def acceptance_by_level(traces: Sequence[Trace]) -> go.Figure:
    """Share of each level's proposals that the target accepted, per lane that drafts."""
    title = "Proposals accepted by the target, by the level that proposed them"
    lanes = [(name, trace, _grouped(metrics.acceptance(trace), trace)) for name, trace in _named(traces)]
    lanes = [lane for lane in lanes if lane[2]]
    if not lanes:
        return explained(title, "No lane drafted anything, so there is nothing to accept.")
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
            marker=fill(look.figure, look.shape),
            customdata=[[count.accepted, count.proposed] for _, count in rows],
            hovertemplate=f"%{{x}}: %{{customdata[0]}} of %{{customdata[1]}} by {label} (%{{y:.1%}})<extra></extra>",
        )
    style(figure, title, "", "accepted / proposed")
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
        return explained(title, "No lane drafted anything, so there is nothing to accept.")
    style(figure, title, "position in the drafted block", "accepted / drafted")
    return figure.update_yaxes(tickformat=".0%", range=[0, 1.05])


def time_per_level(traces: Sequence[Trace]) -> go.Figure:
    """Seconds that each level worked while decoding; with the overhead they add up to the lane's decoding time."""
    title = "Decoding time by level"
    lanes = [(name, trace) for name, trace in _named(traces) if trace.steps]
    if not lanes:
        return explained(title, "No lane has decoded anything yet.")
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
            marker=fill(look.figure, look.shape),
            customdata=[[one / trace.decode_seconds] for one, (_, trace) in zip(seconds, lanes, strict=True)],
            hovertemplate="%{x}, " + label + ": %{y:.3f} s, %{customdata[0]:.1%} of its decoding time<extra></extra>",
        )
    style(figure, title, "", "seconds")
    beside = {"orientation": "v", "x": 1.01, "y": 1, "yanchor": "top", "traceorder": "reversed"}  # as the stack
    return figure.update_layout(barmode="stack", legend=beside, margin={"t": 56})


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
    if isinstance(one, metrics.AcceptanceCount):
        return metrics.AcceptanceCount(one.proposed + other.proposed, one.accepted + other.accepted)
    return one + other


def _decoding(trace: Trace) -> float:
    return trace.decode_seconds


def _whole(trace: Trace) -> float:
    return trace.decode_seconds + trace.prefill_seconds


def _finite(value: float) -> float:
    return value if math.isfinite(value) else 0.0
