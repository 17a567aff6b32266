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


def gives_way_to(own: str, held: Mapping[Key, str]) -> Key | None:
    """What makes room for one more of `own`: the youngest entry of the owner who has most. `held` are the owners of all
    entries, oldest first. None where `own` would then have as many."""
    counts = Counter(held.values())
    ((heaviest, most),) = counts.most_common(1)
    if counts[own] + 1 >= most:
        return None
    return next(key for key, owner in reversed([*held.items()]) if owner == heaviest)
