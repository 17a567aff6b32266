"""Who gives way where room is short: whoever holds most, so that nobody takes room from others by wanting more."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

from csd.web.addresses import region

Key = TypeVar("Key", bound=Hashable)
Weighed = tuple[str, float]


def next_to_go(held: Mapping[Key, tuple[str, float]]) -> Key:
    """The oldest that belongs to the owner of most, in the region that has most: one customer of a provider may have
    many networks there. `held` are owner, an address or a network, and weight of all there is, oldest first."""
    crowd = _of_heaviest(held, region)
    return next(iter(_of_heaviest(crowd, str)))


def _of_heaviest(held: Mapping[Key, Weighed], group: Callable[[str], str]) -> dict[Key, Weighed]:
    """What belongs to the group of owners that has most."""
    weights: defaultdict[str, float] = defaultdict(float)
    for owner, weight in held.values():
        weights[group(owner)] += weight
    heaviest = max(weights, key=weights.__getitem__)
    return {key: (owner, weight) for key, (owner, weight) in held.items() if group(owner) == heaviest}


def gives_way_to(own: Sequence[str], held: Mapping[Key, Sequence[str]]) -> Key | None:
    """What makes room for one more of `own`: the youngest entry of the owner who has most. An owner is a path, such as
    of a region, a network in it, and an address; of the region that has most it is the network that has most, and so
    on. `held` are the owners of all entries, oldest first. None where `own` would then have as many."""
    if not own or not held:
        return None
    counts = Counter(path[0] for path in held.values())
    ((heaviest, most),) = counts.most_common(1)
    if counts[own[0]] + 1 < most:
        return _last_of_heaviest(_parts(heaviest, held))
    return gives_way_to(own[1:], _parts(own[0], held))


def _last_of_heaviest(held: Mapping[Key, Sequence[str]]) -> Key:
    names = [path[0] for path in held.values() if path]
    if not names:
        return next(reversed([*held]))
    ((heaviest, _),) = Counter(names).most_common(1)
    return _last_of_heaviest(_parts(heaviest, held))


def _parts(name: str, held: Mapping[Key, Sequence[str]]) -> dict[Key, Sequence[str]]:
    """Of the entries of one owner, the rest of their paths."""
    return {key: path[1:] for key, path in held.items() if path[0] == name}
