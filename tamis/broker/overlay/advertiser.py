"""What neighbours are to know is written down, by one broker of the node at a time.

It brings what stands in the bucket to what the table says should: whatever was done halfway by a
broker that is gone is mended by comparing. What is new is written before what goes is taken away,
so that whoever reads meanwhile knows too much, and never too little.
"""

from __future__ import annotations

import asyncio

import msgspec
from nats.errors import Error as NatsError

from tamis.broker.fabric.connection import Connection, log
from tamis.broker.fabric.lease import LASTS, Lease, run_while_held
from tamis.broker.fabric.publish import Publisher
from tamis.broker.overlay.node_table import OverlayTable
from tamis.broker.overlay.route_bucket import put, put_link, remove
from tamis.broker.protocol.names import Names
from tamis.errors import BrokerError, LoopError
from tamis.routing.membership import Link, OverlayLoop

# A loop must be seen for so long before a link is given up: what is heard may be of yesterday.
_DOUBT = 2.0


class RouteWriter:
    """Writes while it has the lease.

    Attributes:
        leads: Whether it has.
    """

    def __init__(
        self,
        connection: Connection,
        table: OverlayTable,
        publisher: Publisher,
        names: Names,
        holder: str,
    ) -> None:
        """Take the parts of a node."""
        self._connection = connection
        self._js = connection.nats.jetstream()
        self._table = table
        self._publisher = publisher
        self._names = names
        self._lease = Lease(self._js, names, "routes-lease", holder)
        self.leads = False
        self._suspect: tuple[Link, float] | None = None

    async def run(self) -> None:
        """Try for the lease, and write while it is ours; for ever."""
        try:
            while True:
                if await self._lease.acquire():
                    try:
                        await run_while_held(self._lease, self._connection, self._lead)
                    finally:
                        self.leads = False
                await asyncio.sleep(LASTS / 6)
        finally:
            await self._lease.release()

    async def _lead(self) -> None:
        table = self._table
        await table.run_on_executor(table.recheck)
        self.leads = True
        while True:
            table.changed.clear()
            new, gone = await table.run_on_executor(table.changes)
            if new or gone:
                try:
                    revision = await put(self._publisher, self._names, new)
                    revision = max(revision, await remove(self._publisher, self._names, gone))
                    await table.wait_for_revision(revision)
                except BrokerError as error:
                    log.warning("a neighbour cannot be told something: %s", error)
            await self._break_loop(await table.run_on_executor(table.members.find_loop))
            try:
                wait = None if self._suspect is None else _DOUBT / 4
                await asyncio.wait_for(table.changed.wait(), wait)
            except TimeoutError:
                pass

    async def _break_loop(self, loop: OverlayLoop | None) -> None:
        """Give up the youngest link of a loop, if one of its ends is here."""
        if loop is None or self._table.name not in loop.youngest.ends:
            self._suspect = None
            return
        now = asyncio.get_running_loop().time()
        if self._suspect is None or self._suspect[0] != loop.youngest:
            self._suspect = loop.youngest, now
        if now - self._suspect[1] < _DOUBT:
            return
        neighbour = loop.youngest.other(self._table.name)
        record = self._table.links.get(neighbour)
        if record is None or record.id != loop.youngest.id:
            return
        refused = msgspec.structs.replace(record, refused=str(loop_error(loop)))
        log.warning("%s", refused.refused)
        try:
            revision = await put_link(self._js, self._names, neighbour, refused)
        except (NatsError, OSError, TimeoutError) as error:
            log.debug("cannot be written yet: %s", error)
            return
        await self._table.wait_for_revision(revision)
        self._suspect = None


def loop_error(loop: OverlayLoop) -> LoopError:
    """The loop that the youngest link closes.

    >>> link = Link.between("lyon", "rome", 3, "c")
    >>> print(loop_error(Loop(("lyon", "rome", "oslo"), link)))
    linking lyon to rome would close a loop: there is lyon - oslo - rome already
    """
    one, other = loop.nodes[:2]
    return LoopError(one, other, [one, *reversed(loop.nodes[1:])])
