"""What a race tells while it waits, runs and ends."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

from csd.request.request import Request
from csd.run import RaceEvent
from csd.web.loads import FamilyChoice
from csd.web.races import FinishedRace


@dataclass(frozen=True)
class Waiting:
    """The race has not started; the sentence says what it waits for."""

    sentence: str


@dataclass(frozen=True)
class Batch:
    """What the race with this id did since the last batch; may be empty."""

    id: str
    events: tuple[RaceEvent, ...]


@dataclass(frozen=True)
class Refused:
    """The race did not run, or failed; the sentence says why and what to do, `field` which field of the form it is
    about."""

    sentence: str
    field: str = ""


@dataclass(frozen=True)
class Finished:
    """All lanes have ended."""

    race: FinishedRace


News = Waiting | Batch | Refused | Finished
RaceStream = Generator[News, None, None]
Watch = Callable[[str, FamilyChoice, Request, RaceStream], RaceStream]
"""Passes on the news of a race of (visitor, family, request), and does something with them on the way."""
