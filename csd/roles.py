"""What sentences call a level, for readers who do not know its name: "copier", "tiny model", "big model"."""

from __future__ import annotations

from collections.abc import Sequence

from csd import theme
from csd.decoding.maxgram import MAX_GRAM
from csd.decoding.methods.method import TARGET
from csd.models.spec import COPIES
from csd.record.levels import Level

BIG_MODEL = "big model"
COPIER = "copier"
SIZES = {1: ("small",), 2: ("tiny", "small"), 3: ("tiny", "small", "medium")}  # of drafts, weakest first


def roles(levels: Sequence[Level]) -> dict[str, str]:
    """The role of every level of a race, by name: drafts are called by rank, copies of the target by their bits."""
    target = max((level.level for level in levels), default=0)
    copies = {level.level: f"{COPIES[level.name]}-bit model" for level in levels if level.name in COPIES}
    drafts = sorted({level.level for level in levels if 0 < level.level < target}.difference(copies))
    sizes = SIZES.get(len(drafts))
    called = {rank: f"{sizes[i]} model" if sizes else f"draft {rank}" for i, rank in enumerate(drafts)}
    called |= {0: COPIER, **copies}
    return {
        level.name: BIG_MODEL if theme.mark(level.level, target) == "T" else called.get(level.level, COPIER)
        for level in levels
    }


def roles_of_family(drafts: Sequence[str]) -> dict[str, str]:
    """The role of every level of a family that has not raced, by name; `drafts` come with the strongest first."""
    names = (MAX_GRAM, *reversed(drafts), TARGET)
    return roles([Level(name, level) for level, name in enumerate(names)])


def named_with_roles(drafts: Sequence[str]) -> list[tuple[str, str]]:
    """Drafts to choose from, such as ("small model (opt-350m)", "opt-350m"); a role that has the name stands alone."""
    called = roles_of_family(drafts)
    pairs = [(called[name], name) for name in drafts]
    return [(role if name in role.split() else f"{role} ({name})", name) for role, name in pairs]
