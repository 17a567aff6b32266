"""A race in the terminal: its lanes drawn live, then the whole texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from csd.cli.race_view import LaneView, RaceView, level_style
from csd.cli.terminal import print_line
from csd.record.trace import Header, Trace
from csd.run import RaceEvent
from csd.theme import mark

REDRAW = 0.1  # seconds between two drawings
NARROWEST = 30  # columns that a lane needs to be drawn beside another one
BELOW = 4  # lines of the terminal that stay free below the lanes


def show_race(events: Iterable[RaceEvent], console: Console) -> tuple[Trace, ...]:
    """Draw a race while it runs, then its whole text; returns the traces of the finished lanes, in lane order.

    If the console is not a terminal, nothing is drawn while the race runs, and the text is plain.
    """
    race = RaceView()
    live = Live(console=console, auto_refresh=False, transient=True, vertical_overflow="crop")
    drawn = 0.0
    with live if console.is_terminal else nullcontext():
        for event in events:
            race.add(event)
            if live.is_started and console.get_time() - drawn > REDRAW:
                live.update(_draw(race.lanes, console, console.height - BELOW), refresh=True)
                drawn = console.get_time()
    if console.is_terminal and race.lanes:
        console.print(_draw(race.lanes, console, None))
    else:
        _print_texts(race.lanes, console)
    return race.traces


def _draw(lanes: Sequence[LaneView], console: Console, height: int | None) -> RenderableType:
    """The lanes side by side, or stacked if they do not fit; with a height of None all of the text is shown."""
    side_by_side = console.width >= NARROWEST * len(lanes)
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
    """One lane in a frame; if the height is limited, the last lines of its text."""
    text = lane.text
    if height is not None:
        lines = text.wrap(console, max(1, width - 4))
        text = Text("\n").join(lines[-(height - 2) :])
    return Panel(text, title=Text(lane.header.title), subtitle=Text(lane.status), height=height, width=width)


def legend(header: Header) -> Text:
    """The style of each level, with the names of its models."""
    target = max(level.level for level in header.levels)
    names: dict[int, list[str]] = {0: ["Max-Gram"]}
    for level in header.levels:
        if level.level:
            names.setdefault(level.level, []).append(level.name)
    out = Text("proposed by  ")
    for level in sorted(names):
        out.append(f"{mark(level, target)} {', '.join(names[level])}", level_style(level, target))
        out.append("   ")
    return out


def _print_texts(lanes: Sequence[LaneView], console: Console) -> None:
    """The texts one after another; a text that several lanes share is printed once."""
    first: dict[str, str] = {}
    for lane in lanes:
        text = lane.text.plain
        title = first.setdefault(text, lane.header.title)
        print_line(console, f"== {lane.header.title} ({lane.status})")
        print_line(console, text if title == lane.header.title else f"The same text as {title}.")
        print_line(console, "")
