"""Interests from one end of a link to the other: what A tells B becomes what B was told by A.

At the beginning, and whenever the reading begins anew, both are compared: so whatever was done by
halves is mended. Then changes are copied as they come. What is new goes before what is gone, so B
never knows too little. Nothing is taken away but what this link has seen last: a removal that comes
late, over a connection that is gone, hits nothing that is newer.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import aclosing

from nats.aio.msg import Msg

from tamis.broker.fabric.follow import SnapshotEnd, mark_snapshots
from tamis.broker.fabric.publish import Publisher, PublishGroup
from tamis.broker.overlay.link_ends import End, LinkInterruptedError
from tamis.broker.overlay.route_bucket import REMOVAL
from tamis.broker.protocol.link_permissions import LinkFeed
from tamis.broker.protocol.wire import is_delete_marker, place_of

_EXPECTED = "Nats-Expected-Last-Subject-Sequence"


class Copier:
    """Copies from one end to the other."""

    def __init__(self, source: End, target: End) -> None:
        """Name the ends."""
        self._source = source
        self._target = target
        names = source.names
        self._out = names.bucket_subject(names.routes, f"out.{target.name}.")
        self._in = names.bucket_subject(names.routes, f"in.{source.name}.")
        self._standing: dict[str, tuple[int, bytes]] = {}

    async def run(self) -> None:
        """Copy, for ever.

        Raises:
            Interrupted: It has to begin anew.
        """
        self._standing = await self._read()
        reading = mark_snapshots(self._source.follow(LinkFeed.out), len(self._out))
        async with Publisher(self._target.connection) as publisher, aclosing(reading):
            async for news in reading:
                if isinstance(news, SnapshotEnd):
                    gone = dict.fromkeys(self._standing.keys() - news.keys)
                    await self._apply(publisher, gone)
                else:
                    await self._apply(publisher, _latest_values(news, len(self._out)))
        raise LinkInterruptedError("the reading has ended")

    async def _read(self) -> dict[str, tuple[int, bytes]]:
        """What stands at the other end, with its revisions."""
        found: dict[str, tuple[int, bytes]] = {}
        reading = mark_snapshots(self._target.follow(LinkFeed.received), len(self._in))
        async with aclosing(reading):
            async for news in reading:
                if isinstance(news, SnapshotEnd):
                    return {key: found[key] for key in news.keys & found.keys()}
                for message in news:
                    key = message.subject[len(self._in) :]
                    if is_delete_marker(message.headers):
                        found.pop(key, None)
                    else:
                        found[key] = place_of(message.reply).sequence, message.data
        raise LinkInterruptedError("the other end cannot be read")

    async def _apply(self, publisher: Publisher, changes: dict[str, bytes | None]) -> None:
        new = {
            key: data
            for key, data in changes.items()
            if data is not None and self._standing.get(key, (0, None))[1] != data
        }
        group = PublishGroup()
        for key, data in new.items():
            await publisher.publish(group, self._in + key, data)
        await self._wait_confirmed(group)
        for (key, data), revision in zip(new.items(), group.sequences, strict=True):
            self._standing[key] = revision, data
        gone = [key for key, data in changes.items() if data is None and key in self._standing]
        group = PublishGroup()
        for key in gone:
            headers = {**REMOVAL, _EXPECTED: str(self._standing[key][0])}
            await publisher.publish(group, self._in + key, b"", headers)
        await self._wait_confirmed(group)
        for key in gone:
            del self._standing[key]

    async def _wait_confirmed(self, group: PublishGroup) -> None:
        await group.wait_confirmed()
        for error in group.failed.values():
            raise LinkInterruptedError(f"the other end has changed: {error}")


def _latest_values(messages: Iterable[Msg], skip: int) -> dict[str, bytes | None]:
    """By key, what it is now; None for what is gone."""
    return {
        message.subject[skip:]: None if is_delete_marker(message.headers) else message.data
        for message in messages
    }
