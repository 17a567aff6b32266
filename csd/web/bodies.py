"""How much a request may bring. Gradio parses any body while everybody waits, and 24 MB of brackets take it seconds."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from csd.web.deployment import Deployment

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

FORM = 256_000  # bytes of an event besides the prompt
VALUES = 4_000  # of an event besides the prompt; the page's own have some hundred
CHARACTER = 16  # bytes of a prompt: up to 4 in UTF-8, up to 6 where JSON escapes it, and some events send it twice
UPLOAD = "/gradio_api/upload"
TOO_LARGE = "This request has more than {:,} bytes, the most that this page takes. Shorten what you typed."

CROWDED = "This request has more than {:,} values, the most that this page takes. Shorten what you typed."


def largest_event(deployment: Deployment) -> int:
    """Bytes of an event with the longest prompt that the page allows."""
    return FORM + CHARACTER * deployment.max_prompt


def most_values(deployment: Deployment) -> int:
    """Of an event with the longest prompt, which some events send twice, and which may be all commas."""
    return VALUES + 2 * deployment.max_prompt


class BodyLimit:
    """ASGI middleware: status 413 with a sentence for a larger body, or one of more values. Uploads have limits of
    their own (`Uploads`)."""

    def __init__(self, app: App, most: int, values: int):
        self._app = app
        self._most, self._values = most, values

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_upload(scope):
            await self._app(scope, receive, send)
        elif declared_size(scope) > self._most:
            await _refuse(send, TOO_LARGE.format(self._most))
        else:  # what comes in pieces is counted; FastAPI answers with the exception
            error = HTTPException(413, TOO_LARGE.format(self._most))
            crowded = HTTPException(413, CROWDED.format(self._values))
            counted = at_most(receive, self._values, crowded, count_values)
            await self._app(scope, at_most(counted, self._most, error), send)


def is_upload(scope: Message) -> bool:
    return scope["type"] == "http" and scope["path"].removeprefix(scope.get("root_path", "")) == UPLOAD


def declared_size(scope: Message) -> int:
    """What a request says of its body's size; 0 if nothing."""
    text = Headers(scope=scope).get("content-length", "")
    return int(text) if text.isdecimal() else 0


def count_values(part: bytes) -> int:
    """At least as many as a part of JSON has: each but the first follows one of these signs, which texts have too."""
    return sum(map(part.count, (b"[", b"{", b",")))


def at_most(receive: Receive, most: int, error: Exception, measure: Callable[[bytes], int] = len) -> Receive:
    """The same body, which raises the error once it has more than so many bytes, or of what else is measured."""
    count = 0

    async def counted() -> Message:
        nonlocal count
        message = await receive()
        count += measure(message.get("body", b""))
        if count > most:
            raise error
        return message

    return counted


def until(receive: Receive, seconds: float, error: Exception) -> Receive:
    """The same body, which raises the error unless it is whole so many seconds after its reader begins."""
    end = 0.0
    is_whole = False

    async def arriving() -> Message:
        nonlocal end, is_whole
        if is_whole:  # what follows is the end of the connection, for which an answer may wait for hours
            return await receive()
        end = end or time.monotonic() + seconds
        try:
            message = await asyncio.wait_for(receive(), max(0.0, end - time.monotonic()))
        except asyncio.TimeoutError:  # another exception than TimeoutError in Python 3.10
            raise error from None
        is_whole = not message.get("more_body", False)
        return message

    return arriving


async def _refuse(send: Send, sentence: str) -> None:
    body = json.dumps({"error": sentence, "detail": sentence}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
