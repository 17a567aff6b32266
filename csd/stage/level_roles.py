"""What the levels of a family are called in sentences, such as "small model", before a race has named them."""

from __future__ import annotations

from collections.abc import Sequence

from csd.decoding.maxgram import MAX_GRAM
from csd.decoding.methods.method import TARGET
from csd.record.levels import Level
from csd.stage.roles import roles


def level_roles(drafts: Sequence[str]) -> dict[str, str]:
    """The role of each level by its name; drafts come with the strongest first."""
    names = (MAX_GRAM, *reversed(drafts), TARGET)
    return roles([Level(name, level) for level, name in enumerate(names)])
