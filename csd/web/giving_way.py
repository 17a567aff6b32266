"""Who gives way where room is short: whoever holds most, so that nobody takes room from others by wanting more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


def next_to_go(held: Mapping[Key, tuple[str, int]]) -> Key:
    """The oldest that belongs to the owner of most; `held` are owner and weight of all there is, oldest first."""
    weights: Counter[str] = Counter()
    for owner, weight in held.values():
        weights[owner] += weight
    ((heaviest, _),) = weights.most_common(1)
    return next(key for key, (owner, _) in held.items() if owner == heaviest)
