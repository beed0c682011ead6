"""Copy interests from one end of a link to the other: A's `out` entries become B's `in` entries.

At the start, and whenever reading starts again, both sides are compared, which repairs what an
interrupted copier left unfinished. Then changes are copied as they arrive. New entries are written
before old ones are removed, so B never has too few interests. A removal names the revision that
this link saw last, so a late one, from a connection that is gone, cannot remove a newer entry.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import aclosing

from nats.aio.msg import Msg

from tamis.broker.fabric.follow import SnapshotEnd, mark_snapshots
from tamis.broker.fabric.publish import Publisher, PublishGroup
from tamis.broker.overlay.link_ends import LinkEnd, LinkInterruptedError
from tamis.broker.overlay.route_bucket import REMOVAL
from tamis.broker.protocol.link_permissions import LinkFeed
from tamis.broker.protocol.wire import is_delete_marker, place_of

_EXPECTED = "Nats-Expected-Last-Subject-Sequence"


class InterestCopier:
    """Copies interests from one end of a link to the other."""

    def __init__(self, source: LinkEnd, target: LinkEnd) -> None:
        """Choose the ends."""
        self._source = source
        self._target = target
        names = source.names
        self._out = names.bucket_subject(names.routes, f"out.{target.name}.")
        self._in = names.bucket_subject(names.routes, f"in.{source.name}.")
        self._standing: dict[str, tuple[int, bytes]] = {}

    async def run(self) -> None:
        """Copy interests until cancelled.

        Raises:
            LinkInterruptedError: The copier must start again.
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
        raise LinkInterruptedError("cannot read the interests any more")

    async def _read(self) -> dict[str, tuple[int, bytes]]:
        """Return the entries at the other end, with their revisions."""
        entries: dict[str, tuple[int, bytes]] = {}
        reading = mark_snapshots(self._target.follow(LinkFeed.received), len(self._in))
        async with aclosing(reading):
            async for news in reading:
                if isinstance(news, SnapshotEnd):
                    return {key: entries[key] for key in news.keys & entries.keys()}
                for message in news:
                    key = message.subject[len(self._in) :]
                    if is_delete_marker(message.headers):
                        entries.pop(key, None)
                    else:
                        entries[key] = place_of(message.reply).sequence, message.data
        raise LinkInterruptedError("cannot read the interests at the other end")

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
            raise LinkInterruptedError(f"the interests at the other end have changed: {error}")


def _latest_values(messages: Iterable[Msg], skip: int) -> dict[str, bytes | None]:
    """Return the latest value of each key; None for a deleted one."""
    return {
        message.subject[skip:]: None if is_delete_marker(message.headers) else message.data
        for message in messages
    }
