"""A follower applies puts and delete markers, and survives entries that it cannot apply."""

import asyncio
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

from tamis.broker.fabric.bucket_follower import BucketFollower
from tamis.broker.fabric.connection import Connection
from tamis.broker.protocol.names import Names


class _Numbers(BucketFollower):
    def __init__(self) -> None:
        super().__init__(cast(Connection, None), Names(), "numbers", ThreadPoolExecutor(1))
        self.held: dict[str, int] = {}
        self.rejected: list[str] = []

    def _held_keys(self) -> Collection[str]:
        return self.held

    def _put(self, key: str, data: bytes, revision: int) -> None:
        self.held[key] = int(data)

    def _delete(self, key: str) -> None:
        self.held.pop(key, None)

    def _reject(self, key: str, error: Exception) -> None:
        self.rejected.append(key)


def _message(revision: int, key: str, data: bytes, **headers: str) -> Any:
    reply = f"$JS.ACK.KV_numbers.c.1.{revision}.{revision}.1700000000000000000.0"
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return SimpleNamespace(
        subject=f"$KV.numbers.{key}", data=data, headers=named or None, reply=reply
    )


def test_changes_are_applied_in_order_and_bad_entries_are_rejected() -> None:
    numbers = _Numbers()
    numbers._apply([_message(1, "a", b"1"), _message(2, "b", b"x"), _message(3, "c", b"3")])
    assert numbers.held == {"a": 1, "c": 3} and numbers.rejected == ["b"]
    numbers._apply(
        [
            _message(4, "a", b"", KV_Operation="PURGE"),
            _message(5, "c", b"", Nats_Marker_Reason="MaxAge"),
            _message(6, "d", b"4"),
        ]
    )
    assert numbers.held == {"d": 4}
    assert numbers.revision == 6


def test_keys_that_a_snapshot_lacks_are_deleted() -> None:
    numbers = _Numbers()
    numbers._apply([_message(1, "a", b"1"), _message(2, "b", b"2")])
    numbers._keep_only({"b", "unseen"})
    assert numbers.held == {"b": 2}


def test_a_revision_that_was_applied_is_not_waited_for() -> None:
    numbers = _Numbers()

    async def go() -> None:
        await numbers.run_on_executor(numbers._apply, [_message(7, "a", b"1")])
        await asyncio.wait_for(numbers.wait_for_revision(7), 1)

    asyncio.run(go())
