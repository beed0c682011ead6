"""Connections that send no whole head of a request are not waited for without end."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


class Patient(H11Protocol):
    """A connection that may be silent for some seconds where a request should come."""

    seconds = 10.0

    @classmethod
    def waiting(cls, seconds: float) -> type[Patient]:
        """Such a connection, that waits so long."""
        return type(cls.__name__, (cls,), {"seconds": seconds})

    def connection_made(self, transport: Any) -> None:
        """Wait from now on."""
        super().connection_made(transport)
        self._waiting: asyncio.TimerHandle | None = None
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Wait if what has come is not yet a request."""
        super().data_received(data)
        if self._between_requests:
            self._wait()
        elif self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        if self._waiting is not None:
            self._waiting.cancel()
        super().connection_lost(exc)

    @property
    def _between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _wait(self) -> None:
        # Once, not anew with each byte: a drop a second is no request either.
        if self._waiting is None:
            self._waiting = self.loop.call_later(self.seconds, self._enough)

    def _enough(self) -> None:
        self._waiting = None
        if self._between_requests and not self.transport.is_closing():
            self.transport.close()
