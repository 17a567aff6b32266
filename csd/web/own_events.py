"""Who may end an event in the queue, and how: the session that it belongs to, at the event's next answer.

Gradio asks for the event's id alone. It ends the task of an event, and where that had not begun, nothing gives its
place on the device back.
"""

from __future__ import annotations

from typing import Any

from gradio.data_classes import CancelBody
from gradio.server_messages import ProcessCompletedMessage
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.routing import Route

NOT_YOURS = "This race was started by another visitor. Only that visitor can stop it."
UNCLEAR = "What is to be cancelled is unclear: give session_hash, fn_index and event_id."


async def cancel(request: Request) -> JSONResponse:
    """Ends an event of the session that asks; one that is over or unknown needs no end."""
    try:
        asked = CancelBody.model_validate_json(await request.body())
    except (ValueError, ClientDisconnect):  # the first is pydantic's
        return JSONResponse({"detail": UNCLEAR}, 422)
    queue = request.app.get_blocks()._queue
    event = queue.event_ids_to_events.get(asked.event_id)
    if event is not None and event.session_hash != asked.session_hash:
        return JSONResponse({"detail": NOT_YOURS}, 403)
    if event is not None:
        await end_event(queue, event)
    return JSONResponse({"success": True})


async def end_event(queue: Any, event: Any, message: ProcessCompletedMessage | None = None) -> None:
    """Takes an event out of the queue, or ends it at its next answer if it runs. Whoever listens is told."""
    if queue.pending_messages_per_session.get(event.session_hash) is not None:
        queue.send_message(event, message or ProcessCompletedMessage(output={}, success=True))
    await queue.clean_events(event_id=event._id)


async def _not_found(_: Request) -> JSONResponse:
    return JSONResponse({"detail": "Not Found"}, 404)


# In place of Gradio's own. The last two would give a queued event other inputs, and end it, for components that record;
# the page has none.
OWN_EVENTS = [
    Route("/gradio_api/cancel", cancel, methods=["POST"]),
    Route("/gradio_api/stream/{event_id}", _not_found, methods=["POST"]),
    Route("/gradio_api/stream/{event_id}/close", _not_found, methods=["POST"]),
]
