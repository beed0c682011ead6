"""Run work that may take long or much memory in a separate process, which can be killed."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection as Pipe
from multiprocessing.process import BaseProcess
from typing import Any

from tamis.broker.protocol.wire import refusal
from tamis.errors import BrokerError, TamisError

_START = 60.0  # the first start may have to compile kernels


class WorkerProcess:
    """A process that runs one function at a time, and is killed when a function takes too long."""

    def __init__(self, seconds: float, memory: int, queue: int) -> None:
        """Set the limits; the process starts with the first call of `run`.

        Args:
            seconds: How long a function may take.
            memory: The most memory of the process, in bytes.
            queue: The most calls that run or wait.
        """
        self._seconds = seconds
        self._memory = memory
        self._queue = queue
        self._waiting = 0
        self._lock = asyncio.Lock()
        self._process: BaseProcess | None = None
        self._pipe: Pipe | None = None

    async def run(self, work: Callable[..., object], *arguments: object) -> Any:
        """Run a module-level function in the process; its result must be JSON.

        Raises:
            BrokerError: It takes too long or too much memory, or too many calls wait.
        """
        if self._waiting >= self._queue:
            raise BrokerError("too many requests; try again later", "busy")
        self._waiting += 1
        try:
            async with self._lock:
                return await self._run_in_process(work, arguments)
        finally:
            self._waiting -= 1

    def stop(self) -> None:
        """Kill the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None

    async def _run_in_process(
        self, work: Callable[..., object], arguments: tuple[object, ...]
    ) -> Any:
        try:
            if self._pipe is None:
                await asyncio.to_thread(self._start)
            assert self._pipe is not None
            self._pipe.send((work, arguments))
            if not await asyncio.to_thread(self._pipe.poll, self._seconds):
                self.stop()
                raise BrokerError(
                    f"the request takes more than {self._seconds:g} s; reduce its size", "limit"
                )
            return self._pipe.recv()
        except (EOFError, OSError):
            self.stop()
            raise BrokerError(
                "the request takes too much memory; reduce its size", "limit"
            ) from None
        except asyncio.CancelledError:
            self.stop()
            raise

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve_pipe, args=(theirs, self._memory), daemon=True
        )
        self._process.start()
        theirs.close()
        if not self._pipe.poll(_START):
            raise EOFError
        self._pipe.recv()


def _serve_pipe(pipe: Pipe, memory: int) -> None:
    import resource
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _load_modules()
    pipe.send(None)
    while True:
        try:
            work, arguments = pipe.recv()
        except EOFError:
            return
        try:
            answer = work(*arguments)
        except TamisError as error:
            answer = refusal(error)
        except (MemoryError, RecursionError):
            answer = refusal(
                BrokerError("the request takes too much memory; reduce its size", "limit")
            )
        except Exception as error:
            answer = refusal(BrokerError(f"internal error: {error!r}", "internal"))
        pipe.send(answer)


def _load_modules() -> None:
    """Import the modules that functions need, so that this does not count as their time."""
    import tamis.analysis
    import tamis.matcher  # noqa: F401
