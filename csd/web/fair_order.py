"""In which order races get the device, and when each of them ends, if races go on as they have lately.

The order is hierarchical fair queueing (Bennett and Zhang 1996): regions share the device equally, the networks of a
region share its part, and so do the addresses of a network. Each of them has a place on a clock, which says how much it
has had (`Turns`). The mark of
a race is the place of its owner, all races of the owner before it, and half of its own time; the smallest is next. With
the whole of its own time this would be weighted fair queueing (Demers, Keshav and Shenker 1989), which lets a long race
wait until all others have had as much, and with none of it start-time fair queueing (Goyal, Vin and Cheng 1996), which
does not let short ones go first. The owner pays for the whole of it in any case, with its next races.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

OWN = 0.5  # the part of its own time that a race waits for

Owner = tuple[str, ...]  # a region, perhaps with a network of it, and that with an address


@dataclass(frozen=True)
class Asked:
    """A race that was asked for, and the seconds that it is expected to take."""

    network: str
    address: str
    seconds: float
    region: str = ""

    @property
    def owners(self) -> tuple[Owner, Owner, Owner]:
        path = (self.region, self.network, self.address)
        return path[:1], path[:2], path


def marks(races: Sequence[Asked], places: Mapping[Owner, float]) -> list[float]:
    """Of races, given in the order in which they came, and the places of their owners."""
    turns, found = list(range(len(races))), [0.0] * len(races)
    for level in (2, 1, 0):  # the marks of each are compared inside one owner of the level above
        at_level = [(races[turn].owners[level], races[turn].seconds) for turn in turns]
        for turn, mark in zip(turns, _marks(at_level, places), strict=True):
            found[turn] = mark
        turns.sort(key=found.__getitem__)
    return found


def _marks(races: Sequence[tuple[Owner, float]], places: Mapping[Owner, float]) -> list[float]:
    reached = dict(places)
    found = []
    for owner, seconds in races:
        found.append(reached[owner] + OWN * seconds)
        reached[owner] += seconds
    return found


def expected_ends(left: Sequence[float], waiting: Sequence[float], at_once: int) -> list[float]:
    """Seconds until the end of each race that waits, in order, given what each takes and what those that run have
    left."""
    free = sorted([*[0.0] * at_once, *(max(0.0, seconds) for seconds in left)])[-at_once:]
    ends = []
    for seconds in waiting:
        ends.append(heapq.heapreplace(free, free[0] + seconds) + seconds)
    return ends


def overtaken_end(ahead: float, regions: int, at_once: int) -> float:
    """Seconds until the end of a race whose mark is so far ahead of the one that began last, if as many regions go on
    to want the device: marks then go on at the speed of the clock."""
    return max(0.0, ahead) * regions / at_once
