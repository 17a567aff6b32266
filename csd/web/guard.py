"""What the server takes, what its answers tell the browser to refuse, and under which names it answers at all."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any

from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from csd.web.addresses import address
from csd.web.agent_calls import AgentCalls
from csd.web.agent_texts import AgentTexts
from csd.web.bodies import BodyLimit, largest_event, most_values
from csd.web.clear_answers import ClearAnswers
from csd.web.deployment import Deployment
from csd.web.early_style import EarlyStyle
from csd.web.encodings import AcceptedEncodings
from csd.web.gone_files import name_gone_files
from csd.web.gone_names import forget_gone_names
from csd.web.health import is_probe
from csd.web.kept_answers import KeptAnswers
from csd.web.known_streams import KnownStreams
from csd.web.no_fetching import fetch_nothing
from csd.web.own_uploads import OwnUploads
from csd.web.paced import Paced
from csd.web.queries import ShortQueries
from csd.web.scripts import EARLY
from csd.web.shares import InTurn, Shares
from csd.web.upload_progress import UploadProgress
from csd.web.uploads import Uploads, refuse_strange_parts
from csd.web.whole_bodies import WholeBodies
from csd.web.whole_characters import answer_in_characters
from csd.web.whole_files import WholeFiles

Message = MutableMapping[str, Any]
App = Callable[[Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]]
Lifespan = Callable[[Any], AbstractAsyncContextManager[None]]

SPACES = "https://huggingface.co https://*.hf.space"  # they show a Space in a frame
# Gradio's page has scripts of its own in the document, and compiles the scripts of events.
POLICY = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "worker-src": "'self' blob:",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
}

ANY_NAME = (
    "CSD_HOSTS is not set, so the page answers under any name. Set it to the names that visitors use, such as "
    "CSD_HOSTS=cascade.example.org."
)

log = logging.getLogger(__name__)


async def _not_found(_: Request) -> JSONResponse:
    return JSONResponse({"detail": "Not Found"}, 404)


# Gradio's links to what a session shows, which would lead to an empty page, since that is not kept; its news of changed
# source files, for which a connection looks twenty times a second, without end; videos of the screen, which stay; files
# and functions of components that the page does not have; and FastAPI's description of Gradio, which nobody reads.
CLOSED = [
    *(
        Route(f"/gradio_api/{path}", _not_found, methods=["GET", "POST"])
        for path in ("deep_link", "dev/reload", "process_recording", "component_server", "component_server/")
    ),
    Route("/gradio_api/custom_component/{path:path}", _not_found),
    Route("/openapi.json", _not_found),
]


def make_middleware(deployment: Deployment) -> list[Middleware]:
    """For the server's application; the first one sees a request first."""
    refuse_strange_parts()
    name_gone_files()
    forget_gone_names()
    fetch_nothing()
    answer_in_characters()
    names = list(deployment.hosts) or ["*"]
    from_where = partial(address, deployment=deployment)
    return [
        Middleware(KnownNames, names=names),
        Middleware(ShortQueries),
        Middleware(SafeHeaders, headers=make_headers(deployment)),
        Middleware(WholeFiles),
        Middleware(ClearAnswers),
        Middleware(BodyLimit, most=largest_event(deployment), values=most_values(deployment)),
        Middleware(OwnUploads),
        Middleware(Uploads, address=from_where),
        Middleware(KnownStreams),
        Middleware(UploadProgress, address=from_where),
        Middleware(EarlyStyle, head=EARLY),
        Middleware(AgentCalls, address=from_where),
        Middleware(AgentTexts),
    ]


def make_headers(deployment: Deployment) -> dict[str, str]:
    policy = {**POLICY, "frame-ancestors": f"'self' {SPACES}" if deployment.is_space else "'self'"}
    return {
        "content-security-policy": "; ".join(f"{name} {sources}" for name, sources in policy.items()),
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "permissions-policy": "camera=(), microphone=(), geolocation=()",
        "cross-origin-opener-policy": "same-origin",
    }


def warn_of_any_name(deployment: Deployment) -> None:
    if not deployment.hosts:
        log.warning(ANY_NAME)


def make_lifespan(deployment: Deployment) -> Lifespan:
    """The server's: no other website may read its answers in a visitor's browser, and no address has all of it.

    Gradio's own middleware allows any website to read them, with credentials, and stands around those that it is given,
    as does the one that compresses. Answers are kept as all of them leave them.
    """

    @asynccontextmanager
    async def wrapped(app: Any) -> AsyncIterator[None]:
        inner, shares = app.middleware_stack, Shares(deployment)
        kept = KeptAnswers(inner, WholeBodies(InTurn(inner, shares), deployment), shares)
        app.middleware_stack = NoSharing(AcceptedEncodings(Paced(kept, shares)))
        yield

    return wrapped


class NoSharing:
    """ASGI middleware: takes every permission for other origins out of the answers. The page's own needs none."""

    def __init__(self, app: App):
        self._app = app

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        async def send_unshared(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [one for one in message["headers"] if not one[0].lower().startswith(b"access-control-")]
                message = {**message, "headers": headers}
            await send(message)

        await self._app(scope, receive, send_unshared if scope["type"] == "http" else send)


class KnownNames:
    """ASGI middleware: the server answers under these names only, except to probes of its health.

    A load balancer and a container's probes call a server by its address, and health says nothing secret.
    """

    def __init__(self, app: App, names: list[str]):
        self._app = app
        self._named = TrustedHostMiddleware(app, allowed_hosts=names, www_redirect=False)

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        await (self._app if is_probe(scope) else self._named)(scope, receive, send)


class SafeHeaders:
    """Sets headers of every answer, whatever it has; a stream passes through as it comes."""

    def __init__(self, app: App, headers: dict[str, str]):
        self._app = app
        self._headers = {name.encode(): value.encode() for name, value in headers.items()}

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = [header for header in message["headers"] if header[0].lower() not in self._headers]
                message = {**message, "headers": [*given, *self._headers.items()]}
            await send(message)

        await self._app(scope, receive, send_safely if scope["type"] == "http" else send)
