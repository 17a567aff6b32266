"""Closes connections that do not send a request, or send it in many lines, or its body in chunks. uvicorn would wait
forever for the one, and compute for the others while everybody waits; and each connection is an open file. A request
for a WebSocket is answered as any other."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD = 64 * 2**10  # bytes of the headers of a request, which may hold a link twice; h11's own limit is 16 kB
SECONDS = 20.0  # from the opening of a connection, or the first byte of a later request, to the end of its headers
LINES = 128  # of a request and its headers; browsers and proxies send some 40, and h11 parses thousands for 30 ms
CHUNKED = b"This page takes no body in chunks. Send its length in the header Content-Length."
CROWDED = f"This request has more than {LINES} lines of headers. Send fewer.".encode()


class _Refused(Exception):
    """What a request asks for will not be looked at."""

    def __init__(self, status: bytes, sentence: bytes):
        head = b"HTTP/1.1 %s\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n" % status
        self.answer = b"%scontent-length: %d\r\n\r\n%s" % (head, len(sentence), sentence)


def has_many_lines(received: bytes | bytearray) -> bool:
    """Whether the headers that begin here, whole or not, have more lines than a request may. What follows them is a
    body, or the next request."""
    lines = received.split(b"\n", LINES + 1)
    return len(lines) > LINES + 1 and not any(line in (b"", b"\r") for line in lines[:-1])


def close_slow_connections(config: Any, seconds: float = SECONDS) -> None:
    """Applies to every connection from now on; `config` is that of a uvicorn server that has started."""

    class Impatient(H11Protocol):
        """uvicorn's protocol with a limit for the headers, and for bodies whose length is known, which no chunk of one
        byte makes slow. A body as a whole has limits in `BodyLimit`, an answer has none."""

        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            received = self.conn._receive_buffer
            following, extract = self.conn.next_event, received.maybe_extract_lines

            def next_event() -> Any:
                event = following()
                if any(name == b"transfer-encoding" for name, _ in getattr(event, "headers", ())):
                    raise _Refused(b"411 Length Required", CHUNKED)
                return event

            def extract_lines() -> Any:
                if has_many_lines(received._data):
                    raise _Refused(b"431 Request Header Fields Too Large", CROWDED)
                return extract()

            self.conn.next_event, received.maybe_extract_lines = next_event, extract_lines
            self._watch()

        def handle_events(self) -> None:
            try:
                super().handle_events()
            except _Refused as refused:
                self.transport.write(refused.answer)
                self.transport.close()

        def _should_upgrade(self) -> bool:
            """Never: a WebSocket, of which the page has none, would pass by all that paces requests."""
            return False

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._forget()

        def _watch(self) -> None:
            if self.cycle is not None and not self.cycle.response_complete:
                self._forget()  # the request is there, and its answer takes as long as it takes
            elif self._deadline is None:
                self._deadline = asyncio.get_running_loop().call_later(seconds, self._close)

        def _forget(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

        def _close(self) -> None:
            if self.transport.get_protocol() is self:  # no other protocol has taken over
                self.transport.close()

    config.http_protocol_class = Impatient
    config.h11_max_incomplete_event_size = HEAD
