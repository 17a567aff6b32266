"""A lane's settings in plain words, for those who do not know the paper's letters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from csd.decoding.k_matrix import to_budgets
from csd.decoding.maxgram import MAX_GRAM
from csd.decoding.methods import AdaptiveCascade, Cascade, HorizontalCascade, VerticalCascade
from csd.record.trace import Header

ALONE = "big model alone"
CASCADES = {
    AdaptiveCascade.name: "ours: picks the guesser",
    Cascade.name: "as in the paper",
    VerticalCascade.name: "each checks the one below",
    HorizontalCascade.name: "strong first, cheap last",
}


def settings_in_words(header: Header, roles: Mapping[str, str]) -> str:
    """Such as "small model guesses 16", or "small 8, tiny 6, copier 2" for a cascade with a plan, K. Other cascades are
    told by what makes them one. `roles` are the levels' by name, see csd/roles.py.
    """
    settings: dict[str, Any] = header.settings
    if header.method == Cascade.name and "K" in settings:
        return _plan_in_words([*settings["drafts"], MAX_GRAM], settings["K"], roles)
    if header.method in CASCADES:
        return CASCADES[header.method]
    if draft := settings.get("draft"):
        name = roles.get(draft, draft)
        return f"{name} guesses {settings['k']}" if "k" in settings else f"{name} alone"
    return f"copier guesses {settings['k']}" if "k" in settings else header.label or ALONE


def _plan_in_words(drafters: list[str], K: Any, roles: Mapping[str, str]) -> str:
    """Who writes how many positions of the target's block, from left to right."""
    counts = zip(drafters, to_budgets(K)[0], strict=True)
    return ", ".join(f"{roles.get(name, name).removesuffix(' model')} {count}" for name, count in counts if count)
