"""A lane's settings in plain words, for those who do not know the paper's letters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from csd.decoding.k_matrix import to_budgets
from csd.decoding.maxgram import MAX_GRAM
from csd.decoding.methods import (
    AdaptiveCascade,
    Cascade,
    HorizontalCascade,
    Refusal,
    VerticalCascade,
    restore_method,
)
from csd.decoding.stages import Stage, cascade_stages
from csd.record.trace import Header
from csd.roles import COPIER

ALONE = "big model alone"
CASCADES = {
    AdaptiveCascade.name: "picks who guesses",
    Cascade.name: "follows a plan",
    VerticalCascade.name: "each checks the one below",
    HorizontalCascade.name: "strong first, cheap last",
}


def settings_in_words(header: Header, roles: Mapping[str, str]) -> str:
    """Such as "small model guesses 16", or "small + tiny + copier" for a cascade with a plan. Other cascades
    are told by what makes them one. `roles` are the levels' by name, see csd/roles.py.
    """
    settings: dict[str, Any] = header.settings
    if header.method in CASCADES:
        return _guessers_in_words(header, roles) or CASCADES[header.method]
    if draft := settings.get("draft"):
        name = roles.get(draft, draft)
        return f"{name} guesses {settings['k']}" if "k" in settings else f"{name} alone"
    return f"{COPIER} alone guesses {settings['k']}" if "k" in settings else header.label or ALONE


def planned_guesses(header: Header) -> dict[str, int]:
    """How many guesses the plan wants of whom in a block of the target, by level; empty without a plan."""
    return {stage.name: stage.k for stage in _plan(header)[1]}


def _guessers_in_words(header: Header, roles: Mapping[str, str]) -> str:
    """Who drafts for the target or for another draft, the strongest first; empty without a plan."""
    drafts, stages = _plan(header)
    parts = frozenset[str]().union(*(stage.names() for stage in stages))
    return " + ".join(roles.get(name, name).removesuffix(" model") for name in (*drafts, MAX_GRAM) if name in parts)


def _plan(header: Header) -> tuple[tuple[str, ...], tuple[Stage, ...]]:
    """The drafts and the target's stages of a cascade; empty for one without a plan, or with one that could not have
    run, as a file may claim."""
    try:
        method = restore_method(header.method, header.settings)
        if not isinstance(method, Cascade):
            return (), ()
        method.check(method.drafts)
    except Refusal:
        return (), ()
    return tuple(method.drafts), tuple(cascade_stages(method.drafts, to_budgets(method.K)))
