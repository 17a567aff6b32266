"""The decoding methods, one file each, and the registry through which everything else finds them.

    Autoregressive     Vertical(target, Nothing())
    Speculative        Vertical(target, Horizontal((Vertical(draft, Nothing()), k)))
    PromptLookup       Vertical(target, MaxGram(k))
    Cascade            Vertical(target, Algorithm 1 over K)
    VerticalCascade, HorizontalCascade    one half of it each
    AdaptiveCascade    Vertical(target, drafts and Max-Gram wherever they pay)
    DraftAlone         Vertical(draft, Nothing()): not lossless

All of them run through the same loop (`csd.decoding.generate`), so a comparison differs in the tree and in nothing
else. Importable without torch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from csd.decoding.errors import Refusal
from csd.decoding.methods.adaptive_cascade import AdaptiveCascade
from csd.decoding.methods.autoregressive import Autoregressive
from csd.decoding.methods.cascade import Cascade
from csd.decoding.methods.draft_alone import DraftAlone
from csd.decoding.methods.horizontal_cascade import HorizontalCascade
from csd.decoding.methods.method import Knobs, LaneParts, Method, title
from csd.decoding.methods.prompt_lookup import PromptLookup
from csd.decoding.methods.speculative import Speculative
from csd.decoding.methods.vertical_cascade import VerticalCascade
from csd.ranges import shorten
from csd.record.untrusted import describe_fault

__all__ = [
    "METHODS",
    "AdaptiveCascade",
    "Autoregressive",
    "Cascade",
    "DraftAlone",
    "HorizontalCascade",
    "Knobs",
    "LaneParts",
    "Method",
    "PromptLookup",
    "Refusal",
    "Speculative",
    "VerticalCascade",
    "find_method",
    "restore_method",
    "settings_of",
    "title",
]

METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (
        Autoregressive,
        Speculative,
        PromptLookup,
        VerticalCascade,
        HorizontalCascade,
        Cascade,
        AdaptiveCascade,
        DraftAlone,
    )
}
# How links, API clients and scripts of version 1 spell them.
FORMER_NAMES = {
    "adaptive": "adaptive cascade",
    "vertical": "vertical cascade",
    "horizontal": "horizontal cascade",
    "cascade, adaptive": "adaptive cascade",
    "cascade, vertical only": "vertical cascade",
    "cascade, horizontal only": "horizontal cascade",
}


def find_method(name: str) -> type[Method]:
    """The method of this name, written with spaces or hyphens. Raises Refusal that lists the names."""
    spelled = name.strip().replace("-", " ") if isinstance(name, str) else ""
    found = METHODS.get(FORMER_NAMES.get(spelled, spelled))
    if found is None:
        raise Refusal(f"There is no method “{shorten(name)}”. Choose one of: {', '.join(METHODS)}.")
    return found


def settings_of(method: Method) -> dict[str, Any]:
    """A method's settings as plain JSON, enough to make it again with `restore_method`."""
    fields: Any = method  # every method is a dataclass, which the base class cannot say
    return json.loads(json.dumps(asdict(fields)))


def restore_method(name: str, settings: Mapping[str, Any]) -> Method:
    """The method that a trace's header describes. Raises Refusal where there is none, or where a setting is wrong."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(find_method(name)).validate_python(dict(settings))
    except ValidationError as error:
        fault = describe_fault(error.errors()[0])
        raise Refusal(f"The settings of {name} cannot be read: {fault}.") from error
