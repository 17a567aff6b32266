"""Who may touch an event in the queue: the session that it belongs to. Gradio asks for the event's id alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from csd.web.bodies import App, Message, Receive, Send

CANCEL = "/gradio_api/cancel"
NOT_YOURS = "This race was started by another visitor. Only that visitor can stop it."


class OwnEvents:
    """ASGI middleware: status 403 with a sentence where somebody cancels an event of another session."""

    def __init__(self, app: App):
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].removeprefix(scope.get("root_path", "")) == CANCEL:
            receive = of_own_session(receive, scope["app"].get_blocks()._queue.event_ids_to_events)
        await self._app(scope, receive, send)


def of_own_session(receive: Receive, events: Mapping[str, Any]) -> Receive:
    """The same body, which raises an error that FastAPI answers with if it names another session's event."""
    body = b""

    async def checked() -> Message:
        nonlocal body
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body", False) and _is_foreign(body, events):
            raise HTTPException(403, NOT_YOURS)
        return message

    return checked


def _is_foreign(body: bytes, events: Mapping[str, Any]) -> bool:
    try:
        asked = json.loads(body)
        event = events.get(asked["event_id"])
        return event is not None and event.session_hash != asked["session_hash"]
    except (ValueError, LookupError, TypeError, RecursionError):  # FastAPI says what is wrong with it
        return False


async def _not_found(_: Request) -> JSONResponse:
    return JSONResponse({"detail": "Not Found"}, 404)


# Gradio's ways to give a queued event other inputs, and to end it, for components that record; the page has none.
NO_STREAMS = [
    Route("/gradio_api/stream/{event_id}", _not_found, methods=["POST"]),
    Route("/gradio_api/stream/{event_id}/close", _not_found, methods=["POST"]),
]
