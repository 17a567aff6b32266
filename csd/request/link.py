"""The page's fields as the query of a link, and back. Pure; anybody can write a link, so each value is checked.

Names are those of `csd.request.form.Form` and of the family's fields. A link holds only what differs from the page's own
values.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from typing import Any
from urllib.parse import quote, urlencode

from csd.decoding.methods import Cascade, PromptLookup, Speculative, find_method
from csd.request.defaults import Defaults
from csd.request.form import Form, to_request

LONGEST = 6000  # characters of a query: what browsers, servers and messengers carry
LARGEST = 10_000  # characters of one value that is taken from a link
NAMES = tuple(field.name for field in fields(Form))
FAMILY = ("family", "target", "others", "dtype", "device")
LIST = "|"
TOO_LONG = "The prompt is too long for a link and was left out."


def to_query(values: Mapping[str, Any], own: Mapping[str, Any]) -> tuple[str, str]:
    """(the query with its question mark, or nothing; a sentence on what was left out, or nothing)."""
    changed = {name: _text(value) for name, value in values.items() if not _same(value, own.get(name))}
    found = _query(changed)
    if len(found) <= LONGEST or "prompt" not in changed:
        return found, ""
    return _query({name: text for name, text in changed.items() if name != "prompt"}), TOO_LONG


def from_query(
    asked: Mapping[str, str], own: Mapping[str, Any], choices: Mapping[str, Collection[str]]
) -> tuple[dict[str, Any], list[str]]:
    """(the values of a query that fit the fields, a sentence for each that does not).

    `own` holds the page's values, which tell what kind each field is; `choices` holds the options of fields that have
    some. Names that begin with an underscore belong to the host.
    """
    found: dict[str, Any] = {}
    faults = []
    for name, text in asked.items():
        if name.startswith("_"):
            continue
        if name not in own:
            faults.append(f"Unknown field in the link: {_short(name)!r}.")
            continue
        try:
            found[name] = _value(text, own[name], choices.get(name))
        except (ValueError, OverflowError):
            faults.append(f"The link's value for {name} is not valid: {_short(text)!r}. The field keeps its value.")
    return found, faults


def check_values(found: Mapping[str, Any], defaults: Defaults) -> tuple[dict[str, Any], list[str]]:
    """The values that a race would accept, each tried on a form that is otherwise right, and the others' sentences."""
    kept, faults = {}, []
    everything = (Speculative.name, PromptLookup.name, Cascade.name)
    for name, value in found.items():
        lanes = {} if name == "lanes" else {"lanes": everything}
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


def _query(texts: Mapping[str, str]) -> str:
    whole = {name: text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for name, text in texts.items()}
    return f"?{urlencode(whole, quote_via=quote)}" if whole else ""


def _same(value: Any, own: Any) -> bool:
    """A cleared number counts as not set, text that was never set as empty, and a list has no order."""
    if isinstance(value, list):
        return sorted(value) == sorted(own)
    return value is None or (value or "") == (own or "")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (list, tuple)):
        return LIST.join(value)
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _value(text: str, like: Any, choices: Collection[str] | None) -> Any:
    """Raises ValueError where the text does not suit a field with a value like this."""
    if len(text) > LARGEST:
        raise ValueError
    if isinstance(like, bool):
        return _one_of(text, ("0", "1")) == "1"
    if isinstance(like, (list, tuple)):  # the lanes
        return list(dict.fromkeys(find_method(one).name for one in text.split(LIST)))
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


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}…"
