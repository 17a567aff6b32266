"""A sentence in place of every answer that says nothing.

Gradio answers a request that does not fit its event with status 500 and `"error": null`, in its stream with `null`
alone, breaks off where it does not know the event, and speaks of a `Value` that is not in a list. Nothing of this can
be set in Gradio, so it is mended on the way out. Of a file that is gone it says the path alone. A file itself, or any
other whole answer, passes as it is.
"""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from csd.web.log_faults import log_fault
from csd.web.uploads import NO_ROOM

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Callable[[], Awaitable[Message]], Send], Awaitable[None]]

UNCLEAR = "This could not be answered: the request is not one that the page sends. Reload the page and try again."
NO_CHOICE = "One of the choices is not on this page. Reload the page and choose again."
FAILED = re.compile(rb'"error":\s*null')  # in a message of a stream, of the page or of an API client
SENTENCE = f'"error":{json.dumps(UNCLEAR)}'.encode()
LISTED = "is not in the list of choices"  # Gradio's, which says what was sent and what could have been
CHOICE = re.compile(rb'"error":"Value: (?:[^"\\]|\\.)*' + LISTED.encode() + rb'(?:[^"\\]|\\.)*"')
REFUSED, FORBIDDEN, FULL = 400, 403, 507
FILE = "/file="  # in the path of one that is fetched
NOT_SERVED = "File not allowed"  # Gradio's, with the path
GONE = "This file is not here: it may have given way to others. Show its race or comparison again, then save it."
WHOLE = (b"content-length", b"content-disposition")  # headers that no stream of messages has


class ClearAnswers:
    """ASGI middleware: an error of the server becomes status 400, or 507 for want of room, with a sentence."""

    def __init__(self, app: App):
        self._app = app

    async def __call__(self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(send, FILE in scope["path"])
        try:
            await self._app(scope, receive, answer.pass_on)
        except Exception as error:
            log_fault(error)
            is_full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
            await (answer.end(NO_ROOM, FULL) if is_full else answer.end())


class _Answer:
    """One answer on its way out. An error of the server is held back until it is whole, and so is the refusal of a
    file."""

    def __init__(self, send: Send, is_file: bool):
        self._send = send
        self._unclear = (500, FORBIDDEN) if is_file else (500,)
        self._status = 0
        self._begun = False
        self._is_stream = False
        self._held: bytes | None = None

    async def pass_on(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] in self._unclear:
            self._held, self._status = b"", message["status"]
        elif self._held is None:
            self._begun = True
            if message["type"] == "http.response.start":
                self._is_stream = not any(name.lower() in WHOLE for name, _ in message["headers"])
            body = message.get("body", b"")
            if self._is_stream and b'"error":' in body:
                message = {**message, "body": _mended(body)}
            await self._send(message)
        else:
            held = self._held = self._held + message.get("body", b"")
            if not message.get("more_body"):
                await (
                    self._refuse(_refusal(held), FORBIDDEN)
                    if self._status == FORBIDDEN
                    else self._refuse(_sentence(held))
                )

    async def end(self, sentence: str = UNCLEAR, status: int = REFUSED) -> None:
        """After an exception: a sentence, or the end of what has begun."""
        if self._begun:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await self._refuse(sentence, status)

    async def _refuse(self, sentence: str, status: int = REFUSED) -> None:
        body = json.dumps({"error": sentence, "detail": sentence}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await self._send({"type": "http.response.start", "status": status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})


def _mended(body: bytes) -> bytes:
    """Part of an answer with sentences for errors that say nothing."""
    return CHOICE.sub(f'"error":{json.dumps(NO_CHOICE)}'.encode(), FAILED.sub(SENTENCE, body))


def _refusal(body: bytes) -> str:
    """What the server says of a file that it does not serve, where that is more than its path."""
    try:
        said = json.loads(body)["detail"]
    except (ValueError, KeyError, TypeError):
        return GONE
    return said if isinstance(said, str) and not said.startswith(NOT_SERVED) else GONE


def _sentence(body: bytes) -> str:
    """What the server says of its error, if it does."""
    try:
        found = json.loads(body)["error"]
    except (ValueError, KeyError, TypeError):
        found = None
    if not isinstance(found, str) or not found.strip():
        return UNCLEAR
    return NO_CHOICE if LISTED in found else found
