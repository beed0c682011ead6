"""Run tasks concurrently, and end them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from typing import Any

_AGAIN = 4.0  # longer than the clean-up of a task takes


async def run_until_first(works: Iterable[Awaitable[object]]) -> None:
    """Run several awaitables until one of them ends; if it failed, raise its error."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        await cancel_and_wait(*tasks)


async def cancel_and_wait(*tasks: asyncio.Future[Any]) -> None:
    """Cancel tasks, and wait until they have ended.

    A task may need more than one cancellation: before Python 3.12 `asyncio.wait_for`, which the
    NATS client uses, swallows a cancellation that arrives together with the result.
    """
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=_AGAIN)
    await asyncio.gather(*tasks, return_exceptions=True)  # retrieve their exceptions
