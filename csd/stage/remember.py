"""The last slide of a talk: what to remember, each point below a picture in the colours of the levels."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

COLUMNS, ROWS = 12, 4  # of a picture
WIDTH, HEIGHT, GAP = 30, 34, 4  # of a cell, and between two cells
LETTERS = 22  # the size of what is written beside the cells

SOLID = "T210"  # written by this level, or a run of the big model
TINTED = {"b": "2", "c": "1", "d": "0"}  # kept from below
REJECTED = "x"


@dataclass(frozen=True)
class Point:
    """What to remember, and a picture of it: rows of cells, one character each; a space leaves a cell out. Behind a bar
    stands what is written beside the cells, or before those that begin with spaces."""

    text: str
    picture: tuple[str, ...]


POINTS = (
    Point(
        "Small models guess, and the big model checks many guesses in one run: fewer runs, the same text.",
        ("|big model alone", "TTTTTTTTTTTT", "|with guesses", "2222T2222T2T"),
    ),
    Point(
        "Vertical: a bigger model checks what a smaller one guessed. Horizontal: the best guesser writes first, the "
        "cheapest one last.",
        ("bbbbccdddddT", "2222|small model", "    11|tiny", "      00000|copier"),
    ),
    Point(
        "It pays where guesses are often right and cheap to make. Where nobody can guess, a fixed plan loses; the "
        "adaptive cascade guesses less.",
        ("|plan", "2xxxxT2xxxxT", "|adaptive", "2TTxT2TTTTTT"),
    ),
)


def closing(number: int) -> str:
    """The slide as the act of the tour with this number."""
    points = "".join(f"<li>{_draw(point.picture)}<p>{escape(point.text)}</p></li>" for point in POINTS)
    return (
        f'<section hidden data-show="closing" data-talk="told"><h2 id="tour-title-{number}">What to remember</h2>'
        '<p class="tour-won" hidden><b></b><small></small><span></span></p>'
        f'<ol>{points}</ol><p class="tour-end">Esc: back to the race</p><p class="tour-count"></p></section>'
    )


def _draw(rows: tuple[str, ...]) -> str:
    box = f"0 0 {COLUMNS * WIDTH} {ROWS * HEIGHT}"
    drawn = "".join(_row(row, y) for y, row in enumerate(rows))
    return f'<svg class="tour-picture" viewBox="{box}" aria-hidden="true">{drawn}</svg>'


def _row(written: str, row: int) -> str:
    cells, _, label = written.partition("|")
    drawn = "".join(_cell(kind, x, row) for x, kind in enumerate(cells) if kind != " ")
    x = GAP / 2 if not cells or cells.startswith(" ") else len(cells) * WIDTH + 3 * GAP
    y = (row + 1) * HEIGHT - 3 * GAP
    name = f'<text x="{x:g}" y="{y}" font-size="{LETTERS}" fill="currentColor">{escape(label)}</text>'
    return drawn + (name if label else "")


def _cell(kind: str, column: int, row: int) -> str:
    x, y, w, h = column * WIDTH + GAP / 2, row * HEIGHT + GAP / 2, WIDTH - GAP, HEIGHT - GAP
    if kind == REJECTED:
        line = f'<path d="M{x:g} {y:g}l{w} {h}" />'
        return f'<g style="fill: none; stroke: var(--cs-rejected)"><rect {_at(x, y, w, h)} />{line}</g>'
    name = f"--cs-level-{kind}" if kind in SOLID else f"--cs-tint-{TINTED[kind]}"
    return f'<rect {_at(x, y, w, h)} style="fill: var({name})" />'


def _at(x: float, y: float, width: int, height: int) -> str:
    return f'x="{x:g}" y="{y:g}" width="{width}" height="{height}" rx="3"'
