"""Export a race as one self-contained HTML file, which needs no network and no server. The stage draws the race.

All text of prompts, models and files is escaped. The log is in an element that the browser does not run, in characters
that cannot close it, and the page's content security policy allows its one script and no address.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from string import Template

from csd import theme
from csd.own_files import own_text
from csd.paths import ASSETS
from csd.record import metrics
from csd.record.race import Race
from csd.record.recording import Recording, title_of
from csd.record.trace import Header, Level, Trace
from csd.sentences import capitalized
from csd.stage import bundle
from csd.stage.conclusion import conclude
from csd.stage.glossary import term_html
from csd.stage.log import log_of
from csd.stage.sealed import ascii_script, inert, policy
from csd.stage.sealed import html as _html
from csd.typeface import typeface_css

COLOURS = (
    f":root {{ --light-ground: {theme.LIGHT_GROUND}; --light-ink: {theme.LIGHT_INK}; "
    f"--dark-ground: {theme.DARK_GROUND}; --dark-ink: {theme.DARK_INK}; }}\n"
)
_CSS = typeface_css() + COLOURS + own_text(ASSETS / "export" / "page.css")
GROUND = own_text(ASSETS / "export" / "ground.js")
_START = GROUND + own_text(ASSETS / "export" / "page.js")
_PAGE = Template(own_text(ASSETS / "export" / "page.html"))


def page(recording: Recording, links: Sequence[tuple[str, str]] = ()) -> str:
    """The whole file. The script and the log are plain ASCII; the other text is escaped as HTML.

    links: addresses and texts of links at its head, for a page that is part of a site.
    """
    traces = recording.traces
    prompt = traces[0].header.text
    script = ascii_script(bundle.stage_script() + _START)
    return _PAGE.substitute(
        policy=policy(script),
        css=bundle.CSS + _CSS,
        title=_html(recording.title or title_of(prompt)),
        origin=_html(", ".join(filter(None, (recording.kind, recording.date, recording.machine)))),
        note=_html(recording.note),
        links=_links(links),
        stage=bundle.HTML_TEMPLATE,
        prompt=_html(prompt),
        measurements=_measurements(traces),
        settings=_settings(recording),
        log=inert(log_of(traces, "export", play=True)),
        script=script,
    )


def _links(links: Sequence[tuple[str, str]]) -> str:
    anchors = "".join(f'<a href="{_html(address)}">{_html(text)}</a>' for address, text in links)
    return f"<nav>{anchors}</nav>" if anchors else ""


def _measurements(traces: Sequence[Trace]) -> str:
    said = conclude(Race(tuple(traces)))
    rows = []
    for trace, lane in zip(traces, said["lanes"], strict=True):
        words = " ".join(filter(None, (_sentence(lane["badge"]), _sentence(lane["speed"]), *lane["notes"])))
        numbers = (
            str(len(trace.tokens)),
            _number(metrics.speed(trace)),
            _number(metrics.speed_with_prefill(trace)),
            _number(metrics.mat(trace), 2),
        )
        cells = "".join(f"<td>{_html(cell)}</td>" for cell in (*numbers, words))
        rows.append(f'<tr><th scope="row">{_html(trace.header.title)}</th>{cells}</tr>')
    explained = (term_html("prefill"), term_html("tokens per target pass (MAT)"))
    heads = ("lane", "tokens", "tokens/s", f"with {explained[0]}", explained[1], "verdict")
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    notes = "".join(f"<p>{_html(note)}</p>" for note in said["notes"])
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f'<div class="measured">{table}</div>{notes}'


def _settings(recording: Recording) -> str:
    header = recording.traces[0].header
    pairs = {
        "family": header.family,
        "models": "; ".join(_model(level) for level in header.levels if level.level),
        "decoding": decoding(header),
        "device": f"{header.device}, {header.dtype}",
        "machine": recording.machine,
        "recorded": recording.date,
        "versions": ", ".join(f"{name} {number}" for name, number in header.versions.items()),
    }
    rows = (f"<dt>{name}</dt><dd>{_html(text)}</dd>" for name, text in pairs.items() if text)
    return f"<dl>{''.join(rows)}</dl>"


def decoding(header: Header) -> str:
    """The decoding settings in words, such as "greedy, at most 128 new tokens"."""
    if header.rule == "greedy":
        how = "greedy"
    else:
        filters = [
            f"top-k {header.top_k}" if header.top_k else "",
            f"top-p {header.top_p:g}" if header.top_p < 1 else "",
        ]
        knobs = ", ".join(filter(None, (f"temperature {header.temperature:g}", *filters, f"seed {header.seed}")))
        how = f"sampled ({header.rule}), {knobs}"
    return f"{how}, at most {header.max_new} new tokens" + ("" if header.eos else ", ignoring end-of-text tokens")


def _model(level: Level) -> str:
    size = f", {level.parameters / 1e6:,.1f} M parameters" if level.parameters else ""
    return f"{level.name}{size}" + (f" ({level.model})" if level.model and level.model != level.name else "")


def _sentence(text: str) -> str:
    return f"{capitalized(text)}." if text else ""


def _number(value: float, digits: int = 1) -> str:
    return f"{value:.{digits}f}" if math.isfinite(value) else "-"
