"""Things that go on side by side, and how they end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from typing import Any

_AGAIN = 4.0  # longer than what tasks do before they end


async def run_until_first(works: Iterable[Awaitable[object]]) -> None:
    """Do several things until one of them ends, or fails, which is raised."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        await cancel_and_wait(*tasks)


async def cancel_and_wait(*tasks: asyncio.Future[Any]) -> None:
    """Cancel tasks, and wait until they have ended.

    More than once if need be: until Python 3.12 `asyncio.wait_for`, which the client of NATS goes
    by, forgets that it was cancelled if what it waits for comes at the same moment.
    """
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=_AGAIN)
    await asyncio.gather(*tasks, return_exceptions=True)  # what they raised has been seen
