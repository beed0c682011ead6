"""Which segments to merge or rebuild next, to keep the stack short and the plans up to date."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from tamis.engines.block.layout.axes import MOST_CONSTANTS
from tamis.engines.block.segment.segment import Segment
from tamis.kernels.block.words import AXES, FIELD

# A segment is merged with the one after it unless it is more than this many times as large.
_RATIO = 4
# The fewest subscriptions for which a rebuild pays.
_WORTH = 512
# A segment is rebuilt when more than this fraction of it has been removed.
_DEAD = 0.25


class UpkeepStep(NamedTuple):
    """Merge the segment at `place` with the one after it, or rebuild it."""

    place: int
    merge: bool


def next_step(stack: Sequence[Segment], events_known: bool, quiet: bool) -> UpkeepStep | None:
    """Return the next maintenance step of a stack, if there is any.

    Every segment adds to the cost of every event. When subscriptions do not change any more
    (`quiet`), one segment is best.
    """
    for place in range(len(stack) - 2, -1, -1):
        small = len(stack[place]) <= _RATIO * len(stack[place + 1])
        if small and not quiet and _can_merge(*stack[place : place + 2]):
            return UpkeepStep(place, True)
    if quiet:
        # The smallest adjacent pair first: sixteen equal segments then take four rounds. Merging
        # from the end would copy the last one fifteen times.
        pairs = [
            (len(a) + len(b), n) for n, (a, b) in enumerate(pairwise(stack)) if _can_merge(a, b)
        ]
        if pairs:
            return UpkeepStep(min(pairs)[1], True)
    for place, segment in enumerate(stack):
        if segment.dead > _DEAD * len(segment.ledger) and segment.dead >= _WORTH:
            return UpkeepStep(place, False)
        if events_known and not segment.informed and len(segment) >= _WORTH:
            return UpkeepStep(place, False)
    return None


def _can_merge(left: Segment, right: Segment) -> bool:
    """Return whether the numbers that the words of both refer to fit into the words of one."""
    return (
        len(left.axes) + len(right.axes) < AXES
        and int(left.axes.count.max(initial=0)) + int(right.axes.count.max(initial=0))
        < MOST_CONSTANTS
        and len(left.sets.axis) + len(right.sets.axis) < FIELD
        and len(left.predicates) + len(right.predicates) < FIELD
        and len(left.ledger) + len(right.ledger) < 2**31
    )
