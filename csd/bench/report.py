"""A benchmark's result as a Markdown table and as one HTML file that opens without a network. No gradio, no torch."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from csd import theme
from csd.bench.run import Report
from csd.bench.summary import AUTOREGRESSIVE, BEST, CALM, EVERY, SPECULATIVE, Spread
from csd.models.catalog import size
from csd.plots.style import DASHES, SYMBOLS, style

Table = tuple[Sequence[str], Sequence[Sequence[str]]]
"""Heads and rows of cells, all plain text."""

WORDS = ("method", "measured", "text")  # columns that are aligned left

CSS = """
:root { color-scheme: light dark; --ink: #1A1A1A; --ground: #FFFFFF; --line: #C9CDD2 }
@media (prefers-color-scheme: dark) { :root { --ink: #F2F2F2; --ground: #0F1419; --line: #3A424C } }
body { font: 16px/1.5 Arial, "Liberation Sans", sans-serif; color: var(--ink); background: var(--ground);
  max-width: 1200px; margin: 2rem auto; padding: 0 1rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap }
th.word, td.word { text-align: left }
.figure { min-height: 460px; margin: 1.5rem 0 }
"""


def markdown(report: Report) -> str:
    """The whole result as Markdown: notes, the methods, ratios by kind, each prompt, and the device."""
    parts = [f"# Benchmark: {report.title}", *(f"- {note}" for note in report.notes), ""]
    for title, words, table in sections(report):
        parts += [f"## {title}", "", *((words, "") if words else ()), _pipes(table), ""]
    return "\n".join(parts)


def page(report: Report) -> str:
    """One self-contained HTML document: tables and figures, with plotly.js inside, once."""
    body = [f"<h1>Benchmark: {html.escape(report.title)}</h1>"]
    body.append("<ul>" + "".join(f"<li>{html.escape(note)}</li>" for note in report.notes) + "</ul>")
    drawn = figures(report)
    body += [f'<div class="figure" id="figure-{number}"></div>' for number in range(len(drawn))]
    for title, words, table in sections(report):
        body.append(f"<h2>{html.escape(title)}</h2><p>{html.escape(words)}</p>{_table(table)}")
    calls = "".join(_call(figure, number) for number, figure in enumerate(drawn))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Benchmark: {html.escape(report.title)}</title><style>{CSS}</style>"
        f"<script>{get_plotlyjs()}</script></head>\n<body>{''.join(body)}<script>{calls}</script></body></html>\n"
    )


# ---- tables


def sections(report: Report) -> list[tuple[str, str, Table]]:
    """(title, what it shows, table) of every part that has rows."""
    found = [
        ("Methods", METHODS, methods(report)),
        ("Ratios", RATIOS, ratios(report, EVERY)),
        (f"Ratios, texts with {CALM}", "Without the prompts on which a text repeats itself.", ratios(report, CALM)),
        ("Times autoregressive, by kind", BY_KIND, by_kind(report)),
        ("Device", "", device(report)),
        ("Caches of one lane", CACHES, caches(report)),
        ("One forward against context", "Milliseconds for one token behind so many.", growth(report, "contexts")),
        ("One forward against width", "Milliseconds for so many tokens at once.", growth(report, "widths")),
        ("Prompts", PROMPTS, prompts(report)),
    ]
    return [one for one in found if one[2][1]]


METHODS = (
    "Speeds are tokens per second of decoding, each contestant alone: geometric means over the prompts of the median of "
    "the repeats, and of their lowest and highest (p10 and p90 from ten repeats on). A peer's clock runs from its first "
    "block of tokens to its last. 'Of limit' is the share of the speed that reading the target's weights allows to "
    "autoregressive decoding; 'outside models' the share of decoding time that is not spent in forwards; 'other texts' "
    "the prompts whose text is not autoregressive decoding's, near-ties apart."
)
RATIOS = (
    "Geometric means and the lowest of a prompt, each contestant alone. AR: the project's own autoregressive method. "
    "Best AR: the fastest contestant that decodes token by token; one of transformers' has no speed on sampled prompts."
)
BY_KIND = "Geometric means of each kind's prompts, each contestant alone, over the project's own autoregressive method."
CACHES = "The formula: 2 x layers x key-value heads x head size x bytes x tokens."
PROMPTS = "Tokens per second, median of the repeats with lowest and highest (p10 and p90 from ten repeats on)."


def methods(report: Report) -> Table:
    heads = (
        "method", "prompts", "tok/s", "low to high", "with prefill", "tokens per run", "race / alone", "of limit",
        "outside models", "other texts", "near-ties",
    )  # fmt: skip
    rows = [
        [
            f"{row.title} (best AR)" if row.title == report.summary.best else row.title,
            str(row.prompts),
            number(row.speed.median, 1),
            between(row.speed),
            number(row.with_prefill, 1),
            number(row.tokens_per_run),
            number(row.race_share),
            share(row.share),
            share(row.overhead),
            str(row.differs),
            str(row.near_ties),
        ]
        for row in report.summary.rows
    ]
    return heads, rows


def ratios(report: Report, group: str) -> Table:
    """Each contestant against each baseline over a group of prompts."""
    against = {AUTOREGRESSIVE: "x AR", BEST: "x best AR", SPECULATIVE: "x speculative"}
    heads = [word for name in against.values() for word in (name, "lowest")]
    rows = []
    for one in report.summary.contestants:
        found = [report.summary.ratio(one.title, name, group) for name in against]
        if any(found):
            cells = [
                cell for ratio in found for cell in ((number(ratio.mean), number(ratio.lowest)) if ratio else ("", ""))
            ]
            rows.append([one.title, str(max(ratio.count for ratio in found if ratio)), *cells])
    return ("method", "prompts", *heads), rows


def by_kind(report: Report) -> Table:
    kinds = list(dict.fromkeys(report.summary.kinds))
    rows = []
    for one in report.summary.contestants:
        found = [report.summary.ratio(one.title, AUTOREGRESSIVE, kind) for kind in kinds]
        if any(found):
            rows.append([one.title, *(number(ratio.mean) if ratio else "" for ratio in found)])
    return ("method", *kinds), rows


def device(report: Report) -> Table:
    rows = [["device", report.machine]]
    if report.limits:
        one = report.limits
        rows.append(["large copy, read and write", f"{one.copy / 1e9:,.1f} GB/s"])
        if one.read:
            rows.append(["reading as many bytes as the target's weights", f"{one.read / 1e9:,.1f} GB/s"])
        rows.append(["matrix product", f"{one.flops / 1e12:,.2f} TFLOP/s"])
        rows.append(["weights that one target run reads", size(one.weights)])
        rows.append(["keys and values of one token, target", f"{one.cached:,} bytes"])
        rows.append(["limit of autoregressive decoding, behind the mean prompt", f"{limit_of(report):,.1f} tok/s"])
    if report.memory:
        rows.append(["process, resident", size(report.memory.resident)])
        if report.memory.allocated is not None:
            rows.append(["device memory, peak", size(report.memory.allocated)])
    return ("what", "measured"), rows


def limit_of(report: Report) -> float:
    """Tokens per second that reading weights and the mean prompt's keys and values allows; the limits were measured."""
    lengths = report.summary.lengths
    return report.limits.autoregressive(sum(lengths) / max(1, len(lengths)))


def caches(report: Report) -> Table:
    rows = report.memory.caches if report.memory else ()
    cells = [[one.model, str(one.tokens), f"{one.held:,}", f"{one.formula:,}"] for one in rows]
    return ("model", "tokens", "bytes held", "bytes by the formula"), cells


def growth(report: Report, what: str) -> Table:
    points = sorted({x for curve in report.curves for x, _ in getattr(curve, what)})
    rows = []
    for curve in report.curves:
        found = dict(getattr(curve, what))
        rows.append([curve.model, *(number(1000 * found[x]) if x in found else "" for x in points)])
    return ("model", *map(str, points)), rows


def prompts(report: Report) -> Table:
    heads = (
        "prompt",
        "method",
        "tokens",
        "tok/s",
        "low to high",
        "in the race",
        "prefill, ms",
        "tokens per run",
        "repeated",
        "text",
    )
    rows = []
    for cell in report.summary.cells:
        prompt = report.prompts[cell.prompt]
        where = f" at {cell.position}" if cell.position is not None else ""
        rows.append(
            [
                f"{prompt.kind}: {prompt.name}",
                cell.title,
                str(cell.tokens),
                number(cell.speed.median, 1),
                between(cell.speed),
                number(cell.race, 1),
                number(1000 * cell.prefill, 1),
                number(cell.tokens_per_run),
                share(cell.repeated),
                cell.verdict + where,
            ]
        )
    return heads, rows


def number(value: float | None, digits: int = 2) -> str:
    return "" if value is None or math.isnan(value) else f"{value:,.{digits}f}"


def share(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.0%}"


def between(spread: Spread) -> str:
    return "" if math.isnan(spread.median) else f"{spread.low:,.1f} to {spread.high:,.1f}"


def _pipes(table: Table) -> str:
    heads, rows = table
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _table(table: Table) -> str:
    heads, rows = table

    def line(cells: Iterable[str], tag: str) -> str:
        classes = [' class="word"' if place == 0 or head in WORDS else "" for place, head in enumerate(heads)]
        return (
            "<tr>"
            + "".join(f"<{tag}{name}>{html.escape(cell)}</{tag}>" for name, cell in zip(classes, cells))
            + "</tr>"
        )

    return f'<div class="wide"><table>{line(heads, "th")}{"".join(line(row, "td") for row in rows)}</table></div>'


# ---- figures


def figures(report: Report) -> list[go.Figure]:
    """Those that there is something to draw for."""
    found = [speeds(report), kinds(report), gain(report)]
    found += [forwards(report, "contexts"), forwards(report, "widths")]
    return [figure for figure in found if figure.data]


def speeds(report: Report) -> go.Figure:
    """Speed of each contestant, with its spread and the limit."""
    rows = [row for row in report.summary.rows if not math.isnan(row.speed.median)]
    figure = go.Figure()
    for own, label, colour, shape in ((True, "own", theme.LOOKS[1], ""), (False, "transformers", theme.OVERHEAD, "/")):
        some = [row for row in rows if row.own is own]
        if some:
            figure.add_bar(
                name=label,
                orientation="h",
                y=[row.title for row in some],
                x=[row.speed.median for row in some],
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "array": [row.speed.high - row.speed.median for row in some],
                    "arrayminus": [row.speed.median - row.speed.low for row in some],
                    "color": theme.FIGURE_INK,
                },
                marker={"color": colour.figure, "pattern": {"shape": shape}},
                hovertemplate="%{y}: %{x:.1f} tokens/s<extra></extra>",
            )
    if report.limits:
        limit = {"color": theme.FIGURE_INK, "width": 1.5, "dash": "dot"}
        words = "limit of autoregressive decoding"
        figure.add_vline(
            x=limit_of(report), line=limit, annotation={"text": words, "y": 1, "yanchor": "bottom", "xanchor": "right"}
        )
    style(figure, "Decoding speed, each alone", "tokens per second, geometric mean over the prompts", "")
    figure.update_yaxes(categoryorder="array", categoryarray=[row.title for row in reversed(rows)], automargin=True)
    return figure.update_layout(height=160 + 42 * len(rows))


def kinds(report: Report) -> go.Figure:
    """Ratio to autoregressive, contestants by kinds, as numbers on colours."""
    (_, *names), rows = by_kind(report)
    figure = go.Figure()
    if rows:
        values = [[float(cell.replace(",", "")) if cell else None for cell in row[1:]] for row in reversed(rows)]
        figure.add_heatmap(
            x=names,
            y=[row[0] for row in reversed(rows)],
            z=values,
            text=[row[1:] for row in reversed(rows)],
            texttemplate="%{text}",
            colorscale="Cividis",
            colorbar={"title": {"text": "x AR"}},
            hovertemplate="%{y}, %{x}: %{z:.2f}x<extra></extra>",
        )
    style(figure, "Times autoregressive decoding, by kind of prompt", "", "")
    figure.update_yaxes(automargin=True)
    return figure.update_layout(height=160 + 42 * len(rows), showlegend=False)


def gain(report: Report) -> go.Figure:
    """What tokens per target run turn into: on the line, a review would cost no more than one token."""
    found = [(row, report.summary.ratio(row.title, AUTOREGRESSIVE)) for row in report.summary.rows]
    points = [(row, ratio) for row, ratio in found if ratio]
    figure = go.Figure()
    for place, (row, ratio) in enumerate(points):
        figure.add_scatter(
            name=row.title,
            x=[row.tokens_per_run],
            y=[ratio.mean],
            mode="markers",
            marker={
                "symbol": SYMBOLS[place % len(SYMBOLS)] + ("" if row.own else "-open"),
                "size": 14,
                "color": theme.LOOKS[place // len(SYMBOLS) % len(theme.LOOKS)].figure,  # so that no pair comes twice
            },
            hovertemplate=f"{html.escape(row.title)}: %{{y:.2f}}x at %{{x:.2f}} tokens per run<extra></extra>",
        )
    if points:
        most = max(max(row.tokens_per_run for row, _ in points), 1.0)
        line = {"color": theme.FIGURE_INK, "width": 1.5, "dash": "dot"}
        figure.add_scatter(name="speed-up = tokens per run", x=[1, most], y=[1, most], mode="lines", line=line)
    style(figure, "Speed-up against tokens per target run", "tokens per target run", "times autoregressive")
    beside = {"orientation": "v", "x": 1.01, "y": 1, "yanchor": "top"}
    return figure.update_layout(height=520, legend=beside, margin={"t": 56})


def forwards(report: Report, what: str) -> go.Figure:
    """Milliseconds of one forward of each model against context length or width."""
    figure = go.Figure()
    for place, curve in enumerate(report.curves):
        points = getattr(curve, what)
        look = theme.look(len(report.curves) - place, len(report.curves))
        figure.add_scatter(
            name=curve.model,
            x=[x for x, _ in points],
            y=[1000 * seconds for _, seconds in points],
            mode="lines+markers",
            line={"color": look.figure, "width": 3, "dash": DASHES[place % len(DASHES)]},
            marker={"symbol": SYMBOLS[place % len(SYMBOLS)], "size": 10},
            hovertemplate=f"{html.escape(curve.model)}, %{{x}}: %{{y:.2f}} ms<extra></extra>",
        )
    across, title = {
        "contexts": ("tokens of context", "One token: time of a forward against context"),
        "widths": ("tokens at once", "Several tokens: time of a forward against width"),
    }[what]
    return style(figure, title, across, "milliseconds").update_layout(height=460)


def _call(figure: go.Figure, number: int) -> str:
    """The script that draws a figure; `<` is escaped, so that no title can end the script."""
    text = figure.to_json().replace("<", "\\u003c")
    return (
        f"(function(){{const f={text};Plotly.newPlot('figure-{number}',f.data,f.layout,"
        "{responsive:true,displaylogo:false})})();"
    )
