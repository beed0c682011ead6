"""Which subscriptions are expensive, by what was counted; and counts that outlive their segment."""

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
    """The most expensive subscriptions of all segments, and of those that are in none.

    Args:
        stack: The segments.
        unindexed: Subscriptions that the oracle decides.
        events: How many events have been counted, of which `whole` has seen all.
        limit: At most so many rows.
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
    """By record, what it costs an event, in looks at a subscription under a value."""
    cost: NDArray[np.float64] = segment.tally.visits * weights(segment)[way] * segment.alive
    return cost / segment.tally.events


def _highest(cost: NDArray[np.float64], limit: int) -> list[int]:
    """The records that cost most, but none that cost nothing."""
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
    """Go on counting where an older segment was.

    A look at a block is not a look at an event: where a subscription goes another way now, its
    looks are what they must have been at least, until new ones outweigh them.

    Args:
        old: A segment that `new` takes the place of.
        new: The segment that has its records now.
        records: The records of the old that are in the new.
        begin: The number of the first of them there; the others follow.
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
