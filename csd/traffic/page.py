"""A run as one HTML file with tables and plots, which opens without a network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from csd import theme
from csd.plots.offline_page import offline_page
from csd.plots.style import style
from csd.traffic.samples import FAULTS, PAGE, RACES, LoadRun, Sample
from csd.traffic.summary import make_tables, throughput

LEGEND: dict[str, Any] = {"showlegend": True, "margin": {"t": 84}}
BIN = 10.0  # seconds


def to_page(run: LoadRun) -> str:
    """One self-contained HTML document."""
    faults = len(run.faults)
    notes = [
        f"{run.visitors} visitors for {run.seconds:.0f} seconds at {run.url}, measured on {run.machine}.",
        f"{throughput(run):.2f} races a second ended well; {faults or 'no'} answers were at fault.",
        *sorted({f"{one.kind}, {one.outcome}: {one.sentence}" for one in run.faults})[:20],
    ]
    return offline_page("Load", notes, draw_figures(run), make_tables(run))


def draw_figures(run: LoadRun) -> list[go.Figure]:
    """Those that there is something to draw for."""
    races = run.of_kind(*RACES)
    found = [draw_latencies(races), draw_estimates(races), draw_throughput(run), draw_page(run.of_kind(PAGE))]
    if run.server:
        found += [draw_server(run, "memory", 2**20, "MB"), draw_server(run, "threads"), draw_server(run, "files")]
    return [figure for figure in found if figure.data]


def draw_latencies(races: Sequence[Sample]) -> go.Figure:
    """How long each race took from the click to the end, and how long it was queued."""
    figure = go.Figure()
    for kind, look in zip(RACES, (theme.LOOKS[0], theme.LOOKS[1])):
        ended = [one for one in races if one.kind == kind and one.outcome == "ok"]
        if ended:
            _dots(figure, kind, [one.start for one in ended], [one.seconds for one in ended], look.light)
    waited = [one for one in races if one.queued is not None and one.outcome == "ok"]
    if waited:
        queued = [one.queued for one in waited]
        _dots(figure, "of it queued", [one.start for one in waited], queued, theme.OVERHEAD.light)
    style(figure, "Races: from the click to the end", "seconds since the beginning", "seconds")
    return figure.update_layout(**LEGEND)


def draw_estimates(races: Sequence[Sample]) -> go.Figure:
    """What the queue promised against what it took; the line is a promise that was kept."""
    known = [one for one in races if one.estimate is not None and one.outcome == "ok"]
    figure = go.Figure()
    if known:
        _dots(figure, "race", [one.estimate for one in known], [one.seconds for one in known], theme.LOOKS[1].light)
        most = max(one.seconds for one in known)
        line = {"color": theme.LIGHT_INK, "width": 1, "dash": "dot"}
        figure.add_scatter(x=[0, most], y=[0, most], mode="lines", line=line, hoverinfo="skip")
    return style(figure, "The queue's estimate", "estimated seconds", "seconds it took")


def draw_throughput(run: LoadRun) -> go.Figure:
    """Races that ended, and those that went wrong, per second, in bins of ten seconds."""
    figure = go.Figure()
    for name, outcomes, colour in (("ended well", ("ok",), theme.LOOKS[1].light), ("went wrong", FAULTS, "#b91c1c")):
        ends = [one.start + one.seconds for one in run.of_kind(*RACES) if one.outcome in outcomes]
        bins = [sum(BIN * i <= end < BIN * (i + 1) for end in ends) / BIN for i in range(int(run.seconds // BIN) + 1)]
        if any(bins):
            figure.add_bar(x=[BIN * (i + 0.5) for i in range(len(bins))], y=bins, name=name, marker={"color": colour})
    style(figure, "Races that ended, per second", "seconds since the beginning", "races a second")
    return figure.update_layout(**LEGEND, barmode="stack")


def draw_page(views: Sequence[Sample]) -> go.Figure:
    """How long the page itself took to answer."""
    figure = go.Figure()
    if views:
        milliseconds = [1000 * one.seconds for one in views]
        _dots(figure, PAGE, [one.start for one in views], milliseconds, theme.LOOKS[0].light)
    return style(figure, "The page's answer to GET /", "seconds since the beginning", "milliseconds")


def draw_server(run: LoadRun, name: str, unit: float = 1, unit_name: str = "") -> go.Figure:
    """One quantity of the server's processes over the run."""
    figure = go.Figure()
    values = [getattr(one, name) / unit for one in run.server]
    line = {"color": theme.LOOKS[0].light, "width": 2}
    figure.add_scatter(x=[one.time for one in run.server], y=values, mode="lines", line=line, name=name)
    title = {"memory": "The server's memory", "threads": "Its threads", "files": "Its open files"}[name]
    return style(figure, title, "seconds since the beginning", unit_name)


def _dots(figure: go.Figure, name: str, x: Sequence[Any], y: Sequence[Any], colour: str) -> None:
    figure.add_scatter(x=x, y=y, mode="markers", name=name, marker={"size": 6, "color": colour, "opacity": 0.7})
