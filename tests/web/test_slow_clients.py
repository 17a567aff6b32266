"""A server of uvicorn with impatience, met by clients who dawdle."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from contextlib import suppress

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from csd.web.slow_clients import CHUNKED, CROWDED, LINES, close_slow_connections, has_many_lines

SECONDS = 0.3


async def measure(request):
    return PlainTextResponse(str(len(await request.body())))


async def answer_slowly(_):
    async def pieces():
        yield "begun"
        await asyncio.sleep(3 * SECONDS)
        yield "ended"

    return StreamingResponse(pieces())


@pytest.fixture(scope="module")
def port():
    routes = [Route("/", answer_slowly, methods=["GET", "POST"]), Route("/measure", measure, methods=["POST"])]
    app = Starlette(routes=routes)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    close_slow_connections(server.config, SECONDS)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join(5)


def read_all(client: socket.socket) -> bytes:
    return b"".join(iter(lambda: client.recv(1000), b""))


def test_no_connection_becomes_a_websocket(port):
    key = b"upgrade: websocket\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n"
    asked = (
        b"POST /measure HTTP/1.1\r\nhost: x\r\nconnection: upgrade, close\r\ncontent-length: 3\r\n" + key + b"\r\nabc"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        client.sendall(asked)
        assert read_all(client).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: x\r\n"])
def test_a_connection_without_a_whole_request_is_closed(port, sent):
    begin = time.monotonic()  # the server's time may begin before this side knows of the connection
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        client.sendall(sent)
        assert read_all(client) == b""
        assert time.monotonic() - begin >= 0.9 * SECONDS


def test_who_sends_a_byte_now_and_then_gains_no_time(port):
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        begin = time.monotonic()
        with suppress(ConnectionError):  # closed by the server
            for byte in b"GET / HTTP/1.1\r\nhost: a-very-long-name.example.org.and.longer\r\n":
                client.sendall(bytes([byte]))
                time.sleep(SECONDS / 6)
        assert time.monotonic() - begin < 4 * SECONDS, "all of it would take ten times as long"


def test_an_answer_takes_as_long_as_it_takes_and_the_next_request_has_the_limit_again(port):
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        client.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        answer = b""
        while not answer.endswith(b"0\r\n\r\n"):
            answer += client.recv(1000)
        assert b"begun" in answer and b"ended" in answer
        client.sendall(b"GET / HT")
        begin = time.monotonic()
        assert read_all(client) == b"" and time.monotonic() - begin < 4 * SECONDS


def test_long_headers_may_come_in_pieces(port):
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        for piece in (b"GET / HTTP/1.1\r\nhost: x\r\nreferer: ", *[b"a" * 1400] * 40, b"\r\nconnection: close\r\n\r\n"):
            client.sendall(piece)
        assert read_all(client).startswith(b"HTTP/1.1 200 ")


POST = b"POST /measure HTTP/1.1\r\nhost: x\r\n"


def post(port: int, head: bytes, body: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        with suppress(ConnectionError):  # closed by the server
            client.sendall(POST + head + b"connection: close\r\n\r\n" + body)
        return read_all(client)


@pytest.mark.parametrize("also", [b"", b"content-length: 6\r\n"])
def test_a_body_in_chunks_is_refused_before_it_is_read(port, also):
    answer = post(port, also + b"Transfer-Encoding: chunked\r\n", b"1\r\na\r\n")
    assert answer.startswith(b"HTTP/1.1 411 ") and answer.endswith(CHUNKED)


def test_a_body_in_chunks_is_refused_behind_another_request_too(port):
    """Nothing behind it is taken for a request of its own."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        whole, chunked = b"content-length: 1\r\n\r\na", b"transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"
        client.sendall(POST + whole + POST + chunked + POST + whole)
        answer = read_all(client)
    assert [answer.count(status) for status in (b"HTTP/1.1 200", b"HTTP/1.1 411")] == [1, 1]


def test_a_body_of_many_lines_is_taken_whole(port):
    lines = b"a\r\n" * 50_000
    assert post(port, f"content-length: {len(lines)}\r\n".encode(), lines).endswith(str(len(lines)).encode())


GET = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"


def test_headers_of_very_many_lines_are_refused_before_they_are_parsed(port, monkeypatch):
    def never(lines):
        raise AssertionError("headers of many lines were parsed")

    monkeypatch.setattr("h11._readers._decode_header_lines", never)
    for end in (b"\r\n", b""):  # whole, and on their way
        with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
            client.sendall(GET + b"a:\r\n" * LINES + end)
            answer = read_all(client)
        assert answer.startswith(b"HTTP/1.1 431 ") and answer.endswith(CROWDED)


def test_as_many_lines_as_a_request_may_have_are_read(port):
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        client.sendall(GET + b"a: b\r\n" * (LINES - 3) + b"\r\n")
        assert read_all(client).startswith(b"HTTP/1.1 200 ")


def test_many_lines_are_refused_behind_another_request_whose_answer_is_whole(port):
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        whole, crowded = b"content-length: 1\r\n\r\na", b"a:\r\n" * LINES + b"\r\n"
        client.sendall(POST + whole + POST + crowded + POST + whole)
        answer = read_all(client)
    assert [answer.count(status) for status in (b"HTTP/1.1 200", b"HTTP/1.1 431")] == [1, 1]
    assert answer.index(b"HTTP/1.1 200") == 0


def test_lines_of_a_body_and_of_requests_that_follow_are_none_of_the_headers():
    assert not has_many_lines(GET + b"\r\n" + b"a\r\n" * LINES * 2)
    assert not has_many_lines(GET.replace(b"\r", b"") + b"\n" + b"a\n" * LINES * 2)
    assert not has_many_lines((GET + b"\r\n") * LINES)
    assert not has_many_lines(b"a:\r\n" * LINES) and has_many_lines(b"a:\r\n" * (LINES + 1))
