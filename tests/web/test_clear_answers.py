"""Answers that say nothing, and what becomes of them."""

from __future__ import annotations

import errno
import json

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from csd.web.clear_answers import GONE, NO_CHOICE, UNCLEAR, ClearAnswers
from csd.web.uploads import NO_ROOM

LISTED = "Value: 'cus\"tom' is not in the list of choices: ['embedded']"


async def lines():
    yield 'data: {"msg":"process_starts"}\n\n'
    yield 'data: {"msg":"process_completed","output":{"error":null},"success":false}\n\n'


async def call_lines():
    yield 'event: error\ndata: {"error": null}\n\n'


async def listed_lines():
    yield f"data: {json.dumps({'output': {'error': LISTED, 'visible': True}}, separators=(',', ':'))}\n\n"


def fill_disk(request):
    raise OSError(errno.ENOSPC, "No space left on device")


async def broken_lines():
    yield "data: begun\n\n"
    raise RuntimeError("in /a/secret/place")


def fail(request):
    raise RuntimeError("in /a/secret/place")


ANSWERS = {
    "/null": lambda request: JSONResponse({"error": None}, 500),
    "/said": lambda request: JSONResponse({"error": "No such choice."}, 500),
    "/plain": lambda request: PlainTextResponse("Internal Server Error", 500),
    "/fails": fail,
    "/listed": lambda request: JSONResponse({"error": LISTED}, 500),
    "/listed-stream": lambda request: StreamingResponse(listed_lines()),
    "/full": fill_disk,
    "/good": lambda request: PlainTextResponse("good"),
    "/gradio_api/file=/tmp/gradio/csd-1/race.csv": lambda request: JSONResponse(
        {"detail": "File not allowed: /a"}, 403
    ),
    "/gradio_api/file=http://example.org/a.png": lambda request: JSONResponse({"detail": "Nothing is fetched."}, 403),
    "/busy": lambda request: JSONResponse({"detail": "The queue is full."}, 503),
    "/stream": lambda request: StreamingResponse(lines()),
    "/file": lambda request: PlainTextResponse('{"error": null}'),
    "/file-in-parts": lambda request: StreamingResponse(call_lines(), headers={"Content-Disposition": "attachment"}),
    "/call": lambda request: StreamingResponse(call_lines()),
    "/breaks": lambda request: StreamingResponse(broken_lines()),
}


@pytest.fixture
def client():
    routes = [Route(path, answer) for path, answer in ANSWERS.items()]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(ClearAnswers)]))


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/null", UNCLEAR),
        ("/said", "No such choice."),
        ("/plain", UNCLEAR),
        ("/fails", UNCLEAR),
        ("/listed", NO_CHOICE),
    ],
)
def test_an_error_becomes_a_sentence(client, path, sentence):
    answer = client.get(path)
    assert (answer.status_code, answer.json()) == (400, {"error": sentence, "detail": sentence})


def test_a_full_disk_is_called_one(client):
    answer = client.get("/full")
    assert (answer.status_code, answer.json()["error"]) == (507, NO_ROOM)


def test_a_choice_that_is_none_is_not_answered_with_the_list_of_choices(client):
    message = json.loads(client.get("/listed-stream").text.removeprefix("data: "))
    assert message == {"output": {"error": NO_CHOICE, "visible": True}}


def test_a_file_that_is_gone_is_a_sentence(client):
    answer = client.get("/gradio_api/file=/tmp/gradio/csd-1/race.csv")
    assert (answer.status_code, answer.json()) == (403, {"error": GONE, "detail": GONE})
    assert client.get("/gradio_api/file=http://example.org/a.png").json()["detail"] == "Nothing is fetched."


def test_other_answers_pass_as_they_are(client):
    assert (client.get("/good").status_code, client.get("/good").text) == (200, "good")
    assert (client.get("/busy").status_code, client.get("/busy").json()["detail"]) == (503, "The queue is full.")


def test_a_file_that_holds_such_words_is_not_changed(client):
    assert client.get("/file").text == '{"error": null}'
    assert client.get("/file-in-parts").text == 'event: error\ndata: {"error": null}\n\n'


def test_a_message_of_a_stream_has_a_sentence_and_a_broken_stream_ends(client):
    first, second = client.get("/stream").text.strip().split("\n\n")
    assert first == 'data: {"msg":"process_starts"}'
    assert UNCLEAR in second and "null" not in second
    kind, _, data = client.get("/call").text.partition("\ndata: ")
    assert (kind, json.loads(data)) == ("event: error", {"error": UNCLEAR})
    assert client.get("/breaks").text == "data: begun\n\n"
