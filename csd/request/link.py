"""The page's fields as the query of a link, and back. Anybody can write a link, so each value is checked.

Names are those of `csd.request.form.Form` and of the family's fields. A link contains only what differs from the page's
initial values. One with a prompt also says how many characters its values have, so that a link that was cut off is
noticed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, replace
from typing import Any
from urllib.parse import quote, urlencode

from csd.decoding.methods import Cascade, PromptLookup, Speculative, find_method
from csd.ranges import shorten
from csd.request.defaults import Defaults
from csd.request.form import Form, to_request

LONGEST = 6000  # characters of a query that browsers, servers and messengers accept
NAMED = 3  # unknown fields of a link that are named
LARGEST = 10_000  # characters of one value that is read from a link
NAMES = tuple(field.name for field in fields(Form))
FAMILY = ("family", "target", "others", "copies", "dtype", "device")
SEPARATOR = "|"  # between the names of a list
CHARACTERS = "chars"  # in a query with a prompt: of all its values together
HALF = re.compile(r"(%[0-9A-F]?|\ufffd+)$")  # of a character, at the end of a link that was cut off
TOO_LONG = "The prompt is too long for a link and was left out."
INCOMPLETE = "This link is incomplete. What is left of it is in the form: check the prompt, then press Race."


def to_query(values: Mapping[str, Any], initial: Mapping[str, Any]) -> tuple[str, str]:
    """The query with its question mark, and a sentence about what was left out; both may be empty."""
    changed = {name: _mend(_text(value)) for name, value in values.items() if not same(value, initial.get(name))}
    query = _query({**_count(changed), **changed})
    if len(query) <= LONGEST or "prompt" not in changed:
        return query, ""
    return _query({name: text for name, text in changed.items() if name != "prompt"}), TOO_LONG


def from_query(
    query: Mapping[str, str], initial: Mapping[str, Any], choices: Mapping[str, Collection[str]]
) -> tuple[dict[str, Any], list[str]]:
    """The values of a parsed query that fit the fields, and a sentence for each that does not; INCOMPLETE comes first.

    A value must be of the kind of the field's `initial` value; `choices` are the options of fields that have some.
    Names that begin with an underscore belong to the host and are ignored.
    """
    values: dict[str, Any] = {}
    faults, unknown = [], []
    for name, text in query.items():
        if name.startswith("_") or name == CHARACTERS:
            continue
        if name not in initial:
            unknown.append(repr(shorten(name, 40)))
            continue
        try:
            read = read_lanes if name == "lanes" else _value
            values[name] = read(text, initial[name], choices.get(name))
        except (ValueError, OverflowError):
            faults.append(
                f"The link's value for {name} is not valid: {shorten(text, 40)!r}. The field keeps its value."
            )
    if unknown:
        more = f" and {len(unknown) - NAMED:,} more" if len(unknown) > NAMED else ""
        faults.append(f"Unknown in the link: {', '.join(unknown[:NAMED])}{more}.")
    return values, [INCOMPLETE, *faults] if _is_cut(query, initial) else faults


def check_values(values: Mapping[str, Any], defaults: Defaults) -> tuple[dict[str, Any], list[str]]:
    """The values that a race would accept, and a sentence for each other one.

    Each value is tried alone, in a form that is otherwise valid and has lanes that use every field.
    """
    kept, faults = {}, []
    all_fields = (Speculative.name, PromptLookup.name, Cascade.name)
    for name, value in values.items():
        lanes = {} if name == "lanes" else {"lanes": all_fields}
        form = replace(defaults.form(prompt="x", **lanes), **{name: value})
        try:
            for method in to_request(form, defaults, least=1).methods:
                if defaults.drafts or not isinstance(method, Speculative):
                    method.check(defaults.drafts)
        except ValueError as error:
            faults.append(f"The link's value for {name} was left out. {error}")
        else:
            kept[name] = value
    return kept, faults


def same(value: Any, initial: Any) -> bool:
    """Whether a field still has its initial value.

    A cleared number counts as unchanged, unset text as empty, and the order of a list does not matter.
    """
    if isinstance(value, (list, tuple)) and isinstance(initial or (), (list, tuple)):
        return sorted(map(str, value)) == sorted(map(str, initial or ()))
    return value is None or (value or "") == (initial or "")


def _query(texts: Mapping[str, str]) -> str:
    return f"?{urlencode(texts, quote_via=quote)}" if texts else ""


def _mend(text: str) -> str:
    """Half a surrogate pair cannot be written into an address."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _count(texts: Mapping[str, str]) -> dict[str, str]:
    """How long a query with these texts is, for one with a prompt: half a prompt reads like a whole one."""
    return {CHARACTERS: str(_length(texts.values()))} if "prompt" in texts else {}


def _is_cut(query: Mapping[str, str], initial: Mapping[str, Any]) -> bool:
    told = query.get(CHARACTERS, "")
    if not told.isdecimal() or len(told) > len(str(LONGEST)):  # written by hand
        return False
    return _length(query[name] for name in query if name in initial) < int(told)


def _length(texts: Iterable[str]) -> int:
    """Characters in all, without what may be half of one that was written as %C3%A9."""
    return sum(len(HALF.sub("", text)) for text in texts)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (list, tuple)):
        return SEPARATOR.join(map(str, value))
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def read_lanes(text: str, *_: Any) -> list[str]:
    """Names of methods, former ones among them, with the separator between them. Raises ValueError with a sentence."""
    return list(dict.fromkeys(find_method(one).name for one in text.split(SEPARATOR)))


def _value(text: str, like: Any, choices: Collection[str] | None) -> Any:
    """The value of a field whose initial value is `like`. Raises ValueError where the text does not fit it."""
    if len(text) > LARGEST:
        raise ValueError
    if isinstance(like, bool):
        return _one_of(text, ("0", "1")) == "1"
    if isinstance(like, (list, tuple)):
        return [_one_of(one, choices) for one in dict.fromkeys(text.split(SEPARATOR))] if text else []
    if isinstance(like, (int, float)):
        number = float(text)
        if not math.isfinite(number):
            raise ValueError
        return int(text) if text.lstrip("-").isdecimal() else number
    return _one_of(text, choices)


def _one_of(text: str, choices: Collection[str] | None) -> str:
    if choices is not None and text not in choices:
        raise ValueError
    return text
