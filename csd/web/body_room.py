"""How many bytes of bodies are held for an address and for its neighbourhood, and which body gives way to the next."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from dataclasses import dataclass

from csd.decoding.errors import Refusal
from csd.web.addresses import neighbourhood
from csd.web.giving_way import next_to_go
from csd.web.shares import MANY

MOST = 16 * 2**20  # bytes of bodies that are held for a neighbourhood
PART = 4  # an address has a quarter of that, so that it cannot use up all that its neighbours have


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
        self.held: Counter[str] = Counter()  # bytes by address, and by neighbourhood
        self._arriving: defaultdict[str, dict[Body, None]] = defaultdict(dict)  # by neighbourhood, oldest first

    def hold(self, body: Body, count: int, is_whole: bool) -> None:
        """So many bytes of it from now on. Raises Refusal with a sentence where nothing else can give way."""
        is_more = count > body.count
        self._count(body, count)
        around = neighbourhood(body.own)
        if is_whole:
            self._arriving[around].pop(body, None)
        else:
            self._arriving[around][body] = None
        for owner, most in {around: self._most, body.own: self._most // PART}.items():
            while is_more and self.held[owner] > most:
                self._make_room(body, [one for one in self._arriving[around] if owner in (around, one.own)])

    def let_go(self, body: Body) -> None:
        self._count(body, 0)
        around = neighbourhood(body.own)
        self._arriving[around].pop(body, None)
        if not self._arriving[around]:
            del self._arriving[around]

    def _make_room(self, body: Body, arriving: list[Body]) -> None:
        gone = next_to_go({one: (one.own, one.count) for one in arriving}) if arriving else body
        if gone is body:
            raise Refusal(MANY)
        self.let_go(gone)
        if gone.reading is not None:
            gone.reading.cancel()

    def _count(self, body: Body, count: int) -> None:
        for owner in {body.own, neighbourhood(body.own)}:
            self.held[owner] += count - body.count
            if not self.held[owner]:
                del self.held[owner]
        body.count = count
