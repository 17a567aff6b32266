"""Keeps the answers that are the same for everybody. Gradio would copy and write the whole page, 1.2 MB, anew for every
visitor; so it is made once for each name of the server."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import PlainTextResponse

from csd.decoding.errors import Refusal
from csd.web.bodies import App, Message, Receive, Send
from csd.web.giving_way import next_to_go
from csd.web.paced import pay
from csd.web.shares import Shares, busy, still_asked

Key = tuple[object, ...]

FRONT = ("", "/")  # the document, whose query is read in the browser
KEPT = {
    *FRONT,
    *("/config", "/config/", "/gradio_api/info", "/gradio_api/info/", "/gradio_api/openapi.json"),
    *("/manifest.json", "/theme.css", "/gradio_api/theme.css"),
}
PIECE = 2**16  # bytes that are sent at a time: what a client does not read stays here and not in its connection
MOST = 8 * 2**20  # bytes of answers that are kept: those of a page under some names, in each encoding
AT_ONCE = 2  # answers that are made at a time, for all addresses: each takes a thread and 5 MB while it is made
DEAREST = 0.2  # seconds that an answer costs at most; while others keep the server busy, it takes longer than its work
LONGEST_QUERY = 8_000  # bytes; each request of the page repeats it, up to twice
TOO_LONG = "This link is too long, so nothing on the page would work. Open the page without it, and type what it held."
# The document names the address at which the visitor's browser found it: what Gradio reads of a request.
ADDRESS = (b"host", b"x-forwarded-host", b"x-forwarded-proto")


@dataclass(frozen=True)
class Kept:
    """An answer, the neighbourhood that asked for it first, and whether another one has asked for it since."""

    owner: str
    sent: tuple[Message, ...]
    is_shared: bool = False

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(len(message.get("body", b"")) for message in self.sent)


class KeptAnswers:
    """ASGI middleware: answers GET and HEAD requests for a few paths with what it has kept from an earlier request.

    The server sees only the parts of a request that its answer depends on, so nobody can have an answer made that is
    wrong for others. Whoever asks while an answer is being made waits for it. One is made at a time for a
    neighbourhood, and few for all together. Where room is short, answers go first that a single neighbourhood has asked
    for, and of these the oldest of the neighbourhood that has most: whoever asks under many made-up names takes no room
    from others, and pays for each answer that is made.
    """

    def __init__(self, app: App, others: App, shares: Shares):
        """`app` makes the answers that are kept, each in the turn of whoever asks first; `others` answers all other
        requests."""
        self._compressing = GZipMiddleware(app)  # Gradio compresses neither the document nor JSON
        self._others = others
        self._shares = shares
        self._kept: OrderedDict[Key, Kept] = OrderedDict()  # latest last
        self._making: dict[Key, asyncio.Task[tuple[Message, ...]]] = {}
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if not _may_be_kept(scope):
            await self._others(scope, receive, send)
        elif _is_too_long(scope["query_string"]):
            await PlainTextResponse(TOO_LONG, 414)(scope, receive, send)
        else:
            await self._repeat(scope, receive, send)

    async def _repeat(self, scope: Message, receive: Receive, send: Send) -> None:
        plain = _plain(scope)
        key = _key(plain)
        if key in self._kept:
            sent = self._use(key, scope)
        else:
            try:
                async with self._shares.only_turn(scope):
                    if await still_asked(scope, receive) is None:
                        return
                    sent = await self._find(key, plain)
            except Refusal as refusal:
                await busy(refusal)(scope, receive, send)
                return
        start, *bodies = sent
        await send(dict(start))
        for body in bodies if scope["method"] == "GET" else [{"type": "http.response.body"}]:
            await send(dict(body))

    def _use(self, key: Key, scope: Message) -> tuple[Message, ...]:
        """A kept answer, for whoever asks here."""
        self._kept.move_to_end(key)
        kept = self._kept[key]
        if not kept.is_shared and kept.owner != self._shares.owner(scope):
            self._kept[key] = replace(kept, is_shared=True)
        return kept.sent

    async def _find(self, key: Key, scope: Message) -> tuple[Message, ...]:
        """The answer, once it is made. A client that leaves meanwhile does not take it from others who wait for it."""
        if key in self._kept:
            return self._kept[key].sent
        if key not in self._making:
            self._making[key] = asyncio.create_task(self._make(key, scope))
            self._making[key].add_done_callback(lambda _: self._making.pop(key))
        return await asyncio.shield(self._making[key])

    async def _make(self, key: Key, scope: Message) -> tuple[Message, ...]:
        sent: list[Message] = []
        asked = iter(({"type": "http.request", "body": b"", "more_body": False},))

        async def receive() -> Message:
            return next(asked, None) or await asyncio.Future()  # it is never cut off

        async def listen(message: Message) -> None:
            sent.extend(_in_pieces(message))

        async with self._turns:
            began = time.monotonic()
            try:
                await self._compressing(scope, receive, listen)
            finally:
                pay(min(DEAREST, time.monotonic() - began))  # most of it is in a thread of Gradio's
        if _may_be_repeated(sent):
            self._kept[key] = Kept(self._shares.owner(scope), tuple(sent))
            self._make_room()
        return tuple(sent)

    def _make_room(self) -> None:
        while sum(kept.size for kept in self._kept.values()) > MOST:
            own = {key: (kept.owner, kept.size) for key, kept in self._kept.items() if not kept.is_shared}
            del self._kept[next_to_go(own) if own else next(iter(self._kept))]


def _may_be_kept(scope: Message) -> bool:
    return scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and scope["path"] in KEPT


def _is_too_long(query: bytes) -> bool:
    """Whether the page could not repeat a query. A browser writes it anew, and some signs take three bytes then."""
    if len(query) > LONGEST_QUERY:
        return True
    if 3 * len(query) <= LONGEST_QUERY:
        return False
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, encoding="latin-1")
    return len(urlencode(pairs, encoding="latin-1")) > LONGEST_QUERY


def _plain(scope: Message) -> Message:
    """The same request, without anything that its answer does not depend on."""
    given = Headers(scope=scope)
    headers = [(name, given[name.decode()].encode("latin-1")) for name in ADDRESS if name.decode() in given]
    accepted = given.get("accept-encoding", "")
    encodings = [name for name in ("br", "gzip") if name in accepted]
    headers += [(b"accept-encoding", ", ".join(encodings).encode())] if encodings else []
    query = b"" if scope["path"] in FRONT else _plain_query(scope["query_string"])
    return {**scope, "method": "GET", "headers": headers, "query_string": query}


def _plain_query(query: bytes) -> bytes:
    """The parameters of a query that Gradio reads. Its only page has no name."""
    given = dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True))
    page = {"page": ""} if given.get("page") == "" else {}
    endpoints = {"all_endpoints": "True"} if given.get("all_endpoints") else {}
    return urlencode({**page, **endpoints}).encode()


def _key(plain: Message) -> Key:
    asked = (plain["scheme"], plain.get("root_path", ""), plain["path"] or "/", plain["query_string"])
    return (*asked, *plain["headers"])


def _in_pieces(message: Message) -> Iterator[Message]:
    body = message.get("body", b"")
    if len(body) <= PIECE:
        yield message
        return
    for at in range(0, len(body), PIECE):
        is_last = at + PIECE >= len(body)
        more = message.get("more_body", False) or not is_last
        yield {**message, "body": body[at : at + PIECE], "more_body": more}


def _may_be_repeated(sent: Sequence[Message]) -> bool:
    """Whether an answer is complete and a success, and sets no cookie, so that it is nobody's own."""
    if not sent or sent[0].get("status") != 200 or sent[-1].get("more_body", False):
        return False
    return all(name.lower() != b"set-cookie" for name, _ in sent[0]["headers"])
