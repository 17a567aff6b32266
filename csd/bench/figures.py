"""The figures of a report, in the look that all figures of the project share."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from csd import theme
from csd.bench.forward_times import Points
from csd.bench.ratios import AUTOREGRESSIVE
from csd.bench.report import Report
from csd.bench.summary import Row
from csd.bench.tables import number
from csd.plots.style import DASHES, SYMBOLS, style

ROW_HEIGHT, MARGINS = 42, 160  # px of figures with a row per entry
LEGEND: dict[str, Any] = {"showlegend": True, "margin": {"t": 84}}
DOTTED = {"color": theme.LIGHT_INK, "width": 1.5, "dash": "dot"}


def draw_figures(report: Report) -> list[go.Figure]:
    """Those that there is something to draw for."""
    times = report.forward_times
    by_context = [(one.model, one.by_context) for one in times]
    by_width = [(one.model, one.by_width) for one in times]
    found = [
        draw_speeds(report),
        draw_speedups_by_kind(report),
        draw_speedup_over_mat(report),
        draw_forward_times(by_context, "tokens of context", "Forward pass over one token, by context"),
        draw_forward_times(by_width, "tokens per pass", "Forward pass, by width"),
    ]
    return [figure for figure in found if figure.data]


def draw_speeds(report: Report) -> go.Figure:
    """Speed of each entry with its spread, and the device's limit."""
    rows = [row for row in report.summary.rows if not math.isnan(row.speed.median)]
    figure = go.Figure()
    _add_speed_bars(figure, "this project", [row for row in rows if row.own], theme.LOOKS[1].light, "")
    _add_speed_bars(figure, "transformers", [row for row in rows if not row.own], theme.OVERHEAD.light, "/")
    if report.speed_limit:
        words = {"text": "limit of autoregressive decoding", "y": 1, "yanchor": "bottom", "xanchor": "right"}
        figure.add_vline(x=report.speed_limit, line=DOTTED, annotation=words)
    style(figure, "Decoding speed, each method alone", "tokens per second, geometric mean over the prompts", "")
    figure.update_yaxes(categoryorder="array", categoryarray=[row.title for row in reversed(rows)], automargin=True)
    return figure.update_layout(height=MARGINS + ROW_HEIGHT * len(rows), **LEGEND)


def _add_speed_bars(figure: go.Figure, label: str, rows: Sequence[Row], colour: str, shape: str) -> None:
    if not rows:
        return
    figure.add_bar(
        name=label,
        orientation="h",
        y=[row.title for row in rows],
        x=[row.speed.median for row in rows],
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [row.speed.high - row.speed.median for row in rows],
            "arrayminus": [row.speed.median - row.speed.low for row in rows],
            "color": theme.LIGHT_INK,
        },
        marker={"color": colour, "pattern": {"shape": shape}},
        hovertemplate="%{y}: %{x:.1f} tokens/s<extra></extra>",
    )


def draw_speedups_by_kind(report: Report) -> go.Figure:
    """Speed-up over autoregressive decoding, entries by kinds of prompt, as numbers on colours."""
    kinds = list(dict.fromkeys(report.summary.kinds))
    rows = [
        (entry.title, [report.summary.ratio(entry.id, AUTOREGRESSIVE, kind) for kind in kinds])
        for entry in reversed(report.summary.entries)
    ]
    rows = [(title, ratios) for title, ratios in rows if any(ratios)]
    figure = go.Figure()
    if rows:
        figure.add_heatmap(
            x=kinds,
            y=[title for title, _ in rows],
            z=[[ratio.mean if ratio else None for ratio in ratios] for _, ratios in rows],
            text=[[number(ratio.mean) if ratio else "" for ratio in ratios] for _, ratios in rows],
            texttemplate="%{text}",
            colorscale="Cividis",
            colorbar={"title": {"text": "x AR"}},
            hovertemplate="%{y}, %{x}: %{z:.2f}x<extra></extra>",
        )
    style(figure, "Speed-up over autoregressive decoding, by kind of prompt", "", "")
    figure.update_yaxes(automargin=True)
    return figure.update_layout(height=MARGINS + ROW_HEIGHT * len(rows), showlegend=False)


def draw_speedup_over_mat(report: Report) -> go.Figure:
    """What tokens per target pass turn into: on the line, a review would cost no more than one token."""
    found = [(row, report.summary.ratio(row.entry, AUTOREGRESSIVE)) for row in report.summary.rows]
    points = [(row, ratio) for row, ratio in found if ratio]
    figure = go.Figure()
    for i, (row, ratio) in enumerate(points):
        figure.add_scatter(
            name=row.title,
            x=[row.tokens_per_pass],
            y=[ratio.mean],
            mode="markers",
            marker={
                "symbol": SYMBOLS[i % len(SYMBOLS)] + ("" if row.own else "-open"),
                "size": 14,
                "color": theme.LOOKS[i // len(SYMBOLS) % len(theme.LOOKS)].light,  # no pair occurs twice
            },
            hovertemplate=f"{html.escape(row.title)}: %{{y:.2f}}x at %{{x:.2f}} tokens per pass<extra></extra>",
        )
    if points:
        most = max(1.0, *(row.tokens_per_pass for row, _ in points))
        figure.add_scatter(name="speed-up = tokens per pass", x=[1, most], y=[1, most], mode="lines", line=DOTTED)
    style(figure, "Speed-up and tokens per target pass (MAT)", "tokens per target pass (MAT)", "speed-up over AR")
    beside = {"orientation": "v", "x": 1.01, "y": 1, "yanchor": "top"}
    return figure.update_layout(height=520, legend=beside, showlegend=True)


def draw_forward_times(times: Sequence[tuple[str, Points]], across: str, title: str) -> go.Figure:
    """Milliseconds of a forward pass of each model; `times` has the target first."""
    figure = go.Figure()
    for i, (model, points) in enumerate(times):
        look = theme.look(len(times) - i, len(times))
        figure.add_scatter(
            name=model,
            x=[tokens for tokens, _ in points],
            y=[1000 * seconds for _, seconds in points],
            mode="lines+markers",
            line={"color": look.light, "width": 3, "dash": DASHES[i % len(DASHES)]},
            marker={"symbol": SYMBOLS[i % len(SYMBOLS)], "size": 10},
            hovertemplate=f"{html.escape(model)}, %{{x}}: %{{y:.2f}} ms<extra></extra>",
        )
    return style(figure, title, across, "milliseconds").update_layout(height=460, **LEGEND)
