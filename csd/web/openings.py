"""Visitors whose files are being opened. Files take turns; where that would be long, a sentence says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from csd.decoding.errors import Refusal

MOST = 6  # files that are opened or wait for their turn; the longest valid race takes seconds
YOURS = "Your last file is still being opened. Wait for it, then open the next one."
MOST_HERE = 3  # of these for one neighbourhood of a public page, where a visitor may make up any number of sessions
RESERVED = 2  # of all places, for neighbourhoods that have none yet
MANY_HERE = "Several files from your network are being opened at the moment. Try again in a minute."
MANY = "Many files are being opened at the moment. Try again in a minute."


class Openings:
    """One file per visitor, few per neighbourhood, and few in all. For calls from the thread of the server's loop."""

    def __init__(self, most: int = MOST, most_here: int = MOST, reserved: int = 0):
        self._most, self._most_here, self._reserved = most, most_here, reserved
        self._places: dict[str, str] = {}  # by visitor

    @contextmanager
    def admit(self, visitor: str, neighbourhood: str) -> Iterator[None]:
        """While this visitor's file waits and is opened. Raises Refusal with a sentence."""
        if visitor in self._places:
            raise Refusal(YOURS)
        if len(self._places) >= self._most:
            raise Refusal(MANY)
        here = list(self._places.values()).count(neighbourhood)
        if here and (here >= self._most_here or len(self._places) >= self._most - self._reserved):
            raise Refusal(MANY_HERE)
        self._places[visitor] = neighbourhood
        try:
            yield
        finally:
            del self._places[visitor]
