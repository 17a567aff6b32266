"""A report as one HTML file, with tables and figures, that opens without a network. No gradio, no torch."""

from __future__ import annotations

from csd.bench.figures import draw_figures
from csd.bench.report import Report
from csd.bench.tables import overview_tables, prompt_table
from csd.plots.offline_page import offline_page


def to_page(report: Report) -> str:
    """One self-contained HTML document."""
    tables = (*overview_tables(report), prompt_table(report))
    return offline_page(f"Benchmark: {report.title}", report.notes, draw_figures(report), tables)
