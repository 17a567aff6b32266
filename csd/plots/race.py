"""The figures of one race."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import plotly.graph_objects as go

from csd import theme
from csd.plots.style import SYMBOLS, add_bars, add_unit_line, bar_fill, curve_line, empty_figure, style
from csd.record import metrics
from csd.record.metrics import AcceptanceCount
from csd.record.race import Race
from csd.record.trace import Trace

NO_REFERENCE = "This needs an autoregressive lane and another lane, each with at least one token."
NOTHING_DRAFTED = "No lane drafted anything, so there is nothing to accept."


def speedup(race: Race) -> go.Figure:
    """Decoding speed of each lane over that of the autoregressive lane, without and with prefill."""
    title = "Speed-up over autoregressive decoding"
    lanes = [(name, trace) for name, trace in zip(race.names, race.traces, strict=True) if trace.tokens]
    if race.reference is None or not race.reference.tokens or len(lanes) < 2:
        return empty_figure(title, NO_REFERENCE)
    names = [name for name, _ in lanes]
    traces = [trace for _, trace in lanes]
    figure = go.Figure()
    _add_speedups(
        figure,
        "decoding",
        bar_fill(theme.TARGET.figure),
        names,
        [race.speedup(trace) or 0.0 for trace in traces],
        [(metrics.speed(trace), len(trace.tokens), trace.decode_seconds) for trace in traces],
    )
    _add_speedups(
        figure,
        "with prefill",
        bar_fill(theme.OVERHEAD.figure, "/"),
        names,
        [race.speedup_with_prefill(trace) or 0.0 for trace in traces],
        [
            (metrics.speed_with_prefill(trace), len(trace.tokens), trace.decode_seconds + trace.prefill_seconds)
            for trace in traces
        ],
    )
    add_unit_line(figure)
    return style(figure, title, "", "× autoregressive")


def acceptance_by_level(race: Race) -> go.Figure:
    """Share of each level's proposals that the target accepted, for each lane that drafts."""
    title = "Proposals accepted by the target, by proposing level"
    lanes = [
        (name, _sum_by_mark(metrics.acceptance(trace), trace, _add_counts))
        for name, trace in zip(race.names, race.traces, strict=True)
    ]
    lanes = [(name, counts) for name, counts in lanes if counts]
    if not lanes:
        return empty_figure(title, NOTHING_DRAFTED)
    figure = go.Figure()
    for level in _levels(race):
        rows = [(name, counts[level.mark]) for name, counts in lanes if level.mark in counts]
        if rows:
            add_bars(
                figure,
                f"{level.mark} {level.label}",
                [name for name, _ in rows],
                [count.rate for _, count in rows],
                [f"{count.accepted}/{count.proposed}" for _, count in rows],
                marker=bar_fill(level.look.figure, level.look.shape),
                customdata=[[count.accepted, count.proposed] for _, count in rows],
                hovertemplate="%{x}: %{customdata[0]} of %{customdata[1]} tokens of "
                + f"{level.label} (%{{y:.1%}})<extra></extra>",
            )
    style(figure, title, "", "accepted / proposed")
    figure.update_xaxes(categoryorder="array", categoryarray=[name for name, _ in lanes])
    return figure.update_yaxes(tickformat=".0%", range=[0, 1.12])


def acceptance_by_position(race: Race) -> go.Figure:
    """Share of the blocks that reach a position in which the target accepted the token there."""
    title = "Proposals accepted by the target, by position in the block"
    figure = go.Figure()
    for lane, (name, trace) in enumerate(zip(race.names, race.traces, strict=True)):
        counts = metrics.by_position(trace)
        if counts:
            figure.add_scatter(
                name=name,
                x=list(range(1, len(counts) + 1)),
                y=[count.rate for count in counts],
                mode="lines+markers",
                line=curve_line(lane),
                marker={"symbol": SYMBOLS[lane % len(SYMBOLS)], "size": 11, "color": theme.FIGURE_INK},
                customdata=[[count.accepted, count.proposed] for count in counts],
                hovertemplate=f"{name}, position %{{x}}: "
                "%{customdata[0]} of %{customdata[1]} (%{y:.1%})<extra></extra>",
            )
    if not figure.data:
        return empty_figure(title, NOTHING_DRAFTED)
    style(figure, title, "position in the drafted block", "accepted / drafted")
    return figure.update_yaxes(tickformat=".0%", range=[0, 1.05])


def time_per_level(race: Race) -> go.Figure:
    """Seconds each level worked while decoding; with the overhead they add up to the lane's decoding time."""
    title = "Decoding time by level"
    lanes = [(name, trace) for name, trace in zip(race.names, race.traces, strict=True) if trace.steps]
    if not lanes:
        return empty_figure(title, "No lane has decoded anything yet.")
    figure = go.Figure()
    rows = [(level.mark, f"{level.mark} {level.label}", level.look) for level in _levels(race)]
    spent = [_sum_by_mark(metrics.seconds_by_level(trace), trace, operator.add) for _, trace in lanes]
    for mark, label, look in (*rows, ("overhead", "overhead", theme.OVERHEAD)):
        seconds = [levels.get(mark, 0.0) for levels in spent]
        if any(seconds):
            figure.add_bar(
                name=label,
                x=[name for name, _ in lanes],
                y=seconds,
                marker=bar_fill(look.figure, look.shape),
                customdata=[[_share(one, trace)] for one, (_, trace) in zip(seconds, lanes, strict=True)],
                hovertemplate="%{x}, " + label + ": %{y:.3f} s, %{customdata[0]:.1%} of decoding time<extra></extra>",
            )
    style(figure, title, "", "seconds")
    right = {"orientation": "v", "x": 1.01, "y": 1, "yanchor": "top", "traceorder": "reversed"}  # in the bars' order
    return figure.update_layout(barmode="stack", legend=right, margin={"t": 56})


def _add_speedups(
    figure: go.Figure,
    label: str,
    marker: dict[str, Any],
    names: list[str],
    ratios: list[float],
    details: list[tuple[float, int, float]],
) -> None:
    """One group of bars; `details` are each lane's tokens per second, tokens and seconds."""
    add_bars(
        figure,
        label,
        names,
        ratios,
        [f"{ratio:.2f}x" for ratio in ratios],
        marker=marker,
        customdata=details,
        hovertemplate="%{x}, " + label + ": %{y:.2f}x<br>%{customdata[0]:.1f} tokens/s<br>"
        "%{customdata[1]} tokens in %{customdata[2]:.3f} s<extra></extra>",
    )


# ---- levels


@dataclass(frozen=True)
class _LevelRow:
    """What a figure shows of one number of level; the statistical levels share number 0."""

    mark: str
    label: str
    look: theme.Look


def _levels(race: Race) -> list[_LevelRow]:
    """All levels of the race, from 0 upwards."""
    known = {level.name: level.level for trace in race.traces for level in trace.header.levels}
    top = max(known.values(), default=0)
    return [
        _LevelRow(
            theme.mark(number, top),
            " / ".join(theme.display_name(name) for name, level in known.items() if level == number),
            theme.look(number, top),
        )
        for number in sorted(set(known.values()))
    ]


T = TypeVar("T")


def _sum_by_mark(values: Mapping[str, T], trace: Trace, add: Callable[[T, T], T]) -> dict[str, T]:
    """Values by level name, added up by mark; what is not a level ("overhead") keeps its name."""
    levels = trace.header.levels
    top = max((level.level for level in levels), default=0)
    marks = {level.name: theme.mark(level.level, top) for level in levels}
    totals: dict[str, T] = {}
    for name, value in values.items():
        mark = marks.get(name, name)
        totals[mark] = add(totals[mark], value) if mark in totals else value
    return totals


def _add_counts(one: AcceptanceCount, other: AcceptanceCount) -> AcceptanceCount:
    return AcceptanceCount(one.proposed + other.proposed, one.accepted + other.accepted)


def _share(seconds: float, trace: Trace) -> float:
    return seconds / trace.decode_seconds if trace.decode_seconds else 0.0
