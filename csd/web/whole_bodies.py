"""Waiting for the bodies of requests. A request takes its turn only once its whole body is here, so that a body which
crawls does not keep the other requests of its address waiting."""

from __future__ import annotations

import asyncio
from collections import Counter

from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse

from csd.decoding.errors import Refusal
from csd.web.addresses import address, neighbourhood
from csd.web.bodies import App, Message, Receive, Send, declared_size, largest_event
from csd.web.deployment import Deployment
from csd.web.shares import MANY, busy, takes_turns

MOST = 16 * 2**20  # bytes of bodies that are held for a neighbourhood
PART = 4  # an address has a quarter of that, so that it cannot use up all that its neighbours have
REQUEST = 2**15  # bytes that a body counts for while it arrives, besides those that are here: so 128 of an address may
SECONDS = 60.0  # for a body
TOO_SLOW = "This request did not arrive in time. Try again."


class WholeBodies:
    """ASGI middleware: passes a request on once its whole body is here. A body that does not arrive in time gets status
    408 with a sentence; where an address or its neighbourhood has too many bodies on their way, the status is 429.

    Uploads are not held back here: they are read as they arrive (`Uploads`). Nor are bodies that are larger than an
    event may be, which are refused without being read (`BodyLimit`).
    """

    def __init__(self, app: App, deployment: Deployment, most: int = MOST, seconds: float = SECONDS):
        self._app = app
        self._deployment = deployment
        self._largest = largest_event(deployment)
        self._most, self._seconds = most, seconds
        self._held: Counter[str] = Counter()  # bytes by address, and by neighbourhood

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if not takes_turns(scope) or not 0 < declared_size(scope) <= self._largest:
            await self._app(scope, receive, send)
            return
        held = _Held(self._held, self._most, address(HTTPConnection(scope), self._deployment))
        try:
            await self._pass_on(held, scope, receive, send)
        finally:
            held.let_go()

    async def _pass_on(self, held: _Held, scope: Message, receive: Receive, send: Send) -> None:
        try:
            body = await asyncio.wait_for(held.read(receive), self._seconds)
        except asyncio.TimeoutError:  # another exception than TimeoutError in Python 3.10
            await JSONResponse({"error": TOO_SLOW, "detail": TOO_SLOW}, 408)(scope, receive, send)
        except Refusal as refusal:
            await busy(refusal)(scope, receive, send)
        else:
            if body is not None:
                await self._app(scope, _first(body, held, receive), send)


class _Held:
    """The bytes that one request adds to those held for its address and for its neighbourhood."""

    def __init__(self, all_held: Counter[str], most: int, own: str):
        self._all = all_held
        self._most = {neighbourhood(own): most, own: most // PART}
        self._count = 0

    async def read(self, receive: Receive) -> bytes | None:
        """The whole body; None if the client leaves before. Raises Refusal with a sentence where too much is held."""
        body = bytearray()
        is_whole = False
        self._change(REQUEST)
        while not is_whole:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            is_whole = not message.get("more_body", False)
            self._change(len(body) + (0 if is_whole else REQUEST))
        return bytes(body)

    def let_go(self) -> None:
        self._change(0)

    def _change(self, count: int) -> None:
        for owner in self._most:
            self._all[owner] += count - self._count
            if not self._all[owner]:
                del self._all[owner]
        is_more, self._count = count > self._count, count
        if is_more and any(self._all[owner] > most for owner, most in self._most.items()):
            raise Refusal(MANY)


def _first(body: bytes, held: _Held, receive: Receive) -> Receive:
    """Receives the whole body in one message, after which it is no longer held, and then whatever the client sends."""
    is_taken = False

    async def received() -> Message:
        nonlocal is_taken
        if is_taken:
            return await receive()
        is_taken = True
        held.let_go()
        return {"type": "http.request", "body": body, "more_body": False}

    return received
