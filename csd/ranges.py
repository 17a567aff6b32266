"""The ranges of all numbers that come from outside: form, link, endpoint, command line and files ask here."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from reprlib import Repr
from typing import Any

LONGEST_DRAFT = 64  # tokens: beyond it no review pays on any device, and caches need the room
MOST_DRAFTS = 6  # of a family: a plan has up to 2^(drafts + 1) stages; those of 6 drafts take 0.2 s to predict
LONGEST_TEXT = 8192  # tokens of a recorded text; models read half of it at most
LONGEST_TIME = 1e7  # seconds of a recorded run, about four months
LONGEST_ID = 500  # characters of a model's name, folder or file
DIGITS = 40  # of a whole number that is quoted

_QUOTED = Repr()
_QUOTED.maxstring = _QUOTED.maxother = 60
_QUOTED.maxlevel = 3


@dataclass(frozen=True)
class Range:
    """The numbers from `low` to `high` that a field takes, and how a refusal calls the field.

    `whole` numbers are ints. `above` leaves out `low` itself, `zero` lets 0 in as well; `note` says what a special
    value means.
    """

    name: str
    low: float
    high: float
    whole: bool = True
    above: bool = False
    zero: bool = False
    note: str = ""

    def __contains__(self, value: object) -> bool:
        if not is_number(value) or (self.whole and not isinstance(value, int)):
            return False
        number: Any = value
        inside = self.low < number if self.above else self.low <= number
        return (inside and number <= self.high) or (self.zero and number == 0)

    def __str__(self) -> str:
        """Such as "a whole number from 1 to 64"."""
        kind = f"{'0 or ' if self.zero else ''}{'a whole number' if self.whole else 'a number'}"
        low, high = _count(self.low), _count(self.high)
        return f"{kind} above {low} and at most {high}" if self.above else f"{kind} from {low} to {high}"

    def fault(self, value: object) -> str:
        """What is wrong with a value: field, range and value in a sentence without its full stop; or ""."""
        if value in self:
            return ""
        note = f"; {self.note}" if self.note else ""
        if value is None or value == "":
            return f"{self.name} is empty. Enter {self}{note}"
        return f"{self.name} must be {self}, not {quote(value)}{note}"

    def read(self, value: object) -> Any:
        """A field's value as this range takes it: browsers send whole numbers as floats, and 3.0 is 3."""
        return int(value) if self.whole and isinstance(value, float) and value.is_integer() else value

    def up_to(self, high: float) -> Range:
        """The same field with another upper end."""
        return replace(self, high=high)


DRAFTED = Range("k", 1, LONGEST_DRAFT)
SPECULATIVE_K = replace(DRAFTED, name="The number of guesses k")
LOOKUP_K = replace(DRAFTED, name="The number of the copier's guesses")
ENTRY = Range("An entry of K", 0, LONGEST_DRAFT)
LENIENCE = Range("Lenience", 1, 1_000_000, whole=False, note="1 is strict")
TEMPERATURE = Range("Temperature", 0.001, 10, whole=False, zero=True, note="0 is greedy")  # less may leave float32
TOP_P = Range("Top-p", 0, 1, whole=False, above=True, note="1 switches it off")
TOP_K = Range("Top-k", 0, 2**31 - 1, note="0 switches it off")
SEED = Range("The seed", 0, 2**53 - 1)  # browsers hold larger numbers only approximately
MAX_NEW = Range("New tokens", 1, 1_000_000)  # a model's context is the narrower limit


def is_number(value: object) -> bool:
    """Whether a value is a number; True, False and NaN are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


def quote(value: object) -> str:
    """A value as refusals quote it: shortened, however large or deep it is."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 3.3 * DIGITS:
        return f"a number of about {math.ceil(value.bit_length() * math.log10(2)):,} digits"
    if isinstance(value, float):
        return f"{value:g}"
    return _QUOTED.repr(value)


def shorten(text: object, length: int = 60) -> str:
    """Text as refusals quote it: at most `length` characters, half surrogate pairs mended."""
    found = text if isinstance(text, str) else quote(text)
    found = found if len(found) <= length else f"{found[:length]}…"
    return found.encode(errors="replace").decode()


def _count(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:g}"
