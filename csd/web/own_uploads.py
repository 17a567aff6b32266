"""Uploads come from this page, or from a program. A browser asks before it sends JSON to another website, but not
before it sends a form with files, so any website could have its visitors fill the disk of this server."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

from csd.web.bodies import App, Message, Receive, Send, is_upload

FOREIGN = "This file was sent by another website. Open this page itself, and choose the file there."


class OwnUploads:
    """ASGI middleware: an upload from another website gets status 403 with a sentence."""

    def __init__(self, app: App):
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if is_upload(scope) and is_foreign(Headers(scope=scope)):
            await PlainTextResponse(FOREIGN, 403)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def is_foreign(headers: Headers) -> bool:
    """Whether a browser says that another website sends this. Ports are not compared, since proxies leave them out; a
    proxy that calls the page by another name tells in `X-Forwarded-Host` by which the visitor does."""
    origin = headers.get("origin")
    if origin is None:
        return False
    own = (headers.get("host", ""), *headers.get("x-forwarded-host", "").split(","))
    return _name(origin) not in {_name(f"//{name.strip()}") for name in own} - {""}


def _name(address: str) -> str:
    """Of a host, in small letters; empty for an address that has none, as the origin `null`."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
