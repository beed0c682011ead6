"""A pool of scratch memory: each thread that matches borrows its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Generic, TypeVar

Scratch = TypeVar("Scratch")


class ScratchPool(Generic[Scratch]):
    """Scratch objects that are reused from one batch to the next.

    A pickle of the pool is empty: scratch has no state that outlives a batch.
    """

    def __init__(self, create: Callable[[], Scratch]) -> None:
        """Create an empty pool.

        Args:
            create: Makes a scratch object when none is free.
        """
        self._create = create
        self._free: list[Scratch] = []
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[ScratchPool[Scratch]], tuple[Callable[[], Scratch]]]:
        """Pickle the pool without its scratch objects."""
        return ScratchPool, (self._create,)

    def __iter__(self) -> Iterator[Scratch]:
        """Iterate over the scratch objects that are free."""
        return iter(list(self._free))

    @contextmanager
    def borrow(self) -> Iterator[Scratch]:
        """Lend a scratch object to one thread.

        If the body raises, the object is discarded, because it may be left half written.
        """
        with self._lock:
            scratch = self._free.pop() if self._free else self._create()
        yield scratch
        with self._lock:
            self._free.append(scratch)
