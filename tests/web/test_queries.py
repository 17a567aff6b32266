"""A query of very many parameters never reaches what would parse it."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from csd.web.deployment import Deployment
from csd.web.guard import make_middleware
from csd.web.queries import LONG, MOST, ShortQueries


@pytest.fixture
def seen():
    return []


@pytest.fixture
def client(seen):
    def answer(request):
        seen.append(len(request.query_params.multi_items()))
        return PlainTextResponse("here")

    return TestClient(Starlette(routes=[Route("/queue/data", answer)], middleware=[Middleware(ShortQueries)]))


def test_a_query_of_many_parameters_is_refused(client, seen):
    assert client.get("/queue/data?" + "a&" * 30_000).status_code == 414
    assert client.get("/queue/data?" + "a=1&" * MOST).json()["error"] == LONG
    assert not seen
    assert client.get("/queue/data?" + "&".join(["a=1"] * MOST)).text == "here"
    assert seen == [MOST]


def test_every_page_has_it():
    assert any(one.cls is ShortQueries for one in make_middleware(Deployment()))
