"""The ways in which the engine can match a selector: as planned, or forced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest import mock

from tamis.engines.block import BlockEngine, engine, event_sample, stack
from tamis.engines.block.draft import head
from tamis.engines.block.layout import plan
from tamis.engines.block.match.rank_rows import Columns
from tamis.engines.block.segment.segment import Segment

# A cost is never negative, and a selector without a cover costs 2.
_NONE, _ALL = -1.0, 1.5
WAYS: dict[str, dict[str, float]] = {
    "planned": {},
    "values": {"NARROW_BELOW": _ALL, "GENERAL_BELOW": _NONE, "_BLOCK_COST": 0.0},
    "covers": {"NARROW_BELOW": _NONE, "GENERAL_BELOW": _ALL},
    "blocks": {"NARROW_BELOW": _NONE, "GENERAL_BELOW": _NONE, "_BLOCK_COST": 0.0},
}
# The kinds of selectors that each way excludes.
WITHOUT = {
    "planned": set(),
    "values": {"general"},
    "covers": {"narrow"},
    "blocks": {"narrow", "general"},
}

_PARTS = (engine, head, plan, event_sample, stack)


@contextmanager
def forced(way: str, **constants: int) -> Iterator[None]:
    """Force one way, and set constants of the engine's modules, such as `_SEALED`."""
    with ExitStack() as changed:
        for name, value in {**WAYS[way], **constants}.items():
            (module,) = (part for part in _PARTS if hasattr(part, name))
            changed.enter_context(mock.patch.object(module, name, value))
        yield


def segments(of: BlockEngine) -> list[Segment]:
    """Return all segments, including the tail."""
    return list(of._contents.segments())


def taken(of: BlockEngine) -> Counter[str]:
    """Count the subscriptions per way, and other parts of the plans."""
    found: Counter[str] = Counter(oracle=of.stats()["oracle"])
    for segment in segments(of):
        laid = segment.plan
        found["narrow"] += len(laid.narrow.record)
        found["general"] += len(laid.general.record)
        found["flat"] += len(laid.wide.flat_record)
        found["tree"] += len(laid.wide.tree_record)
        found["never"] += len(laid.never)
        found["levels"] = max(found["levels"], len(set(laid.buckets.level_shift.tolist())))
        found["sets"] += len(segment.sets.axis)
        found["predicates"] += len(segment.predicates)
        found["informed"] += segment.informed
    return found


@contextmanager
def rows_noted() -> Iterator[Counter[str]]:
    """Count the dense and the sparse rows that are computed."""
    found: Counter[str] = Counter()
    rows = Columns.rows

    def counted_rows(*arguments: object) -> object:
        result = rows(*arguments)
        found["dense" if result.dense else "sparse"] += 1
        return result

    with mock.patch.object(Columns, "rows", counted_rows):
        yield found
