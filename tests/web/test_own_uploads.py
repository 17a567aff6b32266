"""Uploads that another website has a visitor's browser send."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from csd.web.bodies import UPLOAD
from csd.web.own_uploads import FOREIGN, OwnUploads


@pytest.fixture
def client() -> TestClient:
    routes = [Route(path, lambda _: PlainTextResponse("taken"), methods=["POST"]) for path in (UPLOAD, "/other")]
    return TestClient(OwnUploads(Starlette(routes=routes)), base_url="http://page.example:7860")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://[", "https://page.example.evil.example"])
def test_an_upload_from_another_website_is_refused(client, origin):
    refused = client.post(UPLOAD, files={"files": b"{}"}, headers={"origin": origin})
    assert (refused.status_code, refused.text) == (403, FOREIGN)
    assert client.post("/other", headers={"origin": origin}).text == "taken"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://page.example:7860"},
        {"origin": "https://PAGE.example"},
        {"origin": "https://public.example", "x-forwarded-host": "public.example, inner.example"},
    ],
)
def test_the_page_itself_and_programs_may_upload(client, headers):
    assert client.post(UPLOAD, files={"files": b"{}"}, headers=headers).text == "taken"
