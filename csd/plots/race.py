"""The figures of a finished race: speed-up, acceptance by level and by position, and decoding time by level."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import plotly.graph_objects as go

from csd import theme
from csd.plots import findings
from csd.plots.dots import Dot, DotRow, dot_plot
from csd.plots.rows import Bar, grouped_bars, shape_rows
from csd.plots.style import empty_figure, style
from csd.record import metrics
from csd.record.metrics import AcceptanceCount
from csd.record.race import Race
from csd.record.trace import Trace
from csd.roles import roles

NO_REFERENCE = "This needs an autoregressive lane and another lane, each with at least one token."
NOTHING_DRAFTED = "No lane drafted anything, so there is nothing to accept."


def speedup(race: Race) -> go.Figure:
    """Decoding speed of each lane over that of the autoregressive lane, without and with prefill."""
    lanes = [(name, trace) for name, trace in zip(race.names, race.traces, strict=True) if trace.tokens]
    if race.reference is None or not race.reference.tokens or len(lanes) < 2:
        return empty_figure("Speed-up over autoregressive decoding", NO_REFERENCE)
    return dot_plot(findings.fastest(race), [_speed_row(race, name, trace) for name, trace in lanes])


def acceptance_by_level(race: Race) -> go.Figure:
    """Share of each level's proposals that the target accepted, for each lane that drafts."""
    lanes = [
        (name, _sum_by_mark(metrics.acceptance(trace), trace, _add_counts))
        for name, trace in zip(race.names, race.traces, strict=True)
    ]
    lanes = [(name, counts) for name, counts in lanes if counts]
    if not lanes:
        return empty_figure("Guesses that the big model accepts", NOTHING_DRAFTED)
    levels = list(reversed(_levels(race)))
    figure = grouped_bars(
        [
            (name, [_acceptance_bar(one, counts[one.mark]) for one in levels if one.mark in counts])
            for name, counts in lanes
        ]
    )
    style(figure, findings.accepted(race), "accepted share", "")
    figure.update_xaxes(tickformat=".0%", range=[0, 1], dtick=0.5)
    return shape_rows(figure)


def time_per_level(race: Race) -> go.Figure:
    """Time that each level worked while decoding, one after the other; they add up to the lane's decoding time."""
    lanes = [(name, trace) for name, trace in zip(race.names, race.traces, strict=True) if trace.steps]
    if not lanes:
        return empty_figure("Decoding time by level", "No lane has decoded anything yet.")
    longest = max(trace.decode_seconds for _, trace in lanes)
    unit, scale, digits = ("s", 1.0, 2) if longest >= 10 else ("ms", 1000.0, 0)
    levels = list(reversed(_levels(race)))
    groups = []
    for name, trace in lanes:
        spent = _sum_by_mark(metrics.seconds_by_level(trace), trace, operator.add)
        rows = [(one.label, one.look, spent.get(one.mark, 0.0)) for one in levels]
        bars, start = [], 0.0
        for label, look, seconds in (*rows, ("overhead", theme.OVERHEAD, spent[metrics.OVERHEAD])):
            if seconds > 0:
                time, share = f"{_number(seconds * scale, digits)} {unit}", _share(seconds, trace)
                end = start + seconds * scale
                bars.append(Bar(label, start, end, look.light, time, f"{label}: {time}, {share:.0%} of decoding"))
                start = end
        groups.append((f"{name}, {trace.decode_seconds * scale:.{digits}f} {unit}", bars))
    figure = grouped_bars(groups)
    style(figure, findings.target_time(race), f"decoding time ({unit})", "")
    return shape_rows(figure).update_xaxes(range=[0, (longest * scale) or 1], nticks=3, tickangle=0)


def _speed_row(race: Race, name: str, trace: Trace) -> DotRow:
    """The lane's speed-up, and as an open dot the one with prefill."""
    decoding, whole = race.speedup(trace) or 0.0, race.speedup_with_prefill(trace) or 0.0
    count, total = len(trace.tokens), trace.decode_seconds + trace.prefill_seconds
    told = f"{name}: {metrics.speed(trace):.1f} tokens/s, {count} tokens in {trace.decode_seconds:.3f} s"
    also = f"{name}, with prefill: {metrics.speed_with_prefill(trace):.1f} tokens/s, {count} tokens in {total:.3f} s"
    if trace is race.reference:
        return DotRow(name, trace.header.method, "1×", (Dot(decoding, told),))
    text = f"{decoding:.2f}×, prefill: {whole:.2f}×"
    return DotRow(name, trace.header.method, text, (Dot(whole, also, filled=False), Dot(decoding, told)))


def _acceptance_bar(level: _LevelRow, count: AcceptanceCount) -> Bar:
    text = f"{count.accepted} of {count.proposed}"
    return Bar(level.label, 0, count.rate, level.look.light, text, f"{level.label}: {text} tokens ({count.rate:.1%})")


# ---- levels


@dataclass(frozen=True)
class _LevelRow:
    """What a figure shows of one number of level; the statistical levels share number 0."""

    mark: str
    label: str
    look: theme.Look


def _levels(race: Race) -> list[_LevelRow]:
    """All levels of the race, from 0 upwards."""
    levels = [level for trace in race.traces for level in trace.header.levels]
    known, called = {level.name: level.level for level in levels}, roles(levels)
    top = max(known.values(), default=0)
    return [
        _LevelRow(
            theme.mark(number, top),
            next(called[name] for name, level in known.items() if level == number),
            theme.look(number, top),
        )
        for number in sorted(set(known.values()))
    ]


T = TypeVar("T")


def _sum_by_mark(values: Mapping[str, T], trace: Trace, add: Callable[[T, T], T]) -> dict[str, T]:
    """Values by level name, added up by mark; what is not a level (`metrics.OVERHEAD`) keeps its name."""
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


def _number(value: float, digits: int) -> str:
    """A number with at least one significant digit, down to 0.1."""
    return f"{value:.{digits}f}" if value >= 1 else f"{max(value, 0.01):.{max(digits, 1)}g}"


def _share(seconds: float, trace: Trace) -> float:
    return seconds / trace.decode_seconds if trace.decode_seconds else 0.0
