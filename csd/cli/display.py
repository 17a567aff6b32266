"""What the command line shows: three lanes that fill live, a legend, and tables. Reads traces and race events only."""

from __future__ import annotations

import codecs
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from csd.bench.report import Report
from csd.bench.tables import overview_tables
from csd.decoding.methods import title
from csd.models.catalog import FamilySpec, memory_needed, size
from csd.record.metrics import (
    REPEATED_LIMIT,
    SHORT_RUN,
    mat,
    repeated,
    speed,
    speed_with_prefill,
)
from csd.record.race import Race
from csd.record.trace import Header, Step, Trace
from csd.record.verdict import Verdict
from csd.request.tuned import Tuned
from csd.run import LaneAdvanced, LaneFinished, RaceStarted
from csd.theme import look, mark
from csd.tuning.tune import Candidate

# Colour is not the only sign: every level has an attribute of its own, the target has none.
ATTRIBUTES = ("underline", "italic", "bold", "underline2")


def console(to_stderr: bool = False) -> Console:
    """Where people read; wide and plain where that is no terminal, so that no line is broken in a file or a pipe."""
    found = Console(stderr=to_stderr, highlight=False)
    return found if found.is_terminal else Console(stderr=to_stderr, highlight=False, width=200)


def style(level: int, target: int) -> str:
    """The rich style of a level's tokens."""
    if level >= target:
        return "default"
    return f"{look(level, target).figure} {ATTRIBUTES[level % len(ATTRIBUTES)]}"


def visible(text: str) -> str:
    """Model text as a terminal may show it: control characters other than line break and tab become U+FFFD."""
    return "".join("\ufffd" if unicodedata.category(c) == "Cc" and c not in "\n\t" else c for c in text)


@dataclass
class LaneView:
    """One lane as it grows: its marked text and its numbers so far."""

    header: Header
    text: Text = field(default_factory=Text)
    tokens: int = 0
    seconds: float = 0.0
    prefill: float = 0.0
    end: str = ""
    authors: Counter[str] = field(default_factory=Counter)
    _decoder: codecs.IncrementalDecoder = field(default_factory=codecs.getincrementaldecoder("utf-8"))

    def __post_init__(self) -> None:
        self._decoder.errors = "replace"

    def add(self, event: LaneAdvanced | LaneFinished, pieces: dict[int, str | tuple[int, ...]]) -> None:
        """`pieces`: all that were announced in this race."""
        if isinstance(event, LaneFinished):
            self.end = event.trace.end
            self.text.append(visible(self._decoder.decode(b"", final=True)))
        elif isinstance(event.record, Step):
            self.tokens += len(event.record.tokens)
            self.seconds += event.record.seconds
            self.authors.update(event.record.authors)
            for token, author in zip(event.record.tokens, event.record.authors):
                piece = pieces[token]
                part = self._decoder.decode(piece.encode() if isinstance(piece, str) else bytes(piece))
                self.text.append(visible(part), style(*level_of(self.header, author)))
        else:
            self.prefill += event.record.seconds

    @property
    def status(self) -> str:
        if not self.tokens:
            return f"reading the prompt, {self.prefill * 1000:.0f} ms" if self.prefill else "waiting"
        rate = f"{self.tokens / self.seconds:.0f} tok/s" if self.seconds else ""
        return "  ".join(filter(None, (f"{self.tokens} tokens", rate, f"{self.seconds:.2f} s", self.end)))


def level_of(header: Header, author: str) -> tuple[int, int]:
    """(level of an author, level of the target) in a lane; the statistical authors are no models and have level 0."""
    levels = {level.name: level.level for level in header.levels}
    return levels.get(author, 0), max(levels.values())


def show_race(events: Iterable[RaceStarted | LaneAdvanced | LaneFinished], console: Console) -> list[Trace]:
    """Draws a race as it comes in, then its whole text; returns the traces that ended, in lane order.

    Without a terminal nothing is drawn while it runs, and the text is plain.
    """
    lanes: list[LaneView] = []
    pieces: dict[int, str | tuple[int, ...]] = {}
    traces: dict[int, Trace] = {}
    live = Live(console=console, auto_refresh=False, transient=True, vertical_overflow="crop")
    try:
        if console.is_terminal:
            live.start()
        drawn = 0.0
        for event in events:
            if isinstance(event, RaceStarted):
                lanes = [LaneView(header) for header in event.headers]
                pieces.update(event.pieces)
                continue
            if isinstance(event, LaneAdvanced):
                pieces.update(event.pieces)
            else:
                traces[event.lane] = event.trace
            lanes[event.lane].add(event, pieces)
            if live.is_started and live.console.get_time() - drawn > 0.1:
                live.update(_stage(lanes, console, console.height - 4), refresh=True)
                drawn = live.console.get_time()
    finally:
        live.stop()
    if console.is_terminal and lanes:
        console.print(_stage(lanes, console, None))
    elif lanes:
        _print_plain(lanes, console)
    return [traces[lane] for lane in sorted(traces)]


def _stage(lanes: Sequence[LaneView], console: Console, height: int | None) -> RenderableType:
    """The lanes side by side, below each other where there is no room; `height` None shows all of the text."""
    side_by_side = console.width >= 30 * len(lanes)
    width = console.width // len(lanes) if side_by_side else console.width
    if height is not None:
        height = max(4, height if side_by_side else height // len(lanes))
    panels = [_panel(lane, console, width, height) for lane in lanes]
    if not side_by_side:
        return Group(*panels, legend(lanes[0].header))
    grid = Table.grid(expand=True)
    for _ in lanes:
        grid.add_column(ratio=1)
    grid.add_row(*panels)
    return Group(grid, legend(lanes[0].header))


def _panel(lane: LaneView, console: Console, width: int, height: int | None) -> Panel:
    text = lane.text
    if height is not None:
        lines = text.wrap(console, max(1, width - 4))
        text = Text("\n").join(lines[-(height - 2) :])
    return Panel(text, title=Text(lane.header.title), subtitle=Text(lane.status), height=height, width=width)


def legend(header: Header) -> Text:
    """Which style stands for which level."""
    target = max(level.level for level in header.levels)
    names: dict[int, list[str]] = {0: ["MaxGram"]}
    for level in header.levels:
        if level.level:
            names.setdefault(level.level, []).append(level.name)
    out = Text("proposed by  ")
    for level in sorted(names):
        out.append(f"{mark(level, target)} {', '.join(names[level])}", style(level, target))
        out.append("   ")
    return out


def _print_plain(lanes: Sequence[LaneView], console: Console) -> None:
    """The texts below each other; one that was shown before is not shown again."""
    shown: dict[str, str] = {}
    for lane in lanes:
        text = lane.text.plain
        same = shown.setdefault(text, lane.header.title)
        _line(console, f"== {lane.header.title} ({lane.status})")
        _line(console, text if same == lane.header.title else f"The same text as {same}.")
        _line(console, "")


def _line(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, emoji=False, soft_wrap=True)


WORDS = {"same distribution": "same distribution, own sample", "not compared": "not compared"}


def verdict_words(verdict: Verdict) -> str:
    """What can be said of a lane's text, in a few words."""
    if verdict.kind not in ("near-tie", "differs"):
        return WORDS.get(verdict.kind, verdict.kind)
    margin = "margin unknown" if verdict.margin is None else f"margin {verdict.margin:.1e}"
    return f"differs at {verdict.position} ({margin}{', near-tie' if verdict.kind == 'near-tie' else ''})"


def show_results(race: Race, console: Console) -> None:
    """The table under a race, and what should be known before its numbers are believed."""
    table = _table(console, "method", "tokens", "tok/s", "with prefill", "x AR", "MAT", "text", "repeated")
    for trace, verdict in zip(race.traces, race.verdicts):
        tokens, ratio = len(trace.tokens), race.speedup(trace)
        table.add_row(
            Text(trace.header.title),
            f"{tokens}{' (short run)' if tokens < SHORT_RUN else ''}",
            f"{speed(trace):.1f}",
            f"{speed_with_prefill(trace):.1f}",
            "" if ratio is None else f"{ratio:.2f}",
            f"{mat(trace):.2f}",
            verdict_words(verdict),
            f"{repeated(trace):.0%}",
        )
    console.print(table)
    if race.traces:
        header = race.traces[0].header
        _line(
            console, f"{header.family} on {header.device}, {header.dtype}; the lanes share it, each has its own clock."
        )
    if any(repeated(trace) > REPEATED_LIMIT for trace in race.traces):
        _line(console, f"A text is repetitive (over {REPEATED_LIMIT:.0%} repeated 8-grams), which favours copying.")


def show_families(specs: Sequence[FamilySpec], dtype: str, free: int | None, device: str, console: Console) -> None:
    """The ready-made families and what they need in `dtype`; `free` is the device's memory in bytes, None if unknown."""
    table = _table(console, "family", "target and drafts", "parameters", "memory", "fits", "what it is")
    for spec in specs:
        needed = memory_needed(spec, dtype)
        table.add_row(
            Text(spec.name),
            Text("\n".join(model.id for model in spec.models)),
            "\n".join(f"{model.parameters / 1e6:,.1f} M" if model.parameters else "?" for model in spec.models),
            "?" if needed is None else f"{size(needed)} ({dtype})",
            "?" if needed is None or free is None else ("yes" if needed <= free else "no"),
            Text(spec.about),
        )
    console.print(table)
    memory = "an unknown amount" if free is None else size(free)
    _line(console, f"This machine would use {device}, with {memory} of memory free.")


@contextmanager
def progress(total: int) -> Iterator[Callable[[str], None]]:
    """A bar on standard error; gives what to call, with words, when one of `total` is done. In a file: ten lines at most."""
    error = console(to_stderr=True)
    if error.is_terminal:
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        with Progress(*columns, console=error, transient=True) as bar:
            task = bar.add_task("", total=total)
            yield lambda words: bar.update(task, advance=1, description=escape(words[:50]))
        return
    done = 0

    def advance(words: str) -> None:
        nonlocal done
        done += 1
        if done * 10 // total > (done - 1) * 10 // total:
            _line(error, f"{done} of {total} runs done; {words}")

    yield advance


def show_bench(report: Report, console: Console) -> None:
    """The tables of a benchmark, each under its title; what is written of each prompt stands in the files."""
    _line(console, f"{report.title} on {report.machine}")
    for found in overview_tables(report):
        _line(console, f"\n{found.title}")
        table = _table(console, *found.heads)
        for row in found.rows:
            table.add_row(*map(Text, row))
        console.print(table)
        if found.note:
            _line(console, found.note)
    for cell in report.summary.differing:
        prompt = report.prompts[cell.prompt]
        _line(
            console,
            f"{report.summary.title(cell.entry)} differs from autoregressive at {cell.position}: {prompt.kind}: {prompt.name}",
        )
    for number in sorted(report.summary.repeating):
        prompt = report.prompts[number]
        _line(
            console, f"A text repeats itself (over {REPEATED_LIMIT:.0%} repeated 8-grams): {prompt.kind}: {prompt.name}"
        )
    for note in report.notes:
        _line(console, note)


def show_tuned(record: Tuned, ran: Sequence[Candidate], costs: Mapping[str, Sequence[float]], console: Console) -> None:
    """What runs cost, how often drafts are right, and what was run and chosen."""
    widths = [width for width in (1, 2, 4, 8, 16, 32, 64) if width <= min(map(len, costs.values()))]
    table = _table(console, "ms for a run over", *map(str, widths), "tokens")
    for name, cost in costs.items():
        table.add_row(name, *(f"{1e3 * cost[width - 1]:.2f}" for width in widths), "")
    console.print(table)
    if record.alpha:
        places = [place for place in (1, 2, 4, 8, 16) if all(place <= len(rates) for rates in record.alpha.values())]
        table = _table(console, "alpha at position", *map(str, places))
        for name, rates in record.alpha.items():
            table.add_row(name, *(f"{rates[place - 1]:.3f}" for place in places))
        console.print(table)
    table = _table(console, "x autoregressive", "predicted", "measured")
    for found in ran:
        kept = found.measured == max(one.measured for one in ran if one.method.name == found.method.name)
        named = Text(title(found.method), style="bold" if kept else "")
        table.add_row(named, f"{found.simulated:.2f}", f"{found.measured:.2f}" + (" chosen" if kept else ""))
    console.print(table)


def _table(console: Console, *columns: str) -> Table:
    """Ruled for people, bare columns for files and pipes."""
    table = Table(box=box.SIMPLE_HEAD if console.is_terminal else None, pad_edge=False, padding=(0, 2, 0, 0))
    words = ("method", "text", "family", "target and drafts", "what it is")
    for i, column in enumerate(columns):
        left = i == 0 or column in words
        table.add_column(
            column, justify="left" if left else "right", no_wrap=not console.is_terminal and column != "what it is"
        )
    return table
