"""The sizes and layout choices of an engine, as `stats()` returns them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass

import numpy as np

from tamis.engines.block.layout.plan import GENERAL_BELOW, NARROW_BELOW
from tamis.engines.block.layout.ways import NAMES, counts
from tamis.engines.block.segment.segment import Segment


def segment_stats(stack: Sequence[Segment]) -> dict[str, object]:
    """Return the statistics of segments, and the ways chosen for their subscriptions."""
    ways = [counts(segment.plan) for segment in stack]
    return {
        "segments": len(stack),
        "segment_sizes": [len(segment) for segment in stack],
        "removed": sum(segment.dead for segment in stack),
        "ways": {name: sum(some[name] for some in ways) for name in NAMES},
        "thresholds": {"value": NARROW_BELOW, "cover": GENERAL_BELOW},
        "block_sizes": sorted({segment.block_size for segment in stack}),
        "informed": _informed_share(stack),
        "events_counted": max((segment.tally.events for segment in stack), default=0),
        "axes": sum(len(segment.axes) for segment in stack),
        "constants": sum(int(segment.axes.count.sum()) for segment in stack),
        "bytes": sizes(stack),
    }


def _informed_share(stack: Sequence[Segment]) -> float:
    """Return the share of the subscriptions that were laid out with a sample of events."""
    every = sum(map(len, stack))
    return sum(len(segment) for segment in stack if segment.informed) / every if every else 0.0


def sizes(stack: Iterable[Segment]) -> dict[str, int]:
    """Return the size of the arrays in bytes, by part."""
    total = {"axes": 0, "value": 0, "cover": 0, "block": 0, "ledger": 0, "counters": 0, "other": 0}
    for segment in stack:
        plan, tally = segment.plan, segment.tally
        total["axes"] += _total_bytes([segment.axes, segment.sets])
        total["value"] += _total_bytes([plan.narrow])
        total["cover"] += _total_bytes([plan.general])
        total["block"] += _total_bytes([plan.wide])
        total["ledger"] += _total_bytes([segment.ledger])
        total["counters"] += _total_bytes([tally.visits, tally.matched])
        total["other"] += _total_bytes([plan.buckets, plan.leaves, plan.defaults])
        total["other"] += _total_bytes([plan.never, segment.alive])
    return {**total, "all": sum(total.values())}


def _total_bytes(things: Iterable[object]) -> int:
    return sum(array.nbytes for array in _arrays(things))


def _arrays(things: Iterable[object]) -> Iterator[np.ndarray]:
    for thing in things:
        if isinstance(thing, np.ndarray):
            yield thing
        elif isinstance(thing, tuple):
            yield from _arrays(thing)
        elif is_dataclass(thing):
            yield from _arrays(getattr(thing, field.name) for field in fields(thing))
