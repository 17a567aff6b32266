"""A finding in large type: a few numbers, what they mean in a sentence, and what is left to say below it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Literal

from csd import theme
from csd.own_files import own_json
from csd.paths import ASSETS


@cache
def shapes() -> dict[str, str]:
    """The outlines of the methods' symbols, in a square of 16; the stage draws the same ones."""
    return own_json(ASSETS / "symbols.json")


@dataclass(frozen=True)
class Number:
    """A number above its name. One with a `method` has its symbol, filled or open, and its colour, as in the figure
    below. Of two numbers, the one of the winner is bold. The colour of a win belongs to one that `wins` wherever it was
    compared."""

    name: str
    value: str
    method: str = ""
    is_filled: bool = True
    is_bold: bool = True
    wins: bool = True


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
        symbol = f'<svg viewBox="0 0 16 16" aria-hidden="true"><path d="{shapes()[look.symbol]}"/></svg>'
    return (
        f'<div class="finding-number" data-filled="{str(number.is_filled).lower()}" '
        f'data-bold="{str(number.is_bold).lower()}" data-wins="{str(number.wins).lower()}"{colours}>'
        f"<small>{symbol}{escape(number.name)}</small><b>{escape(number.value)}</b></div>"
    )
