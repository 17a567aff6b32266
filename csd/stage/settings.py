"""A lane's settings in plain words, for those who do not know the paper's letters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from csd.decoding.methods import AdaptiveCascade
from csd.record.trace import Header
from csd.sentences import counted

ALONE = "big model alone"
ADAPTIVE = "chooses drafters as it goes"


def settings_in_words(header: Header, roles: Mapping[str, str]) -> str:
    """Such as "small model, 16 ahead" or "2 drafts and a copier"; `roles` are the levels' by name, see
    csd/roles.py. The exact settings are the header's `label`."""
    settings: dict[str, Any] = header.settings
    if header.method == AdaptiveCascade.name:
        return ADAPTIVE
    if drafts := settings.get("drafts"):
        return f"{counted(len(drafts), 'draft')} and a copier"
    if draft := settings.get("draft"):
        name = roles.get(draft, draft)
        return f"{name}, {settings['k']} ahead" if "k" in settings else f"{name} alone"
    return f"copier, {settings['k']} ahead" if "k" in settings else header.label or ALONE
