"""Closes connections that do not send a request, or would send its body in chunks. uvicorn would wait forever for the
one, and compute for the other while everybody waits; and each connection is an open file."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD = 64 * 2**10  # bytes of the headers of a request, which may hold a link twice; h11's own limit is 16 kB
SECONDS = 20.0  # from the opening of a connection, or the first byte of a later request, to the end of its headers
CHUNKED = b"This page takes no body in chunks. Send its length in the header Content-Length."
REFUSAL = (
    b"HTTP/1.1 411 Length Required\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n"
    + f"content-length: {len(CHUNKED)}\r\n\r\n".encode()
    + CHUNKED
)


class _InChunks(Exception):
    """A request says that its body comes in chunks."""


def close_slow_connections(config: Any, seconds: float = SECONDS) -> None:
    """Applies to every connection from now on; `config` is that of a uvicorn server that has started."""

    class Impatient(H11Protocol):
        """uvicorn's protocol with a limit for the headers, and for bodies whose length is known, which no chunk of one
        byte makes slow. A body as a whole has limits in `BodyLimit`, an answer has none."""

        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            following = self.conn.next_event

            def next_event() -> Any:
                event = following()
                if any(name == b"transfer-encoding" for name, _ in getattr(event, "headers", ())):
                    raise _InChunks
                return event

            self.conn.next_event = next_event
            self._watch()

        def handle_events(self) -> None:
            try:
                super().handle_events()
            except _InChunks:
                self.transport.write(REFUSAL)
                self.transport.close()

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
