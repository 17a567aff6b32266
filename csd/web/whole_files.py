"""Files are answered as a whole. Gradio would answer a part of one with the headers of the request, its cookies among
them, as headers of the answer."""

from __future__ import annotations

from csd.web.bodies import App, Message, Receive, Send

FILE = "/gradio_api/file"


class WholeFiles:
    """ASGI middleware: takes the wish for a part out of a request for a file, as any server may."""

    def __init__(self, app: App):
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _path(scope).startswith(FILE):
            scope = {**scope, "headers": [(name, value) for name, value in scope["headers"] if name != b"range"]}
        await self._app(scope, receive, send)


def _path(scope: Message) -> str:
    return scope["path"].removeprefix(scope.get("root_path", ""))
