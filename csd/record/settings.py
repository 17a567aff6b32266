"""The settings of a method as a file may claim them: those that the methods share are typed, others only bounded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from csd.ranges import ENTRY, LENIENCE, MOST_DRAFTS
from csd.record.untrusted import describe_fault

DEEPEST = 8  # lists within lists
MOST = 20_000  # values


_Entry = Annotated[int, Field(ge=ENTRY.low, le=ENTRY.high)]
_Entries = Annotated[list[_Entry], Field(max_length=MOST_DRAFTS + 1)]


class MethodSettings(BaseModel):
    """Of the methods in `csd.decoding.methods`; a method of one's own that uses these names uses their ranges."""

    model_config = ConfigDict(strict=True, extra="ignore")

    k: _Entry = 0
    ks: _Entries = []
    K: Annotated[list[_Entries], Field(max_length=MOST_DRAFTS + 1)] = []
    lenience: Annotated[float, Field(ge=LENIENCE.low, le=LENIENCE.high)] = 1
    drafts: Annotated[list[str], Field(max_length=MOST_DRAFTS)] = []


def settings_faults(settings: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the settings in a trace's header, as the end of a sentence."""
    if not _is_small(settings):
        yield f"the settings of its method are too long: more than {MOST:,} values, or more than {DEEPEST} levels"
        return
    try:
        MethodSettings.model_validate(dict(settings))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        yield describe_fault({**first, "loc": ("settings", *first["loc"])})


def _is_small(value: Any) -> bool:
    level, count = [value], 0
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for one in level:
            inner += one.values() if isinstance(one, Mapping) else one if isinstance(one, (list, tuple)) else ()
            count += len(one) // 100 if isinstance(one, str) else 0
        level, count = inner, count + len(inner)
        if not level or count > MOST:
            break
    return not level and count <= MOST
