"""The levels of a cascade, from statistics at the bottom to the target at the top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Level:
    """One level of the cascade: 0 is statistical, then come the drafts from the weakest up; the target is highest."""

    name: str
    level: int
    model: str = ""
    parameters: int = 0
    dtype: str = ""


def find_drafts(levels: Sequence[Level]) -> tuple[str, ...]:
    """The drafts among the levels, strongest first."""
    target = max((level.level for level in levels), default=0)
    drafts = [level for level in levels if 0 < level.level < target]
    return tuple(level.name for level in sorted(drafts, key=lambda level: -level.level))
