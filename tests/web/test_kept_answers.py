"""The page and its descriptions: made once for all who ask in the same way, whatever else a request holds."""

from __future__ import annotations

import asyncio
from collections import Counter
from types import SimpleNamespace

import httpx
import pytest
from in_a_loop import in_a_loop
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from csd.web import kept_answers
from csd.web.deployment import PUBLIC
from csd.web.kept_answers import AT_ONCE, DEAREST, KEPT, LONGEST_QUERY, PIECE, TOO_LONG, KeptAnswers
from csd.web.meter import Meter
from csd.web.paced import Paced
from csd.web.shares import Shares


def keep(app) -> KeptAnswers:
    return KeptAnswers(app, app, Shares(PUBLIC))


def make_client(status: int = 200, **headers: str) -> tuple[TestClient, list[str]]:
    made: list[str] = []

    def answer(request):
        made.append(str(request.url))
        return PlainTextResponse(f"{len(made)} for {request.headers['host']}", status, headers)

    routes = [Route(path, answer) for path in (*sorted(KEPT - {""}), "/other")]
    return TestClient(keep(Starlette(routes=routes))), made


def make_other(client: TestClient, host: str) -> TestClient:
    """The same server, from another address."""
    return TestClient(client.app, client=(host, 50000))


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
    client.get(f"/?{query}")
    assert made == ["http://testserver/"]


def test_whoever_has_a_document_made_pays_for_it(monkeypatch):
    """Under every made-up name anew, also where nobody waits for it any more; and at most what one is worth."""
    now, charged = [0.0], Counter()
    monkeypatch.setattr(kept_answers, "time", SimpleNamespace(monotonic=lambda: now[0]))

    async def answer(request):
        await asyncio.sleep(0.01)
        now[0] += 100.0 if request.headers["host"] == "slow.example" else 0.1
        return PlainTextResponse("page")

    async def ask_all():
        meter = Meter()
        meter.charge = lambda owner, seconds: charged.update({owner: seconds})
        app = Paced(keep(Starlette(routes=[Route("/", answer)])), Shares(PUBLIC), meter)

        async def ask(host: str, name: str) -> None:
            transport = httpx.ASGITransport(app, client=(host, 1))
            async with httpx.AsyncClient(transport=transport, base_url=f"http://{name}") as client:
                await client.get("/")

        for name in ("a.example", "b.example", "a.example"):
            await ask("8.8.8.8", name)
        await ask("9.9.9.9", "a.example")
        await ask("7.7.7.7", "slow.example")
        leaving = asyncio.create_task(ask("6.6.6.6", "c.example"))
        await asyncio.sleep(0.005)
        leaving.cancel()
        await asyncio.sleep(0.02)

    in_a_loop(ask_all())
    paid = {owner: round(seconds, 1) for owner, seconds in charged.items()}
    assert paid == {"8.8.8.0/24": 0.2, "9.9.9.0/24": 0.0, "7.7.7.0/24": DEAREST, "6.6.6.0/24": 0.1}


def test_who_asks_while_the_document_is_made_waits_for_it():
    made: list[int] = []

    async def answer(_):
        made.append(len(made))
        await asyncio.sleep(0.01)
        return PlainTextResponse(f"number {made[-1]}")

    async def ask_all():
        transport = httpx.ASGITransport(keep(Starlette(routes=[Route("/", answer)])))
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
            leaving = asyncio.create_task(client.get("/"))
            others = [asyncio.create_task(client.get(f"/?visitor={number}")) for number in range(8)]
            await asyncio.sleep(0.005)
            leaving.cancel()
            return [one.text for one in await asyncio.gather(*others)]

    assert in_a_loop(ask_all()) == ["number 0"] * 8 and len(made) == 1


def test_an_address_has_few_documents_made_at_a_time_and_others_do_not_wait_for_them():
    making: list[str] = []
    most = 0

    async def answer(request):
        nonlocal most
        making.append(request.headers["host"])
        most = max(most, len(making))
        await asyncio.sleep(0.001 if request.client.host == "9.9.9.9" else 0.01)
        making.remove(request.headers["host"])
        return PlainTextResponse("page")

    async def ask_all():
        app = keep(Starlette(routes=[Route("/", answer)]))

        async def ask(host: str, name: str) -> None:
            transport = httpx.ASGITransport(app, client=(host, 1))
            async with httpx.AsyncClient(transport=transport, base_url=f"http://{name}") as client:
                await client.get("/")
                order.append(host)

        order: list[str] = []
        flood = [ask("8.8.8.8", f"h{number}.example") for number in range(20)]
        await asyncio.gather(*flood, ask("9.9.9.9", "polite.example"))
        return order

    order = in_a_loop(ask_all())
    assert most == 2
    assert order.index("9.9.9.9") <= 1


def test_few_documents_are_made_at_a_time_for_all_addresses():
    making: list[str] = []
    most = 0

    async def answer(request):
        nonlocal most
        making.append(request.client.host)
        most = max(most, len(making))
        await asyncio.sleep(0.001)
        making.remove(request.client.host)
        return PlainTextResponse("page")

    async def ask_all():
        app = keep(Starlette(routes=[Route("/", answer)]))

        async def ask(number: int) -> None:
            transport = httpx.ASGITransport(app, client=(f"8.8.{number % 10}.8", 1))
            async with httpx.AsyncClient(transport=transport, base_url=f"http://h{number}.example") as client:
                await client.get("/")

        await asyncio.gather(*map(ask, range(40)))

    in_a_loop(ask_all())
    assert most == AT_ONCE


@pytest.mark.parametrize(
    "headers",
    [
        [("x-gradio-server", "http://evil.example")],
        [("x-unknown", "1")],
        [("origin", "https://elsewhere.example")],
        [("cookie", "a=b"), ("authorization", "c")],
        [("content-length", "0"), ("range", "bytes=0-1")],
    ],
)
def test_what_the_document_does_not_depend_on_does_not_reach_gradio(headers):
    client, made = make_client()
    for method in (client.get, client.head):
        assert method("/", headers=headers).status_code == 200
    assert client.get("/").text == "1 for testserver" and len(made) == 1


def test_of_a_header_that_comes_twice_the_first_counts():
    client, made = make_client()
    client.get("/", headers=[("x-forwarded-host", "one.example"), ("x-forwarded-host", "two.example")])
    client.get("/", headers={"x-forwarded-host": "one.example"})
    assert len(made) == 1


@pytest.mark.parametrize("path", sorted(KEPT))
def test_a_flood_of_one_address_is_one_computation(path):
    client, made = make_client()
    for number in range(20):
        answer, head = client.get(f"{path}?x={number}"), client.head(f"{path}?y={number}")
        assert answer.text == "1 for testserver" and (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == answer.headers["content-length"]
    assert len(made) == 1


def test_what_gradio_reads_of_a_query_has_an_answer_of_its_own():
    client, made = make_client()
    for query in ("", "page=", "all_endpoints=true", "page=&all_endpoints=1", "page=none", "all_endpoints=", "z=1"):
        client.get(f"/gradio_api/info?{query}")
        client.get(f"/gradio_api/info?{query}&serialize=False")
    assert made == [
        f"http://testserver/gradio_api/info{query}"
        for query in ("", "?page=", "?all_endpoints=True", "?page=&all_endpoints=True")
    ]


def test_a_large_answer_is_sent_in_pieces_and_compressed():
    text = "".join(chr(97 + number % 26) for number in range(3 * PIECE))
    app = keep(Starlette(routes=[Route("/", lambda _: PlainTextResponse(text))]))
    sent: list[int] = []

    async def listening(scope, receive, send):
        async def note(message):
            sent.append(len(message.get("body", b"")))
            await send(message)

        await app(scope, receive, note)

    client = TestClient(listening)
    for _ in range(2):
        assert client.get("/", headers={"accept-encoding": "identity"}).text == text
    assert max(sent) == PIECE and sum(sent) == 2 * len(text)
    for _ in range(2):
        answer = client.get("/", headers={"accept-encoding": "gzip, br"})
        assert answer.text == text and answer.headers["content-encoding"] == "gzip"


def test_odd_encodings_do_not_crowd_out_the_document():
    client, made = make_client()
    for number in range(30):
        client.get("/", headers={"accept-encoding": f"junk{number}"})
    assert len(made) == 1


def test_other_methods_go_through():
    client, made = make_client()
    assert client.post("/").status_code == 405 and not made


@pytest.mark.parametrize("answer", [{"status": 503}, {"set-cookie": "name=value"}])
def test_errors_and_answers_with_a_cookie_are_not_repeated(answer):
    client, made = make_client(**answer)
    client.get("/")
    client.get("/")
    assert len(made) == 2


def test_a_flood_of_names_keeps_a_bounded_number_of_bytes(monkeypatch):
    client, made = make_client()
    client.get("/", headers={"host": "h9.example"})
    front = client.app
    assert isinstance(front, KeptAnswers)
    one = sum(kept.size for kept in front._kept.values())
    monkeypatch.setattr(kept_answers, "MOST", 10 * one)
    for number in range(10, 40):
        client.get("/", headers={"host": f"h{number}.example"})
    assert 0 < sum(kept.size for kept in front._kept.values()) <= 10 * one
    client.get("/", headers={"host": "h39.example"})
    assert len(made) == 31


@pytest.mark.parametrize("hosts", [["8.8.8.8"], [f"8.8.{number}.8" for number in range(30)]])
def test_whoever_asks_under_many_names_takes_no_place_from_others(hosts, monkeypatch):
    """From one address or from many; the document of most visitors has been asked for by several."""
    flood, _ = make_client()
    polite = [make_other(flood, host) for host in ("9.9.9.9", "7.7.7.7")]
    for path in ("/", "/config", "/theme.css"):
        for visitor in polite:
            visitor.get(path)
    monkeypatch.setattr(kept_answers, "MOST", 100)
    for number in range(30):
        make_other(flood, hosts[number % len(hosts)]).get("/", headers={"host": f"h{number}.example"})
    assert polite[0].get("/").text == "1 for testserver"


def test_the_page_itself_is_the_same_from_memory(house):
    """What Gradio makes anew is what everybody is given."""
    kept = httpx.get(house.url).text
    assert httpx.get(f"{house.url}?prompt=fox").text == kept and "gradio_config" in kept
    fresh = httpx.get(f"{house.url}?prompt=fox", headers={"x-forwarded-host": house.url.split("/")[2]}).text
    assert fresh == kept
