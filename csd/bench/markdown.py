"""A report as Markdown."""

from __future__ import annotations

from csd.bench.report import Report
from csd.bench.tables import overview_tables, prompt_table
from csd.plots.table import Table


def to_markdown(report: Report) -> str:
    """The whole report: notes, then every table under its title."""
    parts = [f"# Benchmark: {report.title}", *(f"- {note}" for note in report.notes), ""]
    for table in (*overview_tables(report), prompt_table(report)):
        parts += [f"## {table.title}", "", *((table.note, "") if table.note else ()), _pipes(table), ""]
    return "\n".join(parts)


def _pipes(table: Table) -> str:
    lines = [table.heads, ("---",) * len(table.heads), *table.rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
