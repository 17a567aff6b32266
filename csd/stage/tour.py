"""The guided tour and the glossary: what a newcomer reads and sees. Pure; no gradio."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from typing import Literal

from csd.paths import ASSETS
from csd.record.recording import Recording
from csd.stage import bundle
from csd.stage.log import log_of

RACE = ASSETS / "tour-race.json.gz"  # twelve tokens in four lanes: autoregressive, speculative, vertical, cascade
CSS = (ASSETS / "tour.css").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Act:
    """`lanes` of the small race are on the tour's stage; `show` says what is below them when they have finished: the
    text, the first review of the last lane, or the text with the result. `text` is in paragraphs."""

    title: str
    lanes: tuple[int, ...]
    show: Literal["text", "review", "result"]
    text: tuple[str, ...]
    question: str
    answer: str


ACTS = tuple(
    Act(act["title"], tuple(act["lanes"]), act["show"], tuple(act["text"]), act["question"], act["answer"])
    for act in json.loads((ASSETS / "tour.json").read_text(encoding="utf-8"))
)


def template() -> str:
    """A button and a native dialog with every act, for gr.HTML; assets/tour.js shows one at a time."""
    acts = "".join(_section(i, act) for i, act in enumerate(ACTS, 1))
    return (
        '<div class="tour"><button type="button" id="tour-start" aria-haspopup="dialog">Tour</button>'
        f'<dialog aria-labelledby="tour-title-1"><div class="tour-acts" aria-live="polite">{acts}</div>'
        f'<div class="tour-stage">{bundle.HTML_TEMPLATE}</div><div class="tour-buttons">'
        '<button type="button" class="tour-close">Close</button>'
        '<button type="button" class="tour-again">Play again</button>'
        '<button type="button" class="tour-back">Back</button>'
        '<button type="button" class="tour-next" autofocus>Next</button></div></dialog></div>'
    )


def script() -> str:
    """What gr.HTML runs when the tour is loaded: the stage, the races of the acts, and what shows them."""
    traces = Recording.from_bytes(RACE.read_bytes()).traces
    logs = json.dumps([log_of([traces[lane] for lane in act.lanes], act.title) for act in ACTS])
    start = f"\nstartTour(element.querySelector('.tour'), {logs});\n"
    return bundle.stage_script() + (ASSETS / "tour.js").read_text(encoding="utf-8") + start


def _section(number: int, act: Act) -> str:
    return (
        f'<section hidden data-show="{act.show}" data-lanes="{len(act.lanes)}">'
        f'<p class="tour-count">{number} of {len(ACTS)}</p>'
        f'<h2 id="tour-title-{number}">{escape(act.title)}</h2>{"".join(f"<p>{escape(part)}</p>" for part in act.text)}'
        f"<details><summary>{escape(act.question)}</summary><p>{escape(act.answer)}</p></details></section>"
    )


def glossary() -> tuple[tuple[str, str], ...]:
    """Words and their meanings, in reading order."""
    entries = json.loads((ASSETS / "glossary.json").read_text(encoding="utf-8"))
    return tuple((entry["word"], entry["meaning"]) for entry in entries)


def term_html(word: str) -> str:
    """A word of the glossary in the page, which assets/stage/terms.js explains where it stands."""
    return f'<button type="button" class="cs-term" data-term="{escape(word)}">{escape(word)}</button>'


def term_class(word: str) -> str:
    """The class of a field whose label is a word of the glossary: assets/stage/terms.js explains Gradio's label."""
    return f"term-{word.replace(' ', '-')}"


def glossary_html() -> str:
    """The glossary as a description list."""
    rows = (f"<dt>{escape(word)}</dt><dd>{escape(meaning)}</dd>" for word, meaning in glossary())
    return f'<dl class="glossary">{"".join(rows)}</dl>'
