"""Calls of agents over MCP, which Gradio passes on as one client of its own on this machine, with the headers that each
came with. So a header gives each call a name: it counts for whoever makes it, and ends when nobody waits for it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from starlette.requests import Request

from csd.web.bodies import App, Message, Receive, Send
from csd.web.own_events import end_event

MCP = "/gradio_api/mcp/"
CALL, FROM = "x-csd-call", "x-forwarded-for"


class AgentCalls:
    """ASGI middleware: a call has a name and the address that it comes from, whatever its headers say, and its race
    ends with it."""

    def __init__(self, app: App, address: Callable[[Request], str]):
        self._app = app
        self._address = address

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _is_to_mcp(scope):
            await self._app(scope, receive, send)
            return
        queue, call = scope["app"].get_blocks()._queue, secrets.token_hex(8)
        own = {CALL.encode(): call.encode(), FROM.encode(): self._address(Request(scope)).encode()}
        others = [header for header in scope["headers"] if header[0].lower() not in own]
        queue.agent_calls.add(call)
        try:
            await self._app({**scope, "headers": [*others, *own.items()]}, receive, send)
        finally:
            queue.agent_calls.discard(call)
            await _end(queue, call)


def call_of(request: Any) -> str:
    """The name of the call that a request to the queue was made for; empty if it was not made for one."""
    return request.headers.get(CALL, "")


def has_ended(queue: Any, call: str) -> bool:
    """Whether nobody waits for a call any more. Gradio passes it on when a thread of its own is free, perhaps later."""
    return bool(call) and call not in queue.agent_calls


def _is_to_mcp(scope: Message) -> bool:
    return (scope["path"].removeprefix(scope.get("root_path", "")) + "/").startswith(MCP)


async def _end(queue: Any, call: str) -> None:
    for event in [one for one in queue.event_ids_to_events.values() if call_of(one.request) == call]:
        await end_event(queue, event)
