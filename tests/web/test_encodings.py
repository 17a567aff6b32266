"""Encodings that a client refuses."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from csd.web.encodings import AcceptedEncodings, accepted


@pytest.mark.parametrize("refused", ["gzip;q=0", "gzip; q=0.000, identity", "GZIP ;Q=0", "br;q=0,gzip;q=0"])
def test_an_answer_is_not_compressed_for_a_client_that_refuses_it(refused):
    app = GZipMiddleware(Starlette(routes=[Route("/", lambda _: PlainTextResponse("a" * 5000))]))
    client = TestClient(AcceptedEncodings(app))
    assert "content-encoding" not in client.get("/", headers={"accept-encoding": refused}).headers
    assert client.get("/", headers={"accept-encoding": "br;q=0, gzip"}).headers["content-encoding"] == "gzip"


def test_every_other_encoding_stays():
    for header in (b"gzip, br", b"gzip;q=0.5, br;q=1.0", b"gzip;q=x", b"", b";q=,"):
        assert accepted(header) == header
