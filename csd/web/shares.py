"""How much of the server one address may have at a time: a flood from it waits behind itself, not before others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse

from csd.decoding.errors import Refusal
from csd.web.addresses import address, neighbourhood, region
from csd.web.bodies import App, Message, Receive, Send, is_upload
from csd.web.deployment import Deployment
from csd.web.health import is_probe

AT_ONCE = 4  # requests of one address that are worked on; one more than its files that may be opened at a time
NEARBY = 8  # of the addresses of a neighbourhood together
AROUND = 16  # of the neighbourhoods of a region
WAITING = 500  # requests of an address that wait or are worked on: a hundred pages that open at the same moment
MANY = "Many requests from your address are waiting. Try again in a minute."


@dataclass
class _Share:
    turns: asyncio.Semaphore
    count: int = 0  # of those that have a turn or wait for one


class Shares:
    """Turns for requests: few at a time for an address and for a neighbourhood, in the order in which they came."""

    def __init__(self, deployment: Deployment):
        self._deployment = deployment
        self._shares: dict[tuple[str, str], _Share] = {}  # by what is shared, and the name of whose it is

    def owner(self, scope: Message) -> str:
        """The neighbourhood that a request comes from."""
        return neighbourhood(address(HTTPConnection(scope), self._deployment))

    def region(self, scope: Message) -> str:
        """The larger network around that."""
        return region(address(HTTPConnection(scope), self._deployment))

    @asynccontextmanager
    async def turn(self, scope: Message) -> AsyncIterator[None]:
        """While a request is worked on. Raises Refusal with a sentence where too many wait."""
        own = address(HTTPConnection(scope), self._deployment)
        async with (
            self._one_of("address", own, AT_ONCE),
            self._one_of("neighbourhood", neighbourhood(own), NEARBY),
            self._one_of("region", region(own), AROUND),
        ):
            yield

    @asynccontextmanager
    async def only_turn(self, scope: Message) -> AsyncIterator[None]:
        """For work of which a neighbourhood has one piece done at a time. Raises Refusal as `turn` does."""
        async with self._one_of("only", self.owner(scope), 1):
            yield

    @asynccontextmanager
    async def in_line(self, scope: Message, line: str = "line") -> AsyncIterator[None]:
        """At the head of a region's line of this name, in which its neighbourhoods take turns, as addresses do in
        theirs. Raises Refusal as `turn` does."""
        own = address(HTTPConnection(scope), self._deployment)
        async with (
            self._one_of(f"own {line}", own, 1),
            self._one_of(line, neighbourhood(own), 1),
            self._one_of(f"region's {line}", region(own), 1),
        ):
            yield

    @asynccontextmanager
    async def _one_of(self, what: str, name: str, at_once: int) -> AsyncIterator[None]:
        share = self._shares.setdefault((what, name), _Share(asyncio.Semaphore(at_once)))
        if share.count >= WAITING:
            raise Refusal(MANY)
        share.count += 1
        try:
            async with share.turns:
                yield
        finally:
            share.count -= 1
            if not share.count:
                del self._shares[what, name]


class InTurn:
    """ASGI middleware: requests take their turns until their answers begin; what streams then takes none.

    Uploads have limits of their own, and probes of health are answered whatever else comes from their address.
    """

    def __init__(self, app: App, shares: Shares):
        self._app = app
        self._shares = shares

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if not takes_turns(scope):
            await self._app(scope, receive, send)
            return
        async with AsyncExitStack() as turn:
            try:
                await turn.enter_async_context(self._shares.turn(scope))
            except Refusal as refusal:
                await busy(refusal)(scope, receive, send)
                return

            still = await still_asked(scope, receive)
            if still is None:
                return

            async def send_and_leave(message: Message) -> None:
                await turn.aclose()
                await send(message)

            await self._app(scope, still, send_and_leave)


def takes_turns(scope: Message) -> bool:
    return scope["type"] == "http" and not is_upload(scope) and not is_probe(scope)


async def still_asked(scope: Message, receive: Receive) -> Receive | None:
    """The same messages of a request that had to wait; None where its client has gone meanwhile."""
    seen: list[Message] = []

    async def noted() -> Message:
        seen.append(await receive())
        return seen[-1]

    if await Request(scope, noted).is_disconnected():
        return None
    first = iter(tuple(seen))

    async def from_the_start() -> Message:
        return next(first, None) or await receive()

    return from_the_start


def busy(refusal: Refusal) -> JSONResponse:
    return JSONResponse({"error": str(refusal), "detail": str(refusal)}, 429)
