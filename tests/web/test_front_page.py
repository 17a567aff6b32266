"""The document of the page: made once for all who ask in the same way, and never shared where it could be somebody's."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from in_a_loop import in_a_loop
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from csd.web.front_page import LONGEST_QUERY, MOST, TOO_LONG, FrontPage


def make_client(status: int = 200, **headers: str) -> tuple[TestClient, list[str]]:
    made: list[str] = []

    def answer(request):
        made.append(str(request.url))
        return PlainTextResponse(f"{len(made)} for {request.headers['host']}", status, headers)

    routes = [Route("/", answer, methods=["GET", "HEAD"]), Route("/other", answer)]
    return TestClient(FrontPage(Starlette(routes=routes))), made


def test_the_document_is_made_once_whatever_the_query():
    client, made = make_client(server="x")
    answers = [client.get(path) for path in ("/", "/?prompt=fox", "/?max_new=8#race")]
    assert [answer.text for answer in answers] == ["1 for testserver"] * 3 and len(made) == 1
    assert answers[2].headers["server"] == "x" and answers[2].headers["content-length"] == "16"


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "a.example"},
        {"x-forwarded-host": "b.example"},
        {"x-forwarded-proto": "https"},
        {"accept-encoding": "br"},
    ],
)
def test_another_address_or_encoding_has_a_document_of_its_own(headers):
    client, made = make_client()
    client.get("/")
    assert client.get("/", headers=headers).text.startswith("2 for") and len(made) == 2


def test_a_link_that_the_page_could_not_repeat_is_refused():
    client, _ = make_client()
    assert client.get(f"/?prompt={'a' * (LONGEST_QUERY - 7)}").status_code == 200
    assert client.get(f"/?prompt={'%5B' * (LONGEST_QUERY // 3 - 7)}").status_code == 200
    for prompt in ("a" * LONGEST_QUERY, "[" * (LONGEST_QUERY // 2), "&=" * (LONGEST_QUERY // 2)):
        refused = client.get(f"/?prompt={prompt}")
        assert (refused.status_code, refused.text) == (414, TOO_LONG)


def test_everything_else_goes_through():
    client, made = make_client()
    assert [client.get("/other").text[0] for _ in range(2)] == ["1", "2"] and len(made) == 2


@pytest.mark.parametrize("query", ["deep_link=abc", "deep%5flink=abc", "a=1&deep_link", "page=zzz"])
def test_gradios_own_parameters_change_nothing(query):
    client, made = make_client()
    for headers in ({}, {"origin": "https://elsewhere.example"}):
        client.get(f"/?{query}", headers=headers)
    assert made == ["http://testserver/"] * 2


@pytest.mark.parametrize(("headers", "count"), [({}, 1), ({"set-cookie": "name=value"}, 5)])
def test_who_asks_while_the_document_is_made_waits_for_it_unless_it_is_somebodys_own(headers, count):
    made: list[int] = []

    async def answer(_):
        made.append(len(made))
        await asyncio.sleep(0.01)
        return PlainTextResponse(f"number {made[-1]}", headers=headers)

    async def ask_all():
        transport = httpx.ASGITransport(FrontPage(Starlette(routes=[Route("/", answer)])))
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
            leaving = asyncio.create_task(client.get("/"))
            others = [asyncio.create_task(client.get(f"/?visitor={number}")) for number in range(4)]
            await asyncio.sleep(0.005)
            leaving.cancel()
            return [one.text for one in await asyncio.gather(*others)]

    answers = in_a_loop(ask_all())
    assert len(answers) == 4 and len(made) == count and all(text.startswith("number") for text in answers)


def test_what_the_page_has_no_use_for_is_closed(house):
    assert httpx.get(f"{house.url}gradio_api/deep_link?session_hash=x").status_code == 404
    assert httpx.get(f"{house.url}gradio_api/dev/reload").status_code == 404
    assert httpx.post(f"{house.url}gradio_api/process_recording", files={"video": b"a"}).status_code == 404
    assert httpx.get(f"{house.url}?deep_link=x").text == httpx.get(house.url).text


@pytest.mark.parametrize(
    "headers",
    [
        [("x-gradio-server", "http://evil.example")],
        [("x-forwarded-host", "evil.example"), ("x-forwarded-host", "good.example")],
        [("x-unknown", "1")],
    ],
)
def test_what_could_make_another_document_is_neither_kept_nor_given_a_kept_one(headers):
    client, made = make_client()
    client.get("/", headers=headers)
    assert client.get("/").text.startswith("2 for") and client.get("/").text.startswith("2 for")
    client.get("/", headers=headers)
    assert len(made) == 3


def test_odd_encodings_do_not_crowd_out_the_document():
    client, made = make_client()
    for number in range(3 * MOST):
        client.get("/", headers={"accept-encoding": f"junk{number}"})
    assert len(made) == 1


def test_requests_from_other_sites_and_other_methods_go_through():
    client, made = make_client()
    client.get("/")
    client.get("/", headers={"origin": "https://elsewhere.example"})
    client.head("/")
    assert len(made) == 3


@pytest.mark.parametrize("answer", [{"status": 503}, {"set-cookie": "name=value"}])
def test_errors_and_answers_with_a_cookie_are_not_repeated(answer):
    client, made = make_client(**answer)
    client.get("/")
    client.get("/")
    assert len(made) == 2


def test_a_flood_of_names_keeps_a_bounded_number_of_documents():
    client, made = make_client()
    for number in range(3 * MOST):
        client.get("/", headers={"host": f"h{number}.example"})
    front = client.app
    assert isinstance(front, FrontPage) and len(front._kept) == MOST
    client.get("/", headers={"host": f"h{3 * MOST - 1}.example"})
    assert len(made) == 3 * MOST


def test_the_page_itself_is_the_same_from_memory(house):
    """What Gradio makes anew, for a request that goes through, is what everybody else is given."""
    kept = httpx.get(house.url).text
    assert httpx.get(f"{house.url}?prompt=fox").text == kept and "gradio_config" in kept
    assert httpx.get(house.url, headers={"origin": house.url.rstrip("/")}).text == kept
