"""JSON that anybody may have written: read in time and memory that its size bounds."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

MOST_FIELDS = 2**18  # of one object: the largest are the texts of a vocabulary's tokens
MOST_PARTS = 2**19  # lists and objects: the longest races have half as many, and 20 MB of empty lists take seconds
MOST_VALUES = 2**21  # and what follows a comma: the largest races have 1.5 million
LARGEST_INT = 2**63 - 1


def load_json(text: str) -> Any:
    """Plain JSON data, whose numbers are finite and fit 64 bits.

    Lists are parsed while no other thread can run, so their number and length are bounded. Brackets and commas within
    texts count as well.
    Raises ValueError that completes a sentence such as "This is not a trace: ...".
    """
    if not text.strip():
        raise ValueError("it is empty.")
    parts = text.count("[") + text.count("{")
    if parts > MOST_PARTS:
        raise ValueError(f"it contains {parts:,} lists and objects; at most {MOST_PARTS:,} are read.")
    if (values := parts + text.count(",")) > MOST_VALUES:
        raise ValueError(f"it contains {values:,} values; at most {MOST_VALUES:,} are read.")
    try:
        return json.loads(
            text,
            parse_int=_parse_int,
            parse_float=_parse_float,
            parse_constant=_refuse_constant,
            object_pairs_hook=_make_object,
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON ({error}).") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply.") from error


def describe_fault(fault: Mapping[str, Any]) -> str:
    """One of pydantic's errors in words, such as "settings.k should be less than or equal to 64"."""
    if fault["type"] == "json_invalid" and "recursion" in fault["msg"]:
        return "it is nested too deeply"
    named = [str(part) for part in fault["loc"] if not str(part).startswith("constrained-")]  # of a union's members
    where, said = ".".join(named)[:200] or "it", fault["msg"][:200]
    _, should, rest = said.partition(" should ")  # after "Input", "List" and the like
    return f"{where} should {rest}" if should else f"{where}: {said}"


def mend_surrogates(text: str) -> str:
    """Half a surrogate pair can be written as an escape but is not a character; it becomes a question mark."""
    return text.encode(errors="replace").decode()


def _parse_int(digits: str) -> int:
    if len(digits) > 20 or abs(value := int(digits)) > LARGEST_INT:
        raise ValueError("it contains a whole number that does not fit 64 bits.")
    return value


def _parse_float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"it contains a number that is too large: {digits[:20]}.")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"it contains {name}, which is not a number in JSON.")


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > MOST_FIELDS:
        raise ValueError(f"it contains an object of {len(pairs):,} fields; at most {MOST_FIELDS:,} are read.")
    return dict(pairs)
