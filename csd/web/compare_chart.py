"""The chart of a comparison as HTML: a group for each kind of prompt, and in it a row for each lane, named before it
has run, with a bar to its speed-up. Every number has a line of its own, so no two of them meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from csd import theme
from csd.plots.style import axis_end
from csd.sentences import capitalized
from csd.web.finding import shapes

LEAST = 5.0  # where the axis ends at least, so that it seldom changes while rows fill in
MOST_TICKS = 7
ALONE = "big model alone"
FASTEST, CLOSE = "fastest", "too close to call"  # beside the first number of a kind
MISSING = "–"


@dataclass(frozen=True)
class LaneRow:
    """A lane on one kind; `value` is None until it has run. `spread` is the lowest and the highest of several repeats,
    and `wins` says that the lane is clearly the fastest there. Of two lanes with one method, the second is `again`, and
    its symbol is open."""

    name: str
    method: str
    value: float | None = None
    spread: tuple[float, float] | None = None
    wins: bool = False
    again: bool = False

    @property
    def end(self) -> float:
        return max(self.spread or (self.value or 0.0,))


@dataclass(frozen=True)
class KindRows:
    """The rows of a kind of prompt, with a `note` below its name; `racing` marks the one whose race runs."""

    kind: str
    rows: tuple[LaneRow, ...]
    note: str = ""
    racing: bool = False


def chart_html(kinds: Sequence[KindRows], x_title: str) -> str:
    """The first kind on top. A single kind has no name beside its rows. Everything is escaped."""
    end = max(LEAST, axis_end([row.end for kind in kinds for row in kind.rows]))
    is_single = len(kinds) == 1
    groups = "".join(_group(kind, not is_single) for kind in kinds)
    single = " data-single" if is_single else ""
    return (
        f'<div class="speeds"{single} style="--end:{end:g}"><div class="speeds-grid" aria-hidden="true">{_ticks(end)}'
        f'</div>{groups}<p class="speeds-title">{escape(x_title)}</p></div>'
    )


def _ticks(end: float) -> str:
    """The line at 1, which every lane is compared with, has a name."""
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 1000, 10**6) if end / step <= MOST_TICKS)
    marks = dict.fromkeys((0, 1, *range(step, int(end) + 1, step)))
    return "".join(
        f'<i style="--at:{at}"{" data-alone" if at == 1 else ""}><span>{at}×</span>'
        f"{f'<em>{ALONE}</em>' if at == 1 else ''}</i>"
        for at in marks
    )


def _heading(kind: KindRows, first: LaneRow | None) -> str:
    """The kind's name. In a narrow window the verdict stands here: there is no room for it beside the number."""
    note = f"<small>{escape(kind.note)}</small>" if kind.note else ""
    winner = f"{escape(first.name)} is " if first and first.wins else ""
    verdict = f' data-verdict="{winner}{_verdict(first)}"' if first else ""
    return f"<h3{verdict}>{escape(capitalized(kind.kind))}{note}</h3>"


def _group(kind: KindRows, has_name: bool) -> str:
    racing = " data-racing" if kind.racing else ""
    first = None if kind.racing else _first(kind.rows)
    heading = _heading(kind, first) if has_name else ""
    rows = "".join(_row(kind.kind, row, f"<small>{_verdict(row)}</small>" if row is first else "") for row in kind.rows)
    return f'<section style="--rows:{len(kind.rows)}"{racing}>{heading}<ul>{rows}</ul></section>'


def _first(rows: Sequence[LaneRow]) -> LaneRow | None:
    """The fastest of several lanes that have all run and of which one, at least, is faster than the big model alone."""
    values = [row.value for row in rows if row.value is not None]
    if len(values) < max(2, len(rows)) or max(values) <= 1:
        return None
    return next((row for row in rows if row.wins), rows[values.index(max(values))])


def _verdict(first: LaneRow) -> str:
    return FASTEST if first.wins else CLOSE


def _row(kind: str, row: LaneRow, verdict: str) -> str:
    look = theme.method_look(row.method)
    colours = f"--light:{look.light};--dark:{look.dark}"
    symbol = f'<svg viewBox="0 0 16 16" aria-hidden="true"><path d="{shapes()[look.symbol]}"/></svg>'
    name = f'<span class="speeds-name">{symbol}{escape(row.name)}</span>'
    marks = "".join(f" data-{mark}" for mark in ("wins", "again") if getattr(row, mark))
    if row.value is None:
        return f'<li data-empty style="{colours}"{marks}>{name}<span class="speeds-track"><b>{MISSING}</b></span></li>'
    told = f"{kind}, {row.name}: {row.value:.2f}×".removeprefix(", ")
    span = ""
    if row.spread:
        low, high = row.spread
        told += f", {low:.2f} to {high:.2f}"
        inside = f"{(row.value - low) / (high - low):.0%}" if high > low else "100%"  # of it lies on the bar
        span = f'<i class="speeds-range" style="--at:{low:.4g};--to:{high:.4g};--inside:{inside}"></i>'
    bar = f'<i class="speeds-bar" style="--at:{row.value:.4g}"></i>'
    place = max(row.end, 1)  # the line at 1 would cross a lower number
    number = f'<b style="--at:{place:.4g}">{row.value:.1f}×{verdict}</b>'
    track = f'<span class="speeds-track">{bar}{span}{number}</span>'
    return f'<li style="{colours}" title="{escape(told)}"{marks}>{name}{track}</li>'
