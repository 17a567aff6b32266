"""Closes connections that do not send a request, or send a body crumb by crumb. uvicorn would wait forever for the one,
and compute for the other while everybody waits; and each connection is an open file."""

from __future__ import annotations

import asyncio
from typing import Any

READ = 16 * 2**10  # bytes that are read at a time, so that what one client sends does not hold the others up for long
CRUMB = (
    64  # bytes of a body in chunks to a line break, at least; the server takes as long for a chunk of one as of many
)
SECONDS = 20.0  # from the opening of a connection, or the first byte of a later request, to the end of its headers


def close_slow_connections(config: Any, seconds: float = SECONDS) -> None:
    """Applies to every connection from now on; `config` is that of a uvicorn server that has started."""
    usual = config.http_protocol_class

    class Impatient(usual):
        """uvicorn's protocol with limits for the headers, and for the chunks of a body. A body as a whole has limits in
        `BodyLimit`, an answer has none."""

        _deadline: asyncio.TimerHandle | None = None
        _bytes = _breaks = 0  # of a body in chunks

        def connection_made(self, transport: Any) -> None:
            transport.max_size = READ  # asyncio's own is 256 kB
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            if self._is_crumbled(data):
                self.transport.abort()
                return
            super().data_received(data)
            self._watch()

        def _is_crumbled(self, data: bytes) -> bool:
            has_begun = self.cycle is not None and self.cycle.more_body and not self.cycle.response_complete
            if not has_begun or all(name != b"transfer-encoding" for name, _ in self.headers):
                self._bytes = self._breaks = 0
                return False
            self._bytes += len(data)
            self._breaks += data.count(b"\r\n")
            return self._bytes > READ and self._breaks * CRUMB > self._bytes

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
