"""Close connections that do not send a complete request head in time."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


class HeadTimeout(H11Protocol):
    """The HTTP protocol of uvicorn with a timeout for the head of a request."""

    seconds = 10.0

    @classmethod
    def with_timeout(cls, seconds: float) -> type[HeadTimeout]:
        """Return a protocol class with a timeout."""
        return type(cls.__name__, (cls,), {"seconds": seconds})

    def connection_made(self, transport: Any) -> None:
        """Start the timer for the first request."""
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        """Start the timer if the request head is incomplete, else stop it."""
        super().data_received(data)
        if self._is_between_requests:
            self._start_timer()
        elif self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    @property
    def _is_between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _start_timer(self) -> None:
        # Not restarted by each byte: one byte a second is not a request either.
        if self._timer is None:
            self._timer = self.loop.call_later(self.seconds, self._close_if_idle)

    def _close_if_idle(self) -> None:
        self._timer = None
        if self._is_between_requests and not self.transport.is_closing():
            self.transport.close()
