"""The page's fields as the query of a link, and back. Pure; a link is written by anybody, so each value is checked.

Names are those of csd.request.form.Form and of the family's fields. Only what differs from the page's own values stands in
a link.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from typing import Any
from urllib.parse import quote, urlencode

from csd.decoding import methods
from csd.request import form
from csd.request.form import Form

LONGEST = 6000  # characters of a query: what browsers, servers and messengers carry
LARGEST = 10_000  # characters of one value that is taken from a link
NAMES = tuple(field.name for field in fields(Form))
FAMILY = ("family", "target", "others", "dtype", "device")
LIST = "|"
TOO_LONG = "The prompt is too long for a link, so the link leaves it out."


def query(values: Mapping[str, Any], own: Mapping[str, Any]) -> tuple[str, str]:
    """(the query with its question mark, or nothing; a sentence on what is left out, or nothing)."""
    changed = {name: _text(value) for name, value in values.items() if not _same(value, own.get(name))}
    found = _query(changed)
    if len(found) <= LONGEST or "prompt" not in changed:
        return found, ""
    return _query({name: text for name, text in changed.items() if name != "prompt"}), TOO_LONG


def read(
    asked: Mapping[str, str], own: Mapping[str, Any], choices: Mapping[str, Collection[str]]
) -> tuple[dict[str, Any], list[str]]:
    """(the values of a query that could stand in the fields, a sentence for each that could not).

    `own` holds the page's values, which tell what kind each field is; `choices` what a field may be, where it is one of
    several. Names with an underscore in front are not ours.
    """
    found: dict[str, Any] = {}
    faults = []
    for name, text in asked.items():
        if name.startswith("_"):
            continue
        if name not in own:
            faults.append(f"The link names {_short(name)!r}, which is no field here.")
            continue
        try:
            found[name] = _value(text, own[name], choices.get(name))
        except ValueError:
            faults.append(f"The link's {name} cannot be {_short(text)!r}; the field keeps its value.")
    return found, faults


def checked(found: Mapping[str, Any], standard: Form, drafts: Collection[str]) -> tuple[dict[str, Any], list[str]]:
    """The values that the form's own checks let pass, each tried on a form that is right, and the others' sentences."""
    kept, faults = {}, []
    everything = ("speculative", "prompt lookup", "cascade")
    for name, value in found.items():
        lanes = {} if name == "lanes" else {"lanes": everything}
        try:
            asked = form.settings(replace(standard, **{"prompt": "x", **lanes, name: value}), tuple(drafts), least=1)
            for method in asked.methods:
                methods.checked(method, tuple(drafts))
        except ValueError as error:
            faults.append(f"The link's {name} was left out. {error}")
        else:
            kept[name] = value
    return kept, faults


def _query(texts: Mapping[str, str]) -> str:
    whole = {name: text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for name, text in texts.items()}
    return f"?{urlencode(whole, quote_via=quote)}" if whole else ""


def _same(value: Any, own: Any) -> bool:
    """A cleared number is no value, a text that was never set is an empty one, and a list has no order."""
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
    """Raises ValueError where the text is nothing like the field's own value."""
    if len(text) > LARGEST:
        raise ValueError
    if isinstance(like, bool):
        return _one_of(text, ("0", "1")) == "1"
    if isinstance(like, (list, tuple)):
        return [_one_of(one, choices) for one in dict.fromkeys(text.split(LIST))]
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
