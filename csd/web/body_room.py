"""How many bytes of request bodies are held per address, per network and in all, and which body gives way to others."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass

from csd.decoding.errors import Refusal
from csd.web.addresses import neighbourhood, region
from csd.web.giving_way import next_to_go
from csd.web.shares import MANY

MOST = 16 * 2**20  # bytes of bodies that are held for a neighbourhood
PART = 4  # an address has a quarter of that, so that it cannot use up all that its neighbours have
AROUND, ALL = 4, 16  # times as many are held for a region, and for everybody
EVERYBODY = "everybody"


@dataclass(eq=False)
class Body:
    """A request's, of an address. `reading` is what reads it, and is cancelled where it gives way."""

    own: str
    count: int = 0  # bytes
    reading: asyncio.Future[bytes | None] | None = None


class BodyRoom:
    """Where there is no room for more, the oldest unfinished body of the address that has most of them gives way, so
    that bodies which crawl lock nobody out."""

    def __init__(self, most: int = MOST):
        self._most = most
        self.held: Counter[str] = Counter()  # bytes by address, network, and in all
        self._arriving: dict[Body, None] = {}  # oldest first

    def hold(self, body: Body, count: int, is_whole: bool) -> None:
        """So many bytes of it from now on. Raises Refusal with a sentence where nothing else can give way."""
        is_more = count > body.count
        self._count(body, count)
        if is_whole:
            self._arriving.pop(body, None)
        else:
            self._arriving[body] = None
        for owner, most in self._limits(body.own).items():
            while is_more and self.held[owner] > most:
                self._make_room(body, [one for one in self._arriving if owner in self._limits(one.own)])

    def let_go(self, body: Body) -> None:
        self._count(body, 0)
        self._arriving.pop(body, None)

    def _limits(self, own: str) -> dict[str, int]:
        """The bytes that may be held for an address, for the networks around it, and in all. A private address is its
        own network and region, with the limit of an address."""
        most = self._most
        owners = {EVERYBODY: ALL * most, region(own): AROUND * most, neighbourhood(own): most}
        return owners | {own: most // PART}

    def _make_room(self, body: Body, arriving: list[Body]) -> None:
        gone = next_to_go({one: (one.own, one.count) for one in arriving}) if arriving else body
        if gone is body:
            raise Refusal(MANY)
        self.let_go(gone)
        if gone.reading is not None:
            gone.reading.cancel()

    def _count(self, body: Body, count: int) -> None:
        for owner in self._limits(body.own):
            self.held[owner] += count - body.count
            if not self.held[owner]:
                del self.held[owner]
        body.count = count
