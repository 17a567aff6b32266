"""Cascade Speculative Drafting: speculative decoding with a cascade of drafters (arXiv 2312.11462).

    import csd

    family = csd.load("embedded")
    trace = csd.generate(family, "Once upon a time", csd.AdaptiveCascade(family.draft_names))
    race = csd.race(family, "Once upon a time")

Everything below is imported when it is first used; `import csd` needs neither torch nor transformers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from csd.api import generate, load, race
    from csd.decoding.acceptance import Coupled, Greedy, Rejection
    from csd.decoding.combinators import Horizontal, Vertical
    from csd.decoding.draft import Draft, Drafter, statistical_draft
    from csd.decoding.errors import Refusal
    from csd.decoding.methods import (
        AdaptiveCascade,
        Autoregressive,
        Cascade,
        HorizontalCascade,
        LaneParts,
        Method,
        PromptLookup,
        Speculative,
        VerticalCascade,
    )
    from csd.models.compiling import compile_kernels
    from csd.models.spec import FamilyError
    from csd.record.race import Race
    from csd.record.recording import Recording
    from csd.record.trace import Trace
    from csd.request.request import Request
    from csd.run import finished_traces, run_race

_HOMES = {
    "csd.api": ("generate", "load", "race"),
    "csd.decoding.acceptance": ("Coupled", "Greedy", "Rejection"),
    "csd.decoding.combinators": ("Horizontal", "Vertical"),
    "csd.decoding.draft": ("Draft", "Drafter", "statistical_draft"),
    "csd.decoding.errors": ("Refusal",),
    "csd.decoding.methods": (
        "AdaptiveCascade",
        "Autoregressive",
        "Cascade",
        "HorizontalCascade",
        "LaneParts",
        "Method",
        "PromptLookup",
        "Speculative",
        "VerticalCascade",
    ),
    "csd.models.catalog": ("FamilyError",),
    "csd.models.compiling": ("compile_kernels",),
    "csd.record.race": ("Race",),
    "csd.record.recording": ("Recording",),
    "csd.record.trace": ("Trace",),
    "csd.request.request": ("Request",),
    "csd.run": ("finished_traces", "run_race"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AdaptiveCascade",
    "Autoregressive",
    "Cascade",
    "Coupled",
    "Draft",
    "Drafter",
    "FamilyError",
    "Greedy",
    "Horizontal",
    "HorizontalCascade",
    "LaneParts",
    "Method",
    "PromptLookup",
    "Race",
    "Recording",
    "Refusal",
    "Rejection",
    "Request",
    "Speculative",
    "Trace",
    "Vertical",
    "VerticalCascade",
    "compile_kernels",
    "finished_traces",
    "generate",
    "load",
    "race",
    "run_race",
    "statistical_draft",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'csd' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
