"""Several things that go on side by side, of which none may end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable


async def first_of(works: Iterable[Awaitable[object]]) -> None:
    """Do several things until one of them ends, or fails, which is raised."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
