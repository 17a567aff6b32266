"""Bodies over a limit are refused before anybody parses them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fastapi import FastAPI, Request
from starlette.testclient import TestClient

from csd.web.bodies import (
    CHARACTER,
    CROWDED,
    TOO_LARGE,
    UPLOAD,
    BodyLimit,
    largest_event,
    most_values,
)
from csd.web.clear_answers import ClearAnswers
from csd.web.deployment import PUBLIC, Deployment

SENTENCE = TOO_LARGE.format(1000)


@pytest.fixture
def client():
    app = FastAPI()

    @app.post("/parsed")
    def parsed(body: dict) -> int:
        return len(body)

    @app.post("/read")
    @app.post(UPLOAD)
    async def read(request: Request) -> int:
        return len(await request.body())

    app.add_middleware(BodyLimit, most=1000, values=200)
    app.add_middleware(ClearAnswers)
    return TestClient(app)


def pieces(count: int):
    yield b'{"a": "'
    yield from (b"b" * 100 for _ in range(count))
    yield b'"}'


@pytest.mark.parametrize("path", ["/parsed", "/read"])
def test_a_large_body_is_refused_whole_and_in_pieces(client, path):
    headers = {"content-type": "application/json"}
    whole = client.post(path, content=b"".join(pieces(20)), headers=headers)
    assert (whole.status_code, whole.json()) == (413, {"error": SENTENCE, "detail": SENTENCE})
    in_pieces = client.post(path, content=pieces(20), headers=headers)
    assert (in_pieces.status_code, in_pieces.json()["detail"]) == (413, SENTENCE)
    lied = client.post(path, content=pieces(20), headers={**headers, "content-length": "none"})
    assert (lied.status_code, lied.json()["detail"]) == (413, SENTENCE)
    assert client.post(path, content=pieces(9), headers=headers).status_code == 200


@pytest.mark.parametrize("part", [b"[],", b"[[", b'{"":{"":', b"0,0,", b",0,0"])
@pytest.mark.parametrize("path", ["/parsed", "/read"])
def test_a_body_of_many_values_is_refused_whole_and_in_pieces(client, part, path):
    headers = {"content-type": "application/json"}
    for content in (part * 101, iter([part] * 101)):
        answer = client.post(path, content=content, headers=headers)
        assert (answer.status_code, answer.json()["detail"]) == (413, CROWDED.format(200))
    assert client.post("/read", content=part * 50).status_code == 200


def test_uploads_have_another_limit(client):
    assert client.post(UPLOAD, content=pieces(20)).json() == 2009
    assert client.post(f"/x{UPLOAD}", content=b"b" * 1001).status_code == 413


def test_the_longest_prompt_fits_and_if_it_is_all_commas():
    assert most_values(PUBLIC) > 2 * PUBLIC.max_prompt and most_values(PUBLIC) < 20_000
    for deployment in (PUBLIC, Deployment(), replace(PUBLIC, max_prompt=10**6)):
        assert largest_event(deployment) > CHARACTER * deployment.max_prompt
    assert largest_event(PUBLIC) < 400_000
