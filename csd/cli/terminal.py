"""The console of the command line: plain lines, tables and a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from csd.plots.table import Table as TextTable

PLAIN_WIDTH = 200  # columns of output that is not a terminal, so that no line is broken in a file or a pipe


def make_console(to_stderr: bool = False) -> Console:
    """A console on standard output or standard error; wide and plain if that is not a terminal."""
    console = Console(stderr=to_stderr, highlight=False)
    return console if console.is_terminal else Console(stderr=to_stderr, highlight=False, width=PLAIN_WIDTH)


def print_line(console: Console, text: str) -> None:
    """Print text as it is: no markup, no emoji codes, no added line breaks."""
    console.print(text, markup=False, highlight=False, emoji=False, soft_wrap=True)


def make_table(
    console: Console, columns: Collection[str], left: Collection[str] = (), wrapped: Collection[str] = ()
) -> Table:
    """A table with rules on a terminal, and bare columns in a file or a pipe.

    The first column and those named in `left` are aligned left, the others right; only `wrapped` ones are ever broken
    into lines outside a terminal.
    """
    table = Table(box=box.SIMPLE_HEAD if console.is_terminal else None, pad_edge=False, padding=(0, 2, 0, 0))
    for number, column in enumerate(columns):
        table.add_column(
            column,
            justify="left" if number == 0 or column in left else "right",
            no_wrap=not console.is_terminal and column not in wrapped,
        )
    return table


def print_table(console: Console, table: TextTable, left: Collection[str] = ()) -> None:
    """A table under its title, and its note below."""
    print_line(console, f"\n{table.title}")
    shown = make_table(console, table.heads, left)
    for row in table.rows:
        shown.add_row(*map(Text, row))
    console.print(shown)
    if table.note:
        print_line(console, table.note)


@contextmanager
def show_progress(total: int) -> Iterator[Callable[[str], None]]:
    """A progress bar on standard error; yields the function to call, with a description, after each of `total` runs.

    In a file or a pipe it is at most ten lines.
    """
    console = make_console(to_stderr=True)
    if not console.is_terminal:
        yield _count_lines(total, console)
        return
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda words: bar.update(task, advance=1, description=escape(words[:50]))


def _count_lines(total: int, console: Console) -> Callable[[str], None]:
    done = 0

    def advance(words: str) -> None:
        nonlocal done
        done += 1
        if done * 10 // total > (done - 1) * 10 // total:
            print_line(console, f"{done} of {total} runs done; {words}")

    return advance
