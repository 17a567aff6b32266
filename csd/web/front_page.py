"""The document of the page, made once and not for every visitor: Gradio writes and compresses 0.8 MB each time."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.responses import PlainTextResponse

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Key = tuple[object, ...]
App = Callable[[Message, Callable[[], Awaitable[Message]], Send], Awaitable[None]]

MOST = 16  # documents that are kept
LONGEST_QUERY = 8_000  # bytes; each request of the page repeats it, up to twice
TOO_LONG = "This link is too long, so nothing on the page would work. Open the page without it, and type what it held."
# The document names the address at which the visitor's browser found it: what Gradio reads of a request.
ADDRESS = frozenset((b"host", b"x-forwarded-host", b"x-forwarded-proto", b"accept-encoding"))
# What browsers and proxies send that changes nothing in the document.
HARMLESS = frozenset(
    b"accept accept-language cache-control connection cookie dnt forwarded from keep-alive pragma priority purpose"
    b" referer rtt save-data sec-ch-ua sec-ch-ua-mobile sec-ch-ua-platform sec-fetch-dest sec-fetch-mode sec-fetch-site"
    b" sec-fetch-user sec-gpc sec-purpose te upgrade-insecure-requests user-agent via x-amzn-trace-id x-forwarded-for"
    b" x-real-ip x-request-id".split()
)


class FrontPage:
    """ASGI middleware: repeats the answer to `GET /` to all who ask for it in the same way.

    The query of a link is read in the browser and does not reach Gradio, so it makes no other document. A request with
    anything that is not known to leave the document as it is goes through, so that nobody can have a document made that
    is wrong for others. Those who ask while it is made wait for it.
    """

    def __init__(self, app: App):
        self._app = app
        self._kept: OrderedDict[Key, tuple[Message, ...]] = OrderedDict()  # latest last
        self._making: dict[Key, asyncio.Task[tuple[Message, ...]]] = {}

    async def __call__(self, scope: Message, receive: Any, send: Send) -> None:
        if not _is_front(scope):
            await self._app(scope, receive, send)
            return
        if _is_too_long(scope["query_string"]):
            await PlainTextResponse(TOO_LONG, 414)(scope, receive, send)
            return
        scope = {**scope, "query_string": b""}
        key = _key(scope)
        if key is None:
            await self._app(scope, receive, send)
            return
        if key in self._kept:
            self._kept.move_to_end(key)
            sent = self._kept[key]
        else:
            is_first = key not in self._making
            sent = await asyncio.shield(self._make(key, scope))  # whoever leaves does not take it from the others
            if not (is_first or _may_be_repeated(sent)):
                await self._app(scope, receive, send)
                return
        for message in sent:
            await send(dict(message))

    def _make(self, key: Key, scope: Message) -> asyncio.Task[tuple[Message, ...]]:
        if key not in self._making:
            self._making[key] = asyncio.create_task(self._answer(key, scope))
            self._making[key].add_done_callback(lambda _: self._making.pop(key))
        return self._making[key]

    async def _answer(self, key: Key, scope: Message) -> tuple[Message, ...]:
        sent: list[Message] = []
        asked = iter(({"type": "http.request", "body": b"", "more_body": False},))

        async def receive() -> Message:
            return next(asked, None) or await asyncio.Future()  # it is never cut off

        async def listen(message: Message) -> None:
            sent.append(message)

        await self._app(scope, receive, listen)
        if _may_be_repeated(sent):
            self._kept[key] = tuple(sent)
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)
        return tuple(sent)


def _is_too_long(query: bytes) -> bool:
    """Also of a query once the browser has read and written it again, which makes three bytes of some signs."""
    if len(query) > LONGEST_QUERY:
        return True
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, encoding="latin-1")
    return len(urlencode(pairs, encoding="latin-1")) > LONGEST_QUERY


def _is_front(scope: Message) -> bool:
    return scope["type"] == "http" and scope["method"] == "GET" and scope["path"] in ("", "/")


def _key(scope: Message) -> Key | None:
    """What the document depends on; None where the request is unusual."""
    names = [name.lower() for name, _ in scope["headers"]]
    read = [name for name in names if name not in HARMLESS]
    if len(read) != len(set(read)) or not ADDRESS.issuperset(read):
        return None
    headers = {name.lower(): value for name, value in scope["headers"]}
    accepted = headers.get(b"accept-encoding", b"")
    address = (headers.get(name) for name in sorted(ADDRESS - {b"accept-encoding"}))
    return (scope["scheme"], scope.get("root_path", ""), b"br" in accepted, b"gzip" in accepted, *address)


def _may_be_repeated(sent: Sequence[Message]) -> bool:
    """Whether an answer is whole, good, and nobody's own."""
    if not sent or sent[0].get("status") != 200 or sent[-1].get("more_body", False):
        return False
    return all(name.lower() != b"set-cookie" for name, _ in sent[0]["headers"])
