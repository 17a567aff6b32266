"""How far an upload is: one stream for each, which Gradio looks after twenty times a second, and few uploads are known.

Gradio alone remembers each upload that nobody follows, and every name that it is asked for, for good.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from gradio import routes
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse

from csd.web.addresses import neighbourhood
from csd.web.bodies import App, Message, Receive, Send, is_upload
from csd.web.giving_way import next_to_go
from csd.web.gradio_sessions import LONGEST_NAME

PROGRESS = "/gradio_api/upload_progress"
NO_STREAM = "There is no such upload, or its progress is being told already."
LONG_NAME = f"The upload's name is longer than {LONGEST_NAME} characters."
MOST = 200  # uploads that have ended and are known, since a stream may begin after its upload


class UploadProgress:
    """ASGI middleware: status 404 with a sentence for a second stream of an upload, and a refusal of long names. Of
    more than `most` uploads that have ended, those of the neighbourhood that has most are forgotten first, and an
    upload whose progress was told at once. `address` says whom a request counts for."""

    def __init__(self, app: App, address: Callable[[Request], str] = lambda request: "", most: int = MOST):
        self._app = app
        self._address, self._most = address, most
        self._told: set[str] = set()
        self._arriving: Counter[str] = Counter()
        self._ended: OrderedDict[str, str] = OrderedDict()  # owner by name, oldest first

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        name = _upload(scope)
        if name is None:
            await self._app(scope, receive, send)
        elif is_upload(scope):
            await self._take(name, scope, receive, send)
        else:
            await self._tell(name, scope, receive, send)

    async def _take(self, name: str, scope: Message, receive: Receive, send: Send) -> None:
        if len(name) > LONGEST_NAME:
            await PlainTextResponse(LONG_NAME, 422)(scope, receive, send)
            return
        self._arriving[name] += 1
        self._ended.pop(name, None)
        try:
            await self._app(scope, receive, send)
        finally:
            self._arriving[name] -= 1
            self._arriving += Counter()  # names without any are forgotten
            self._note_end(name, neighbourhood(self._address(Request(scope))))

    def _note_end(self, name: str, owner: str) -> None:
        """Also of an upload that broke off, whose stream Gradio would keep up."""
        statuses: Any = routes.file_upload_statuses
        if name in self._arriving or name not in statuses._statuses:
            return
        statuses.set_done(name)
        if name not in self._told:
            self._ended[name] = owner
            if len(self._ended) > self._most:
                oldest = next_to_go({one: (other, 1) for one, other in self._ended.items()})
                del self._ended[oldest]
                _forget(oldest)

    async def _tell(self, name: str, scope: Message, receive: Receive, send: Send) -> None:
        if name in self._told or len(name) > LONGEST_NAME:
            await JSONResponse({"error": NO_STREAM, "detail": NO_STREAM}, 404)(scope, receive, send)
            return
        self._told.add(name)
        try:
            await self._app(scope, receive, send)
        finally:
            self._told.discard(name)
            if name not in self._arriving:
                self._ended.pop(name, None)
                _forget(name)


def _upload(scope: Message) -> str | None:
    """The name of the upload that a request brings, or asks for; None if it is for something else."""
    if not is_upload(scope) and not _is_progress(scope):
        return None
    return QueryParams(scope["query_string"]).get("upload_id") or None  # the last one counts


def _is_progress(scope: Message) -> bool:
    return scope["type"] == "http" and scope["path"].removeprefix(scope.get("root_path", "")) == PROGRESS


def _forget(name: str) -> None:
    statuses: Any = routes.file_upload_statuses
    statuses.stop_tracking(name)
    statuses._signals.pop(name, None)
