"""How far an upload is: one stream for each, which Gradio looks after twenty times a second."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

from gradio import routes
from starlette.responses import JSONResponse

from csd.web.bodies import App, Message, Receive, Send
from csd.web.gradio_sessions import LONGEST_NAME

PROGRESS = "/gradio_api/upload_progress"
NO_STREAM = "There is no such upload, or its progress is being told already."


class UploadProgress:
    """ASGI middleware: status 404 with a sentence for a second stream of an upload, and for a long name. Gradio would
    remember for good whatever name it is asked for."""

    def __init__(self, app: App):
        self._app = app
        self._told: set[str] = set()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        name = _upload(scope)
        if name is None:
            await self._app(scope, receive, send)
        elif name in self._told or len(name) > LONGEST_NAME:
            await JSONResponse({"error": NO_STREAM, "detail": NO_STREAM}, 404)(scope, receive, send)
        else:
            self._told.add(name)
            try:
                await self._app(scope, receive, send)
            finally:
                self._told.discard(name)
                _forget(routes.file_upload_statuses, name)


def _upload(scope: Message) -> str | None:
    """The name of the upload that a request asks for; None if it is for something else."""
    if scope["type"] != "http" or scope["path"].removeprefix(scope.get("root_path", "")) != PROGRESS:
        return None
    named = parse_qs(scope["query_string"].decode("latin-1")).get("upload_id")
    return named[-1] if named else None


def _forget(statuses: Any, name: str) -> None:
    if name not in statuses._statuses:
        statuses._signals.pop(name, None)
