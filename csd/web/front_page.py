"""The document of the page, made once and not for every visitor: Gradio writes and compresses 0.8 MB each time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Callable[[], Awaitable[Message]], Send], Awaitable[None]]

MOST = 16  # documents that are kept
# The document names the address at which the visitor's browser found it.
READ = (b"host", b"x-forwarded-host", b"x-forwarded-proto", b"x-forwarded-port", b"x-direct-url", b"accept-encoding")


class FrontPage:
    """ASGI middleware: repeats the answer to `GET /` to all who ask for it in the same way. The query of a link is read
    in the browser, so it makes no other document; a request from another site goes through."""

    def __init__(self, app: App):
        self._app = app
        self._kept: OrderedDict[tuple[bytes | None, ...], tuple[Message, ...]] = OrderedDict()  # latest last

    async def __call__(self, scope: Message, receive: Any, send: Send) -> None:
        key = _key(scope)
        if key is None:
            await self._app(scope, receive, send)
            return
        if key not in self._kept:
            sent: list[Message] = []

            async def listen(message: Message) -> None:
                sent.append(message)
                await send(message)

            await self._app(scope, receive, listen)
            if _may_be_repeated(sent):
                self._kept[key] = tuple(sent)
                while len(self._kept) > MOST:
                    self._kept.popitem(last=False)
            return
        self._kept.move_to_end(key)
        for message in self._kept[key]:
            await send(dict(message))


def _key(scope: Message) -> tuple[bytes | None, ...] | None:
    """What the document depends on; None where the request is for something else."""
    if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] not in ("", "/"):
        return None
    headers = dict(scope["headers"])
    if b"origin" in headers or b"deep_link" in scope["query_string"]:
        return None
    return (scope["scheme"].encode(), scope.get("root_path", "").encode(), *(headers.get(name) for name in READ))


def _may_be_repeated(sent: list[Message]) -> bool:
    """Whether an answer is whole, good, and nobody's own."""
    if not sent or sent[0].get("status") != 200 or sent[-1].get("more_body", False):
        return False
    return all(name.lower() != b"set-cookie" for name, _ in sent[0]["headers"])
