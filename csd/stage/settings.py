"""A lane's settings in plain words, for those who do not know the paper's letters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
    """Such as "small model guesses 16", or for a cascade what makes it one; `roles` are the levels' by name, see
    csd/roles.py. The exact settings are the header's `label`."""
    if header.method in CASCADES:
        return CASCADES[header.method]
    settings: dict[str, Any] = header.settings
    if draft := settings.get("draft"):
        name = roles.get(draft, draft)
        return f"{name} guesses {settings['k']}" if "k" in settings else f"{name} alone"
    return f"copier guesses {settings['k']}" if "k" in settings else header.label or ALONE
