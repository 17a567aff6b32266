"""A finding in large type: a few numbers, what they mean in a sentence, and what is left to say below it."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Literal

from csd import theme

SHAPES = {  # of a method's symbol, in a square of 16
    "circle": "M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12z",
    "square": "M3 3h10v10H3z",
    "cross": "M6 2h4v4h4v4h-4v4H6v-4H2V6h4z",
    "triangle-up": "M8 2l6.5 11.5h-13z",
    "triangle-down": "M8 14L1.5 2.5h13z",
    "triangle-right": "M14 8L2.5 14.5v-13z",
    "diamond": "M8 1l7 7-7 7-7-7z",
    "x": "M4 2l4 4 4-4 2 2-4 4 4 4-2 2-4-4-4 4-2-2 4-4-4-4z",
    "star": "M8 1l2 5h5l-4 3.5 1.5 5L8 11.5 3.5 14.5 5 9.5 1 6h5z",
}


@dataclass(frozen=True)
class Number:
    """A number under its name. One with a `method` has its symbol, filled or open, and its colour, as in the figure
    below. `title` is what is told on hovering."""

    name: str
    value: str
    method: str = ""
    is_filled: bool = True
    title: str = ""


@dataclass(frozen=True)
class Finding:
    """`said` is large, `more` is quiet; "refused" marks a sentence on what is wrong."""

    said: str
    more: str = ""
    numbers: tuple[Number, ...] = ()
    state: Literal["", "refused"] = ""


def finding_html(finding: Finding) -> str:
    """Everything is escaped."""
    numbers = "".join(map(_number, finding.numbers))
    numbers = numbers and f'<div class="finding-numbers">{numbers}</div>'
    return (
        f'<div class="finding" data-state="{finding.state}">{numbers}'
        f'<div class="finding-words"><h2>{escape(finding.said)}</h2><p>{escape(finding.more)}</p></div></div>'
    )


def _number(number: Number) -> str:
    symbol = colours = ""
    if number.method:
        look = theme.method_look(number.method)
        colours = f' style="--light:{look.light};--dark:{look.dark}"'
        symbol = f'<svg viewBox="0 0 16 16" aria-hidden="true"><path d="{SHAPES[look.symbol]}"/></svg>'
    title = f' title="{escape(number.title)}"' if number.title else ""
    return (
        f'<div class="finding-number" data-filled="{str(number.is_filled).lower()}"{colours}{title}>'
        f"<small>{symbol}{escape(number.name)}</small><b>{escape(number.value)}</b></div>"
    )
