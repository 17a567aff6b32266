"""The document of the page, made once and not for every visitor: Gradio writes and compresses 0.8 MB each time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import QueryParams

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Key = tuple[object, ...]
App = Callable[[Message, Callable[[], Awaitable[Message]], Send], Awaitable[None]]

MOST = 16  # documents that are kept
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

    The query of a link is read in the browser, so it makes no other document. A request with anything that is not known
    to leave the document as it is goes through, so that nobody can have a document made that is wrong for others.
    """

    def __init__(self, app: App):
        self._app = app
        self._kept: OrderedDict[Key, tuple[Message, ...]] = OrderedDict()  # latest last

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


def _key(scope: Message) -> Key | None:
    """What the document depends on; None where the request is for something else, or unusual."""
    if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] not in ("", "/"):
        return None
    names = [name.lower() for name, _ in scope["headers"]]
    read = [name for name in names if name not in HARMLESS]
    if len(read) != len(set(read)) or not ADDRESS.issuperset(read) or "deep_link" in QueryParams(scope["query_string"]):
        return None
    headers = {name.lower(): value for name, value in scope["headers"]}
    accepted = headers.get(b"accept-encoding", b"")
    address = (headers.get(name) for name in sorted(ADDRESS - {b"accept-encoding"}))
    return (scope["scheme"], scope.get("root_path", ""), b"br" in accepted, b"gzip" in accepted, *address)


def _may_be_repeated(sent: list[Message]) -> bool:
    """Whether an answer is whole, good, and nobody's own."""
    if not sent or sent[0].get("status") != 200 or sent[-1].get("more_body", False):
        return False
    return all(name.lower() != b"set-cookie" for name, _ in sent[0]["headers"])
