"""A sentence in place of every answer that says nothing.

Gradio answers a request that does not fit its event with status 500 and `"error": null`, in its stream with `null`
alone, and breaks off where it does not know the event. Nothing of this can be set in Gradio, so it is mended on the
way out.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Callable[[], Awaitable[Message]], Send], Awaitable[None]]

UNCLEAR = "This could not be answered: the request is not one that the page sends. Reload the page and try again."
FAILED = b'"output":{"error":null}'  # in a message of the stream
SENTENCE = f'"output":{{"error":{json.dumps(UNCLEAR)}}}'.encode()
REFUSED = 400

log = logging.getLogger(__name__)


class ClearAnswers:
    """ASGI middleware: an error of the server becomes status 400 with a sentence; the log has its traceback."""

    def __init__(self, app: App):
        self._app = app

    async def __call__(self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(send)
        try:
            await self._app(scope, receive, answer.pass_on)
        except Exception:
            log.exception("answering %s", scope["path"][:100])
            await answer.end()


class _Answer:
    """One answer on its way out. An error of the server is held back until it is whole."""

    def __init__(self, send: Send):
        self._send = send
        self._begun = False
        self._held: bytes | None = None

    async def pass_on(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 500:
            self._held = b""
        elif self._held is None:
            self._begun = True
            if FAILED in message.get("body", b""):
                message = {**message, "body": message["body"].replace(FAILED, SENTENCE)}
            await self._send(message)
        else:
            held = self._held = self._held + message.get("body", b"")
            if not message.get("more_body"):
                await self._refuse(_sentence(held))

    async def end(self) -> None:
        """After an exception: a sentence, or the end of what has begun."""
        if self._begun:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await self._refuse(UNCLEAR)

    async def _refuse(self, sentence: str) -> None:
        body = json.dumps({"error": sentence, "detail": sentence}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await self._send({"type": "http.response.start", "status": REFUSED, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})


def _sentence(body: bytes) -> str:
    """What the server says of its error, if it does."""
    try:
        found = json.loads(body)["error"]
    except (ValueError, KeyError, TypeError):
        found = None
    return found if isinstance(found, str) and found.strip() else UNCLEAR
