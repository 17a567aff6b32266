"""Addresses with a query of very many parameters, each of which the server would take apart while everybody waits."""

from __future__ import annotations

from starlette.responses import JSONResponse

from csd.web.bodies import App, Message, Receive, Send

MOST = 200  # parameters; a link to the page has one for each field, thirty or so
LONG = "This address has too many parameters. Copy the link anew."


class ShortQueries:
    """ASGI middleware: status 414 with a sentence for a longer query, which is not parsed."""

    def __init__(self, app: App):
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["query_string"].count(b"&") >= MOST:
            await JSONResponse({"error": LONG, "detail": LONG}, 414)(scope, receive, send)
        else:
            await self._app(scope, receive, send)
