"""Whether the server lives, and whether it can race: for a load balancer, a container's probes, a monitor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from csd.web.families import Families
from csd.web.loads import FamilyChoice

LIVE, READY = "/health/live", "/health/ready"


def health_routes(families: Families, home: FamilyChoice, is_stopped: Callable[[], bool]) -> list[Route]:
    """/health/live answers 200 until the queue has ended, which only a restart mends, and then 503; /health/ready
    answers 200 once races of the home family start at once, and 503 otherwise."""

    def live(request: Request) -> JSONResponse:
        return _answer("stopped" if is_stopped() else "alive", "alive")

    def ready(request: Request) -> JSONResponse:
        state = families.status(home).state
        if state == "ready" and not families.can_race:
            state = "restarting"
        return _answer("stopped" if is_stopped() else state, "ready")

    return [Route(LIVE, live), Route(READY, ready)]


def is_probe(scope: Any) -> bool:
    """Whether a request asks for one of them."""
    return scope["type"] == "http" and scope["path"] in (LIVE, READY)


def _answer(state: str, good: str) -> JSONResponse:
    return JSONResponse({"status": state}, status_code=200 if state == good else 503)
