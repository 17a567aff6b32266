"""Bodies over a limit are refused before anybody parses them."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from fastapi import FastAPI, Request
from in_a_loop import in_a_loop
from starlette.responses import StreamingResponse
from starlette.testclient import TestClient

from csd.web.bodies import CHARACTER, TOO_LARGE, TOO_SLOW, UPLOAD, BodyLimit, largest_event
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

    app.add_middleware(BodyLimit, most=1000)
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


def test_uploads_have_another_limit(client):
    assert client.post(UPLOAD, content=pieces(20)).json() == 2009
    assert client.post(f"/x{UPLOAD}", content=b"b" * 1001).status_code == 413


def test_the_longest_prompt_fits():
    for deployment in (PUBLIC, Deployment(), replace(PUBLIC, max_prompt=10**6)):
        assert largest_event(deployment) > CHARACTER * deployment.max_prompt
    assert largest_event(PUBLIC) < 400_000


def test_a_body_that_dawdles_is_refused_and_a_long_answer_is_none():
    """A sentence for a body that is not whole in time; what is received after a whole one may take for ever."""
    in_time = 0.2
    app = FastAPI()

    @app.post("/read")
    async def read(request: Request) -> StreamingResponse:
        await request.body()

        async def pieces():
            await asyncio.sleep(2 * in_time)
            yield "ended"

        return StreamingResponse(pieces())

    limited = BodyLimit(app, most=1000, seconds=in_time)

    async def answer(pauses: tuple[float, ...]) -> tuple[int, bytes]:
        left, told = list(pauses), []

        async def receive():
            if not left:
                await asyncio.Future()
            await asyncio.sleep(left.pop(0))
            return {"type": "http.request", "body": b"a", "more_body": bool(left)}

        async def note(message):
            told.append(message)

        scope = {"type": "http", "method": "POST", "path": "/read", "headers": [], "query_string": b""}
        await limited(scope, receive, note)
        return told[0]["status"], b"".join(one.get("body", b"") for one in told[1:])

    assert in_a_loop(answer((0, 0, 0))) == (200, b"ended")
    status, body = in_a_loop(answer((0, 0.6 * in_time, 0.6 * in_time)))
    assert status == 408 and TOO_SLOW.encode() in body
