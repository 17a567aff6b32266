"""The tables of a benchmark in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from csd.bench.report import sections
from csd.bench.run import Report
from csd.cli.terminal import make_table, print_line
from csd.record.metrics import REPEATED_LIMIT

IN_FILES_ONLY = ("Prompts",)  # sections too long for a terminal


def show_bench(report: Report, console: Console) -> None:
    """Print each table under its title, then the texts that need attention."""
    print_line(console, f"{report.title} on {report.machine}")
    for title, words, (columns, rows) in sections(report):
        if title in IN_FILES_ONLY:
            continue
        print_line(console, f"\n{title}")
        table = make_table(console, columns, left=("text",))
        for row in rows:
            table.add_row(*map(Text, row))
        console.print(table)
        if words:
            print_line(console, words)
    for cell in report.summary.differing():
        prompt = report.prompts[cell.prompt]
        print_line(
            console, f"{cell.title} differs from autoregressive at {cell.position}: {prompt.kind}: {prompt.name}"
        )
    for number in sorted(report.summary.repeating):
        prompt = report.prompts[number]
        words = f"A text repeats itself (over {REPEATED_LIMIT:.0%} repeated 8-grams)"
        print_line(console, f"{words}: {prompt.kind}: {prompt.name}")
    for note in report.notes:
        print_line(console, note)
