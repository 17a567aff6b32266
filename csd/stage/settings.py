"""A lane's settings in plain words, for those who do not know the paper's letters."""

from __future__ import annotations

from typing import Any

from csd.record.trace import Header

ALONE = "big model alone"


def settings_in_words(header: Header) -> str:
    """Such as "draft-mid, 16 ahead" or "2 drafts and a copier". The exact settings are the header's `label`."""
    settings: dict[str, Any] = header.settings
    if drafts := settings.get("drafts"):
        return f"{len(drafts)} draft{'s' if len(drafts) > 1 else ''} and a copier"
    if draft := settings.get("draft"):
        return f"{draft}, {settings['k']} ahead" if "k" in settings else f"{draft} alone"
    return f"copier, {settings['k']} ahead" if "k" in settings else header.label or ALONE
