"""The most expensive subscriptions, by the counters; and counts carried over to new segments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from tamis.engines.block.layout.ways import BLOCK, NAMES, ORACLE, ways, weights
from tamis.engines.block.segment.segment import Segment
from tamis.engines.introspection import Cost, Costs
from tamis.kernels.block.words import Bytes, Longs
from tamis.matches import Id


def most_expensive(
    stack: Sequence[Segment], unindexed: Iterable[Id], events: int, limit: int
) -> Costs:
    """Return the most expensive subscriptions, of all segments and of those that are in none.

    Args:
        stack: The segments.
        unindexed: The subscriptions that the oracle evaluates.
        events: How many events have been counted; `unindexed` are evaluated on all of them.
        limit: The most rows to return.
    """
    found: list[tuple[float, Cost]] = []
    total = 0.0
    for segment in stack:
        if segment.tally.events:
            way = ways(segment.plan)
            cost = _costs(segment, way)
            total += float(cost.sum())
            found += [(float(cost[r]), _row(segment, r, way[r])) for r in _highest(cost, limit)]
    if events:
        rows = [Cost(id, "oracle", 1000.0, None, 0.0) for id in unindexed]
        total += ORACLE * len(rows)
        found += [(ORACLE, row) for row in rows]
    found.sort(key=lambda pair: (-pair[0], str(pair[1].id)))
    return Costs(
        max([events, *(segment.tally.events for segment in stack)], default=0),
        tuple(
            Cost(row.id, row.way, row.checks, row.matches, cost / total)
            for cost, row in found[:limit]
        ),
    )


def _costs(segment: Segment, way: Bytes) -> NDArray[np.float64]:
    """Return the cost of each record per event, in checks of the way `value`."""
    cost: NDArray[np.float64] = segment.tally.visits * weights(segment)[way] * segment.alive
    return cost / segment.tally.events


def _highest(cost: NDArray[np.float64], limit: int) -> list[int]:
    """Return the records that cost most, without those that cost nothing."""
    chosen = np.arange(len(cost))
    if limit < len(cost):
        chosen = np.argpartition(-cost, limit)[:limit]
    return [int(record) for record in chosen if cost[record] > 0.0]


def _row(segment: Segment, record: int, way: int) -> Cost:
    tally = segment.tally
    per_thousand = 1000.0 / tally.events
    return Cost(
        segment.ledger.id(record),
        NAMES[way],
        float(tally.visits[record] * per_thousand),
        float(tally.matched[record] * per_thousand),
        0.0,
    )


def carry_over(old: Segment, new: Segment, records: Longs, begin: int) -> None:
    """Add the counts of an old segment to the one that replaces it.

    A check of a block is not a check of an event. Where a subscription changes between the two
    ways, its checks become a lower bound, until new counts outweigh them.

    Args:
        old: A segment that `new` replaces.
        new: The segment that has its records now.
        records: The records of `old` that are in `new`.
        begin: The record in `new` of the first of them; the others follow.
    """
    past, tally = old.tally, new.tally
    if not past.events:
        return
    tally.visit_counters()
    tally.events = tally.events or past.events
    scale = tally.events / past.events
    visits, matched = past.visits[records] * scale, past.matched[records] * scale
    here = slice(begin, begin + len(records))
    was = ways(old.plan)[records] == BLOCK
    now = ways(new.plan)[here] == BLOCK
    visits = np.where(now & ~was, np.minimum(visits, tally.events / new.block_size), visits)
    visits = np.where(was & ~now, np.maximum(visits, matched), visits)
    tally.visits[here], tally.matched[here] = np.ceil(visits), np.ceil(matched)
