"""Closes connections that do not send a request. uvicorn would wait forever, and each connection is an open file."""

from __future__ import annotations

import asyncio
from typing import Any

SECONDS = 20.0  # from the opening of a connection, or the first byte of a later request, to the end of its headers


def close_slow_connections(config: Any, seconds: float = SECONDS) -> None:
    """Applies to every connection from now on; `config` is that of a uvicorn server that has started."""
    usual = config.http_protocol_class

    class HeaderTimeout(usual):
        """uvicorn's protocol with a limit for the headers. A body has one in `BodyLimit`, an answer has none."""

        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._watch()

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

    config.http_protocol_class = HeaderTimeout
