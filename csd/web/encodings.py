"""Which encodings of an answer a client takes. Gradio and Starlette look for the name alone, so they would send gzip to
a client that refuses it with `gzip;q=0`."""

from __future__ import annotations

from contextlib import suppress

from csd.web.bodies import App, Message, Receive, Send

NAME = b"accept-encoding"


class AcceptedEncodings:
    """ASGI middleware: takes the encodings that a client refuses out of its header."""

    def __init__(self, app: App):
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = [(name, accepted(value) if name == NAME else value) for name, value in scope["headers"]]
            scope = {**scope, "headers": headers}
        await self._app(scope, receive, send)


def accepted(value: bytes) -> bytes:
    """The header without those whose weight is 0. A weight that is no number refuses nothing."""
    return b",".join(one for one in value.split(b",") if not _is_refused(one))


def _is_refused(encoding: bytes) -> bool:
    _, *parameters = encoding.replace(b" ", b"").lower().split(b";")
    for parameter in parameters:
        name, _, weight = parameter.partition(b"=")
        with suppress(ValueError):
            if name == b"q" and float(weight) == 0:
                return True
    return False
