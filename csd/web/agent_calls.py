"""Calls of agents over MCP, which Gradio passes on as one client of its own on this machine, with the headers that each
came with. So a header gives each call a name: it counts for whoever makes it, and ends when nobody waits for it.

A call that waits holds one of Gradio's forty threads, and page and endpoint share those. So only some wait at a time.
"""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse

from csd.web.addresses import neighbourhood, region
from csd.web.bodies import App, Message, Receive, Send
from csd.web.own_events import end_event

MCP = "/gradio_api/mcp/"
CALL, FROM = "x-csd-call", "x-forwarded-for"
EACH, NEARBY, AROUND, ALL = 12, 16, 20, 24  # calls of an address, a neighbourhood, a region, and of all, at a time
MANY_HERE = "{} calls from your address or network are waiting, the most that this page allows. Try again in a minute."
MANY = f"{ALL} agents' calls are waiting, the most that this page allows. Try again in a minute."
OLD = "The older transport of MCP (SSE) is not served. Use Streamable HTTP at /gradio_api/mcp/."
OF_PLACE = (b"host", b"x-forwarded-host", b"x-forwarded-proto")  # headers that Gradio writes into its description
PLACE = re.compile(rb"[\w.:\[\], -]*")


class AgentCalls:
    """ASGI middleware: a call has a name and the address that it comes from, whatever its headers say, and its race
    ends with it. Status 429 with a sentence where too many wait, and 404 for the transport whose calls end at once."""

    def __init__(self, app: App, address: Callable[[Request], str]):
        self._app = app
        self._address = address
        self._waiting: Counter[tuple[str, str]] = Counter()  # calls, by what is shared and whose it is

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not is_to_mcp(scope):
            await self._app(scope, receive, send)
            return
        if _path(scope).startswith((f"{MCP}sse/", f"{MCP}messages/")):
            await refusal(404, OLD)(scope, receive, send)
            return
        own = self._address(Request(scope))
        places = _places(own) if scope["method"] == "POST" else {}
        if sentence := self._too_many(places):
            await refusal(429, sentence)(scope, receive, send)
            return
        self._waiting.update(places.keys())
        try:
            await self._pass_on(scope, receive, send, own)
        finally:
            self._waiting.subtract(places.keys())
            self._waiting += Counter()  # without those that are zero

    def _too_many(self, places: dict[tuple[str, str], int]) -> str:
        """Why a call may not wait as well; empty if it may."""
        full = [kind for (kind, whose), most in places.items() if self._waiting[kind, whose] >= most]
        if not full:
            return ""
        return MANY if full == ["all"] else MANY_HERE.format(max(self._waiting[place] for place in places if place[1]))

    async def _pass_on(self, scope: Message, receive: Receive, send: Send, own: str) -> None:
        queue, call = scope["app"].get_blocks()._queue, secrets.token_hex(8)
        named = {CALL.encode(): call.encode(), FROM.encode(): own.encode()}
        queue.agent_calls.add(call)
        try:
            headers = [*_passed_on(scope["headers"], named), *named.items()]
            await self._app({**scope, "headers": headers}, receive, send)
        finally:
            queue.agent_calls.discard(call)
            await _end(queue, call)


def call_of(request: Any) -> str:
    """The name of the call that a request to the queue was made for; empty if it was not made for one."""
    return request.headers.get(CALL, "")


def has_ended(queue: Any, call: str) -> bool:
    """Whether nobody waits for a call any more. Gradio passes it on when a thread of its own is free, perhaps later."""
    return bool(call) and call not in queue.agent_calls


def _places(own: str) -> dict[tuple[str, str], int]:
    """How many calls may wait at a time, by what is shared and whose it is."""
    return {
        ("address", own): EACH,
        ("neighbourhood", neighbourhood(own)): NEARBY,
        ("region", region(own)): AROUND,
        ("all", ""): ALL,
    }


def _passed_on(headers: Iterable[tuple[bytes, bytes]], named: dict[bytes, bytes]) -> list[tuple[bytes, bytes]]:
    """Headers that Gradio's client can send, and that are no scripts where Gradio writes them down."""
    return [
        (name, value)
        for name, value in headers
        if name.lower() not in named and value.isascii() and (name.lower() not in OF_PLACE or PLACE.fullmatch(value))
    ]


def refusal(status: int, sentence: str) -> JSONResponse:
    """As the server of MCP refuses what it does not read."""
    error = {"code": -32000, "message": sentence}
    return JSONResponse({"jsonrpc": "2.0", "id": "server-error", "error": error}, status)


def _path(scope: Message) -> str:
    return scope["path"].removeprefix(scope.get("root_path", "")) + "/"


def is_to_mcp(scope: Message) -> bool:
    """Whether a request is an agent's."""
    return _path(scope).startswith(MCP)


async def _end(queue: Any, call: str) -> None:
    for event in [one for one in queue.event_ids_to_events.values() if call_of(one.request) == call]:
        await end_event(queue, event)
