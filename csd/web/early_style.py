"""What the first picture of the page needs, in the document itself: Gradio adds a page's own head only once its program
runs, after a picture that says "Loading...".
"""

from __future__ import annotations

from csd.web.bodies import App, Message, Receive, Send

END = b"</head>"


class EarlyStyle:
    """ASGI middleware: writes `head` at the end of the page's head. It sees the document before it is compressed."""

    def __init__(self, app: App, head: str):
        self._app = app
        self._head = head.encode()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        path = scope.get("path", "").removeprefix(scope.get("root_path", ""))
        is_page = scope["type"] == "http" and scope["method"] == "GET" and path in ("", "/")
        await self._app(scope, receive, _Document(self._head, send).pass_on if is_page else send)


class _Document:
    """An answer on its way out, held back until it is whole."""

    def __init__(self, head: bytes, send: Send):
        self._head = head
        self._send = send
        self._start: Message = {}
        self._body = b""

    async def pass_on(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        self._body += message.get("body", b"")
        if message.get("more_body", False):
            return
        before, end, after = self._body.partition(END)
        body = before + self._head + end + after if end else self._body
        headers = [one for one in self._start["headers"] if one[0].lower() != b"content-length"]
        length = (b"content-length", str(len(body)).encode())
        await self._send({**self._start, "headers": [*headers, length]})
        await self._send({"type": "http.response.body", "body": body})
