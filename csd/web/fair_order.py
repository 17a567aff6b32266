"""In which order races get the device, and when each of them ends, if races go on as they have lately.

The order is hierarchical fair queueing (Bennett and Zhang 1996): networks share the device equally, and the addresses
of a network share its part. Each of them has a place on a clock, which says how much it has had (`Turns`). The mark of
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

Owner = tuple[str, ...]  # a network, or a network and an address of it


@dataclass(frozen=True)
class Asked:
    """A race that was asked for, and the seconds that it is expected to take."""

    network: str
    address: str
    seconds: float

    @property
    def owners(self) -> tuple[Owner, Owner]:
        return (self.network,), (self.network, self.address)


def marks(races: Sequence[Asked], places: Mapping[Owner, float]) -> list[float]:
    """Of races, given in the order in which they came, and the places of their owners."""
    within = _marks([(race.owners[1], race.seconds) for race in races], places)  # compared inside a network only
    turns = sorted(range(len(races)), key=lambda turn: within[turn])
    found = _marks([(races[turn].owners[0], races[turn].seconds) for turn in turns], places)
    return [mark for _, mark in sorted(zip(turns, found, strict=True))]


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


def overtaken_end(ahead: float, networks: int, at_once: int) -> float:
    """Seconds until the end of a race whose mark is so far ahead of the one that began last, if as many networks go on
    to want the device: marks then go on at the speed of the clock."""
    return max(0.0, ahead) * networks / at_once
