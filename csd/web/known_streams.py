"""Streams that have nothing to say end at once. Gradio begins some of them, and then breaks them off; others would have
heartbeats only, for ever.

A page asks for such a stream by itself, if it learns that its event is queued only after an earlier stream has brought
the answer. It is told that all is said: an error would end its events as lost.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs

from gradio.server_messages import CloseStreamMessage
from starlette.responses import JSONResponse, PlainTextResponse

from csd.web.bodies import App, Message, Receive, Send

STREAM, CALL = "/gradio_api/queue/data", re.compile(r"/gradio_api/call/(?:v2/)?[^/]+/([^/]+)")
UNKNOWN = "Nothing is known of this race: it has ended and was read, or the page was started anew. Run it again."


class KnownStreams:
    """ASGI middleware for streams without messages, now or later: that of a session is closed, and that of a single
    event, which only a program asks for, is refused with status 404 and a sentence."""

    def __init__(self, app: App):
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "GET":
            session = _session(scope)
            if session is not None and not _has_news(scope["app"].get_blocks()._queue, session):
                refusal = JSONResponse({"error": UNKNOWN, "detail": UNKNOWN}, 404)
                await (_closing() if _is_of_session(scope) else refusal)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def is_stream(scope: Message) -> bool:
    """Whether a request listens to an event."""
    return scope["method"] == "GET" and (_is_of_session(scope) or CALL.fullmatch(_path(scope)) is not None)


def _is_of_session(scope: Message) -> bool:
    return _path(scope) == STREAM


def _path(scope: Message) -> str:
    return scope["path"].removeprefix(scope.get("root_path", ""))


def _closing() -> PlainTextResponse:
    return PlainTextResponse(f"data: {CloseStreamMessage().model_dump_json()}\n\n", media_type="text/event-stream")


def _has_news(queue: Any, session: str) -> bool:
    """Whether a session has messages that nobody has read, or events that send some."""
    messages = queue.pending_messages_per_session.get(session)
    return messages is not None and (bool(queue.pending_event_ids_session.get(session)) or not messages.empty())


def _session(scope: Message) -> str | None:
    """Whose messages a request asks for; None if it is for something else."""
    if _is_of_session(scope):
        named = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True).get("session_hash")
        return named[-1] if named else None
    asked = CALL.fullmatch(_path(scope))
    return _session_of_event(scope["app"].get_blocks()._queue, asked[1]) if asked else None


def _session_of_event(queue: Any, event_id: str) -> str:
    """As Gradio finds it: an event that has ended is known until its answer is read, and one without a session has its
    own id for one."""
    if event := queue.event_ids_to_events.get(event_id):
        return event.session_hash
    sessions = queue.pending_event_ids_session.items()
    return next((session for session, events in sessions if event_id in events), event_id)
