"""The tables of a benchmark in the terminal."""

from __future__ import annotations

from rich.console import Console

from csd.bench.report import Report
from csd.bench.tables import overview_tables
from csd.cli.terminal import print_line, print_table
from csd.record.metrics import REPEATED_LIMIT


def show_bench(report: Report, console: Console) -> None:
    """Print each table under its title, then the texts that need attention."""
    print_line(console, f"{report.title} on {report.machine}")
    for found in overview_tables(report):
        print_table(console, found, left=("text",))
    for cell in report.summary.differing:
        prompt = report.prompts[cell.prompt]
        entry = report.summary.title(cell.entry)
        print_line(console, f"{entry} differs from autoregressive at {cell.position}: {prompt.kind}: {prompt.name}")
    for number in sorted(report.summary.repeating):
        prompt = report.prompts[number]
        words = f"A text is repetitive (over {REPEATED_LIMIT:.0%} repeated 8-grams)"
        print_line(console, f"{words}: {prompt.kind}: {prompt.name}")
    for note in report.notes:
        print_line(console, note)
