"""Answers that are the same for everybody, made once and not for every visitor: Gradio copies and writes the whole page
anew for each, 1.2 MB."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import PlainTextResponse

from csd.decoding.errors import Refusal
from csd.web.bodies import App, Message, Receive, Send
from csd.web.giving_way import next_to_go
from csd.web.shares import Shares, busy, still_asked

Key = tuple[object, ...]

FRONT = ("", "/")  # the document, whose query is read in the browser
KEPT = {
    *FRONT,
    *("/config", "/config/", "/gradio_api/info", "/gradio_api/info/", "/gradio_api/openapi.json"),
    *("/manifest.json", "/theme.css", "/gradio_api/theme.css"),
}
PIECE = 2**16  # bytes that are sent at a time: what a client does not read stays here and not in its connection
MOST = 32  # answers that are kept
LONGEST_QUERY = 8_000  # bytes; each request of the page repeats it, up to twice
TOO_LONG = "This link is too long, so nothing on the page would work. Open the page without it, and type what it held."
# The document names the address at which the visitor's browser found it: what Gradio reads of a request.
ADDRESS = (b"host", b"x-forwarded-host", b"x-forwarded-proto")


@dataclass(frozen=True)
class Kept:
    """An answer, and the neighbourhood that asked for it first."""

    owner: str
    sent: tuple[Message, ...]


class KeptAnswers:
    """ASGI middleware: repeats the answers to GET and HEAD of a few addresses to all who ask in the same way.

    The server is asked with what an answer depends on and nothing else, so nobody can have one made that is wrong for
    others. Those who ask while it is made wait for it; each address has few made at a time. The oldest answer goes of
    the neighbourhood that has most, so that whoever asks under many names takes no place from others.
    """

    def __init__(self, app: App, others: App, shares: Shares):
        """`app` makes the answers, each in the turn of whoever asks for it; `others` answers everything else."""
        self._compressing = GZipMiddleware(app)  # Gradio compresses neither the document nor JSON
        self._others = others
        self._shares = shares
        self._kept: OrderedDict[Key, Kept] = OrderedDict()  # latest last
        self._making: dict[Key, asyncio.Task[tuple[Message, ...]]] = {}

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
            self._kept.move_to_end(key)
            sent = self._kept[key].sent
        else:
            try:
                async with self._shares.turn(scope):
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

    async def _find(self, key: Key, scope: Message) -> tuple[Message, ...]:
        """The answer, once it is made. Whoever leaves does not take it from the others."""
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

        await self._compressing(scope, receive, listen)
        if _may_be_repeated(sent):
            self._kept[key] = Kept(self._shares.owner(scope), tuple(sent))
            if len(self._kept) > MOST:
                del self._kept[next_to_go({key: (kept.owner, 1) for key, kept in self._kept.items()})]
        return tuple(sent)


def _may_be_kept(scope: Message) -> bool:
    return scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and scope["path"] in KEPT


def _is_too_long(query: bytes) -> bool:
    """Also of a query once the browser has read and written it again, which makes three bytes of some signs."""
    if len(query) > LONGEST_QUERY:
        return True
    if 3 * len(query) <= LONGEST_QUERY:
        return False
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, encoding="latin-1")
    return len(urlencode(pairs, encoding="latin-1")) > LONGEST_QUERY


def _plain(scope: Message) -> Message:
    """The same request with nothing in it but what its answer depends on."""
    given = Headers(scope=scope)
    headers = [(name, given[name.decode()].encode("latin-1")) for name in ADDRESS if name.decode() in given]
    accepted = given.get("accept-encoding", "")
    encodings = [name for name in ("br", "gzip") if name in accepted]
    headers += [(b"accept-encoding", ", ".join(encodings).encode())] if encodings else []
    query = b"" if scope["path"] in FRONT else _plain_query(scope["query_string"])
    return {**scope, "method": "GET", "headers": headers, "query_string": query}


def _plain_query(query: bytes) -> bytes:
    """What Gradio reads of a query: its only page is the one without a name."""
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
    """Whether an answer is whole, good, and nobody's own."""
    if not sent or sent[0].get("status") != 200 or sent[-1].get("more_body", False):
        return False
    return all(name.lower() != b"set-cookie" for name, _ in sent[0]["headers"])
