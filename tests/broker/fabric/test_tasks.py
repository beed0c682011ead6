"""Concurrent tasks end, and their errors are raised."""

import asyncio

import pytest

from tamis.broker.fabric import tasks as together
from tamis.broker.fabric.tasks import cancel_and_wait, run_until_first
from tests.broker.conftest import run


async def _deaf() -> None:
    """Swallow a cancellation, as `asyncio.wait_for` does if its result arrives at that moment."""
    for _ in range(2):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            continue
    await asyncio.sleep(60)


def test_a_task_that_swallows_a_cancellation_is_cancelled_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(together, "_AGAIN", 0.05)

    async def go() -> None:
        tasks = [asyncio.create_task(_deaf()), asyncio.create_task(asyncio.sleep(60))]
        await asyncio.sleep(0)
        await cancel_and_wait(*tasks)
        assert all(task.cancelled() for task in tasks)
        await cancel_and_wait(*tasks)
        await cancel_and_wait()

    run(go(), 10)


def test_the_first_task_that_fails_ends_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "_AGAIN", 0.05)
    over: list[str] = []

    async def fails() -> None:
        raise KeyError("first")

    async def other() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            over.append("other")

    async def go() -> None:
        with pytest.raises(KeyError, match="first"):
            await run_until_first([other(), _deaf(), fails()])
        assert over == ["other"]

    run(go(), 10)
