"""The first page of a site: the recorded races as cards, each with its result and its lanes as bars."""

from __future__ import annotations

import math
from collections.abc import Mapping
from string import Template

from csd.record import metrics
from csd.record.race import Race
from csd.record.recording import Recording, title_of
from csd.record.trace import Trace
from csd.site.frame import TITLE, frame, read
from csd.stage import tour
from csd.stage.headline import headline
from csd.stage.sealed import html
from csd.stage.standing import times

SHOWN = 8.0  # seconds in which the slowest lane of the first race is shown to run


def index_page(recordings: Mapping[str, Recording]) -> str:
    """The page for these races by name; their pages are in the folder `races`."""
    families = dict.fromkeys(recording.family for recording in recordings.values())
    groups = "".join(
        _group(family, {name: one for name, one in recordings.items() if one.family == family}) for family in families
    )
    body = Template(read("index.html")).substitute(
        tour=tour.template(), flagship=_flagship(*next(iter(recordings.items()))), groups=groups
    )
    description = "Recorded races of decoding methods, token by token: autoregressive, speculative, and cascades."
    links = '<a href="index.html" aria-current="page">Races</a><a href="theory.html">Theory</a>'
    script = f"(() => {{ const element = document.body;\n{tour.script()}}})();\n"
    return frame(TITLE, description, links, body, script)


def _group(family: str, recordings: Mapping[str, Recording]) -> str:
    cards = "".join(_card(name, recording) for name, recording in recordings.items())
    target = next(iter(recordings.values())).traces[0].header.levels[-1]
    size = f", target of {target.parameters / 1e6:,.0f} M parameters" if target.parameters else ""
    return f'<section><h2>{html(family)}<small>{html(size)}</small></h2><div class="cards">{cards}</div></section>'


def _card(name: str, recording: Recording) -> str:
    race = Race(recording.traces)
    said = headline(race)
    prompt = recording.traces[0].header.text
    title = recording.title or title_of(prompt)
    factor = f'<b class="factor">{said.factor}</b> <span>{html(said.lead)}</span>' if said.factor else ""
    return (
        f'<a class="card" href="races/{html(name)}.html"><span class="card-kind">{html(recording.kind)}</span>'
        f'<h3><bdi>{html(title)}</bdi></h3><p class="card-result">{factor}</p>{_bars(race)}'
        f'<p class="card-same">{html(said.text)}</p>'
        f'<p class="card-prompt"><bdi>{html(" ".join(prompt.split())[:240])}</bdi></p></a>'
    )


def _bars(race: Race) -> str:
    """A bar for each lane, as long as its speed."""
    speeds = [speed if math.isfinite(speed := metrics.speed(trace)) else 0.0 for trace in race.traces]
    fastest = max(speeds) or 1.0
    rows = "".join(
        f'<span>{html(trace.header.method)}</span><i data-method="{html(trace.header.method)}" '
        f'style="width: {100 * speed / fastest:.1f}%"></i><b>{_ratio(race, trace)}</b>'
        for trace, speed in zip(race.traces, speeds, strict=True)
    )
    return f'<span class="bars">{rows}</span>'


def _ratio(race: Race, trace: Trace) -> str:
    ratio = race.speedup(trace)
    return times(ratio) if ratio else ""


def _flagship(name: str, recording: Recording) -> str:
    """The first race as bars that run at the measured speeds, slowed down alike."""
    race = Race(recording.traces)
    slow = SHOWN / (max(trace.decode_seconds for trace in race.traces) or SHOWN)
    rows = "".join(
        f'<span>{html(trace.header.method)}</span><i data-method="{html(trace.header.method)}" '
        f'style="animation-duration: {slow * trace.decode_seconds:.2f}s"></i>'
        f"<b>{_ratio(race, trace)}</b>"
        for trace in race.traces
    )
    said = headline(race)
    return (
        f'<a class="flagship" href="races/{html(name)}.html"><span class="flagship-head">'
        f'<b class="factor">{said.factor}</b> <span>{html(said.lead)}'
        f"<br><small>{html(said.text)}</small></span></span>"
        f'<span class="bars running">{rows}</span>'
        f"<small>Measured times, {slow:.0f} times slower. Watch it token by token.</small></a>"
    )
