"""Waiting for the bodies of requests. A request takes its turn only once its whole body is here, so that a body which
crawls does not keep the other requests of its address waiting."""

from __future__ import annotations

import asyncio

from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse

from csd.decoding.errors import Refusal
from csd.web.addresses import address
from csd.web.bodies import App, Message, Receive, Send, declared_size, largest_event
from csd.web.body_room import MOST, Body, BodyRoom
from csd.web.deployment import Deployment
from csd.web.shares import MANY, busy, takes_turns

REQUEST = 2**15  # bytes that a body counts for while it arrives, besides those that are here: so 128 of an address may
SECONDS = 60.0  # for a body
TOO_SLOW = "This request did not arrive in time. Try again."


class WholeBodies:
    """ASGI middleware: passes a request on once its whole body is here. A body that does not arrive in time gets status
    408 with a sentence; where an address or its neighbourhood has too many bodies on their way, one of them gets 429.

    Uploads are not held back here: they are read as they arrive (`Uploads`). Nor are bodies that are larger than an
    event may be, which are refused without being read (`BodyLimit`).
    """

    def __init__(self, app: App, deployment: Deployment, most: int = MOST, seconds: float = SECONDS):
        self._app = app
        self._deployment = deployment
        self._largest = largest_event(deployment)
        self._seconds = seconds
        self._room = BodyRoom(most)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if not takes_turns(scope) or not 0 < declared_size(scope) <= self._largest:
            await self._app(scope, receive, send)
            return
        body = Body(address(HTTPConnection(scope), self._deployment))
        body.reading = asyncio.ensure_future(self._read(body, receive))
        try:
            await asyncio.wait({body.reading}, timeout=self._seconds)
            await self._pass_on(body, body.reading, scope, receive, send)
        finally:
            body.reading.cancel()
            self._room.let_go(body)

    async def _read(self, body: Body, receive: Receive) -> bytes | None:
        """The whole body; None if the client leaves before. Raises Refusal with a sentence where there is no room."""
        read = bytearray()
        is_whole = False
        self._room.hold(body, REQUEST, is_whole)
        while not is_whole:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            read += message.get("body", b"")
            is_whole = not message.get("more_body", False)
            self._room.hold(body, len(read) + (0 if is_whole else REQUEST), is_whole)
        return bytes(read)

    async def _pass_on(
        self, body: Body, reading: asyncio.Future[bytes | None], scope: Message, receive: Receive, send: Send
    ) -> None:
        if not reading.done():
            await JSONResponse({"error": TOO_SLOW, "detail": TOO_SLOW}, 408)(scope, receive, send)
            return
        try:
            if reading.cancelled():  # it has given way
                raise Refusal(MANY)
            whole = reading.result()
        except Refusal as refusal:
            await busy(refusal)(scope, receive, send)
            return
        if whole is not None:
            await self._app(scope, self._first(whole, body, receive), send)

    def _first(self, whole: bytes, body: Body, receive: Receive) -> Receive:
        """Receives the whole body in one message, after which it is no longer held, and then what the client sends."""
        is_taken = False

        async def received() -> Message:
            nonlocal is_taken
            if is_taken:
                return await receive()
            is_taken = True
            self._room.let_go(body)
            return {"type": "http.request", "body": whole, "more_body": False}

        return received
