"""Tables and figures as one HTML file that opens without a network."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from csd import theme
from csd.plots.table import Table
from csd.typeface import typeface_css

WORDS = ("method", "measured", "text")  # columns besides the first one that are aligned left

CSS = (
    typeface_css()
    + """
:root { color-scheme: light dark; --ink: #1A1A1A; --ground: #FFFFFF; --line: #C9CDD2 }
@media (prefers-color-scheme: dark) { :root { --ink: #F2F2F2; --ground: #0F0F11; --line: #3A424C } }
body { font: 16px/1.5 var(--cs-font); color: var(--ink); background: var(--ground);
  max-width: 1200px; margin: 2rem auto; padding: 0 1rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap }
th.word, td.word { text-align: left }
.figure { min-height: 460px; margin: 1.5rem 0 }
@media (prefers-color-scheme: dark) {
"""
    + theme.figure_css(".figure")
    + "}\n"
)


def offline_page(title: str, notes: Sequence[str], figures: Sequence[go.Figure], tables: Sequence[Table]) -> str:
    """One self-contained HTML document, with plotly.js inside, once."""
    title = html.escape(title)
    body = [
        f"<h1>{title}</h1>",
        f"<ul>{''.join(f'<li>{html.escape(note)}</li>' for note in notes)}</ul>",
        *(f'<div class="figure" id="figure-{number}"></div>' for number in range(len(figures))),
        *map(_section, tables),
        f"<script>{''.join(_plot(figure, number) for number, figure in enumerate(figures))}</script>",
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{CSS}</style>"
        f"<script>{get_plotlyjs()}</script></head>\n<body>{''.join(body)}</body></html>\n"
    )


def _section(table: Table) -> str:
    return f"<h2>{html.escape(table.title)}</h2><p>{html.escape(table.note)}</p>{_table(table)}"


def _table(table: Table) -> str:
    classes = [' class="word"' if i == 0 or head in WORDS else "" for i, head in enumerate(table.heads)]

    def line(cells: Iterable[str], tag: str) -> str:
        inside = (f"<{tag}{name}>{html.escape(cell)}</{tag}>" for name, cell in zip(classes, cells))
        return f"<tr>{''.join(inside)}</tr>"

    rows = "".join(line(row, "td") for row in table.rows)
    return f'<div class="wide"><table>{line(table.heads, "th")}{rows}</table></div>'


def _plot(figure: go.Figure, number: int) -> str:
    """The script that draws a figure; `<` is escaped so that no title can end the script."""
    text = (figure.to_json() or "").replace("<", "\\u003c")
    return (
        f"(function(){{const f={text};Plotly.newPlot('figure-{number}',f.data,f.layout,"
        "{responsive:true,displaylogo:false})})();"
    )
