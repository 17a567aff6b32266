"""The last slide of a talk: what to remember, each point below a picture in the colours of the levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

COLUMNS = 12  # of a picture, behind the names of its rows
STRUCK = "#C0392B"  # through a rejected guess, as in a look inside
NAMES, WIDTH, HEIGHT, GAP = 206, 32, 270, 5  # of the names, a cell, and all rows; and between two cells
LETTERS, NOTE = 30, 29  # the sizes of what is written there
AXIS = 48  # the room of an axis and its name, to the left of a picture or below it

SOLID = "T210"  # written by this level, or a run of the big model
TINTED = {"b": "2", "c": "1", "d": "0"}  # kept from below
KEPT = 0.42  # of its colour: seen from afar
REJECTED = "x"


@dataclass(frozen=True)
class Row:
    """A name, a note below it, and cells: one character each; a space leaves a cell out."""

    name: str
    cells: str
    note: str = ""


@dataclass(frozen=True)
class Point:
    """What to remember, in few words and in a sentence, and a picture of it, with the axes of a cascade or without."""

    title: str
    text: str
    picture: tuple[Row, ...]
    has_axes: bool = False


POINTS = (
    Point(
        "Fewer runs, the same text",
        "Small models guess ahead. The big model checks many guesses in one run.",
        (Row("one by one", "TTTTTTTTTTTT", "12 runs"), Row("with guesses", "2222T2222T2T", "3 runs")),
    ),
    Point(
        "Vertical and horizontal",
        "Upwards, bigger models check smaller ones. To the right, guessers get cheaper.",
        (
            Row("big model", "ddbbccdddT"),
            Row("small", "dd22"),
            Row("tiny", "    11"),
            Row("copier", "00x   000"),
        ),
        has_axes=True,
    ),
    Point(
        "Good, cheap guesses pay off",
        "Bad ones do not: where nobody can guess the words, guessing costs more than it saves.",
        (Row("good", "2222T2222T2T", "all kept"), Row("bad", "2xxxxT2xxxxT", "2 of 10 kept")),
    ),
)


PAPER = (
    "<cite>Cascade Speculative Drafting for Even Faster LLM Inference</cite>, Chen et al., NeurIPS 2024, "
    "arXiv 2312.11462"
)


SAID = (
    "The big model stays as it is, and nothing is trained.",
    "Does it pay for your models? Try a text of your own, or the sliders of the tab Theory.",
    "If somebody asks: it pays most where one text is written at a time. With many at once the big model is busy "
    "anyway, and checking guesses is less often free.",
)
"""For the speaker: what the slide does not show."""
END = "2:00"


def spoken(say: Sequence[str], until: str) -> str:
    """What the speaker's window shows of a slide: sentences to say, and until when on the talk's clock."""
    lines = "".join(f"<li>{escape(sentence)}</li>" for sentence in say)
    return f'<ul class="tour-say" data-until="{until}" hidden>{lines}</ul>' if say else ""


def closing(number: int, runs: tuple[int, int]) -> str:
    """The slide as the act of the tour with this number. Its number is that of the race that the talk began with, if a
    cascade won it, and else the `runs` of the big model in the talk's own: with a cascade, and one by one."""
    few, many = runs
    points = "".join(
        f"<li>{_draw(point)}<h3>{escape(point.title)}</h3><p>{escape(point.text)}</p></li>" for point in POINTS
    )
    return (
        f'<section hidden data-show="closing" data-talk><h2 id="tour-title-{number}">What to remember</h2>'
        f"{spoken(SAID, END)}"
        f'<p class="tour-won"><small>The cascade takes</small><b>{few} runs</b>'
        f"<span>of the big model instead of {many}, for the same text</span>"
        f'<i class="tour-began">This is the race of the slides.</i>{_key()}</p>'
        f'<ol>{points}</ol><p class="tour-end"><span class="tour-paper">{PAPER}</span><span class="tour-here"></span>'
        "<span>Home: start again &nbsp; Esc: leave</span></p>"
        '<p class="tour-count"></p></section>'
    )


def _key() -> str:
    """Which model has which colour, in a row above the pictures."""
    names = (("T", "big model", 230), ("2", "small model", 260), ("1", "tiny model", 240), ("0", "copier", 144))
    pitch = LETTERS * 1.35
    items, left = [], 0
    for kind, name, wide in names:
        items.append(f"{_cell(kind, (left - NAMES) / WIDTH, 0, pitch)}{_text(name, left + 1.4 * WIDTH, 0.75 * pitch)}")
        left += wide
    box = f"0 0 {left} {pitch:g}"
    return f'<svg class="tour-picture tour-colours" viewBox="{box}" aria-hidden="true">{"".join(items)}</svg>'


def _draw(point: Point) -> str:
    pitch = HEIGHT / len(point.picture)
    left = AXIS + 10 if point.has_axes else 0
    rows = "".join(_row(row, left, i * pitch, pitch) for i, row in enumerate(point.picture))
    box = f"0 0 {NAMES + COLUMNS * WIDTH} {HEIGHT + AXIS}"
    axes = _axes() if point.has_axes else ""
    return f'<svg class="tour-picture" viewBox="{box}" aria-hidden="true">{axes}{rows}</svg>'


def _row(row: Row, left: float, top: float, height: float) -> str:
    cells = "".join(_cell(kind, j, top, height) for j, kind in enumerate(row.cells) if kind != " ")
    middle = top + height / 2 + LETTERS / 3
    if not row.note:
        return f"{_text(row.name, left, middle)}{cells}"
    return f"{_text(row.name, left, middle - NOTE / 2)}{_text(row.note, left, middle + NOTE * 0.7, NOTE)}{cells}"


def _text(words: str, x: float, y: float, size: int = LETTERS) -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="currentColor">{escape(words)}</text>'


def _axes() -> str:
    """To the right the writers become cheaper, and upwards bigger models check smaller ones."""
    x, y, low, end = AXIS * 0.75, HEIGHT + AXIS * 0.25, HEIGHT - GAP, NAMES + COLUMNS * WIDTH - GAP
    up = f'<path d="M{x:g} {low}V{2 * GAP}m-7 11l7 -11l7 11" />'
    right = f'<path d="M{NAMES} {y:g}H{end}m-11 -7l11 7l-11 7" />'
    names = f'<text x="{NAMES}" y="{y + NOTE * 1.2:g}">horizontal</text>'
    names += f'<text transform="translate({x - NOTE * 0.7:g} {low}) rotate(-90)">vertical</text>'
    lines = f'<g style="fill: none; stroke: currentColor; stroke-width: 2.5">{up}{right}</g>'
    return f'{lines}<g font-size="{NOTE}" fill="currentColor">{names}</g>'


def _cell(kind: str, column: float, top: float, height: float) -> str:
    x, y, w, h = NAMES + column * WIDTH + GAP / 2, top + GAP / 2, WIDTH - GAP, height - GAP
    if kind == REJECTED:
        line = f'<path d="M{x + GAP:g} {y + h / 2:g}h{w - 2 * GAP:g}" style="stroke: {STRUCK}; stroke-width: 4" />'
        return f'<g style="fill: none; stroke: var(--cs-rejected)"><rect {_at(x, y, w, h)} />{line}</g>'
    level, paler = (kind, "") if kind in SOLID else (TINTED[kind], f"; fill-opacity: {KEPT}")
    return f'<rect {_at(x, y, w, h)} style="fill: var(--cs-level-{level}){paler}" />'


def _at(x: float, y: float, width: float, height: float) -> str:
    return f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4"'
