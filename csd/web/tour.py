"""The guided tour and the glossary: what a newcomer reads, and where the page points meanwhile. Pure; no gradio."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape

from csd.paths import ROOT

JS_ON_LOAD = (ROOT / "assets" / "tour.js").read_text(
    encoding="utf-8"
) + "\nstartTour(element.querySelector('.tour'));\n"


@dataclass(frozen=True)
class Stop:
    """`at` are CSS selectors: the page points at the first one that is there and visible. `text` is in paragraphs."""

    title: str
    at: tuple[str, ...]
    text: tuple[str, ...]


STOPS = tuple(
    Stop(stop["title"], tuple(stop["at"]), tuple(stop["text"]))
    for stop in json.loads((ROOT / "assets" / "tour.json").read_text(encoding="utf-8"))
)


def template() -> str:
    """A button and a native dialog with every stop, for gr.HTML; assets/tour.js shows one at a time."""
    stops = "".join(
        f'<section hidden data-at="{escape("|".join(stop.at))}">'
        f'<p class="tour-count">{i} of {len(STOPS)}</p>'
        f'<h2 id="tour-title-{i}">{escape(stop.title)}</h2>'
        f"{''.join(f'<p>{escape(part)}</p>' for part in stop.text)}</section>"
        for i, stop in enumerate(STOPS, 1)
    )
    return (
        '<div class="tour"><button type="button" id="tour-start" aria-haspopup="dialog">Tour</button>'
        '<dialog aria-labelledby="tour-title-1"><div class="tour-frame" aria-hidden="true"></div>'
        '<div class="tour-card">'
        f'<div class="tour-stops" aria-live="polite">{stops}</div><div class="tour-buttons">'
        '<button type="button" class="tour-close">Close</button><button type="button" class="tour-back">Back</button>'
        '<button type="button" class="tour-next" autofocus>Next</button></div></div></dialog></div>'
    )


def glossary() -> tuple[tuple[str, str], ...]:
    """Words and their meanings, in reading order."""
    entries = json.loads((ROOT / "assets" / "glossary.json").read_text(encoding="utf-8"))
    return tuple((entry["word"], entry["meaning"]) for entry in entries)


def glossary_html() -> str:
    """The glossary as a description list."""
    rows = (f"<dt>{escape(word)}</dt><dd>{escape(meaning)}</dd>" for word, meaning in glossary())
    return f'<dl class="glossary">{"".join(rows)}</dl>'
