"""Whether the server lives, and whether it can race: for a load balancer, a container's probes, a monitor."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from csd.web.families import Families
from csd.web.loads import FamilyChoice

LIVE, READY = "/health/live", "/health/ready"


def health_routes(families: Families, home: FamilyChoice) -> list[Route]:
    """/health/live answers 200 as long as anything does; /health/ready does once races of the home family start at
    once, and 503 before."""

    def live(request: Request) -> JSONResponse:
        return JSONResponse({"status": "alive"})

    def ready(request: Request) -> JSONResponse:
        state = families.status(home).state
        return JSONResponse({"status": state}, status_code=200 if state == "ready" else 503)

    return [Route(LIVE, live), Route(READY, ready)]
