"""What an agent sends is text, or gets a sentence before the server of MCP reads it."""

from __future__ import annotations

import json

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from csd.web.agent_calls import MCP
from csd.web.agent_texts import HALF, AgentTexts
from csd.web.bodies import CROWDED, BodyLimit
from csd.web.deployment import Deployment
from csd.web.guard import make_middleware


@pytest.fixture
def client():
    async def read(request: Request) -> PlainTextResponse:
        return PlainTextResponse(await request.body())

    app = Starlette(routes=[Route(path, read, methods=["GET", "POST"]) for path in (MCP, "/other")])
    app.add_middleware(AgentTexts)
    app.add_middleware(BodyLimit, most=100_000, values=5000)
    return TestClient(app)


def call(prompt="Once", method="tools/call", number: object = 1) -> str:
    params = {"name": "race", "arguments": {"prompt": prompt}}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


@pytest.mark.parametrize(
    "body",
    [
        *(call(**{field: "a\ud800b"}) for field in ("prompt", "method", "number")),
        call("\udc00\ud800"),
        '{"\\uDFFF": 1}',
        "[" + call("\udcff") + "]",
    ],
)
def test_half_of_a_surrogate_pair_is_refused_with_a_sentence_wherever_it_is(client, body):
    in_pieces = (body[at : at + 7].encode() for at in range(0, len(body), 7))
    for content in (body, in_pieces):
        answer = client.post(MCP, content=content)
        assert answer.status_code == 400
        error = {"code": -32000, "message": HALF}
        assert answer.json() == {"jsonrpc": "2.0", "id": "server-error", "error": error}
    assert client.post("/other", content=body).text == body


@pytest.mark.parametrize("body", [call(), call("😀 ä"), call("\\ud800"), "", "{", "[" * 4000, "\\ud800", "1" * 5000])
def test_everything_else_arrives_as_it_was_sent(client, body):
    assert client.post(MCP, content=body).text == body
    assert client.get(MCP).status_code == 200


def test_a_body_over_a_limit_still_gets_its_own_sentence(client):
    answer = client.post(MCP, content=b"[" + b"1," * 6000 + b"1]")
    assert (answer.status_code, answer.json()["error"]["message"]) == (413, CROWDED.format(5000))


def test_the_page_checks_what_agents_send():
    assert any(one.cls is AgentTexts for one in make_middleware(Deployment()))
