"""Write the interests and paths to advertise to neighbours, in one broker of the node at a time.

The writer brings the bucket to the state that the table asks for. It compares the two, so it also
completes what a broker that died left unfinished. New entries are written before old ones are
removed, so a reader may briefly see too many interests, but never too few.
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

# A loop must persist for so long before a link is given up: received paths may be outdated.
_DOUBT = 2.0


class RouteWriter:
    """Writes the bucket of routes while it holds the lease.

    Attributes:
        leads: Whether it holds the lease.
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
        """Try to acquire the lease, and write while it is held, until cancelled."""
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
                    log.warning("cannot advertise to a neighbour: %s", error)
            await self._break_loop(await table.run_on_executor(table.members.find_loop))
            try:
                wait = None if self._suspect is None else _DOUBT / 4
                await asyncio.wait_for(table.changed.wait(), wait)
            except TimeoutError:
                pass

    async def _break_loop(self, loop: OverlayLoop | None) -> None:
        """Give up the youngest link of a loop if one of its ends is this node."""
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
            log.debug("cannot write the link record, retrying: %s", error)
            return
        await self._table.wait_for_revision(revision)
        self._suspect = None


def loop_error(loop: OverlayLoop) -> LoopError:
    """Return the error for the loop that its youngest link closes.

    >>> link = Link.between("lyon", "rome", 3, "c")
    >>> print(loop_error(OverlayLoop(("lyon", "rome", "oslo"), link)))
    linking lyon to rome would close a loop: there is lyon - oslo - rome already
    """
    one, other = loop.nodes[:2]
    return LoopError(one, other, [one, *reversed(loop.nodes[1:])])
