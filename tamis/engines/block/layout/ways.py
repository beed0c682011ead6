"""The ways of a plan, and what a look at a subscription costs in each: what costs are told by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.engines.block.layout.plan import GENERAL_BELOW, NARROW_BELOW, Plan
from tamis.engines.block.segment.segment import Segment
from tamis.kernels.block.words import Bytes

NAMES = ("value", "cover", "block", "never")
VALUE, COVER, BLOCK, NEVER = range(4)

# To evaluate a selector on one event in Python, in looks at a subscription under a value.
ORACLE = 5000.0


def ways(plan: Plan) -> Bytes:
    """By record, its way."""
    parts = _parts(plan)
    # Every record is in one part.
    found = np.full(sum(map(len, parts)), NEVER, np.uint8)
    for way, records in enumerate(parts):
        found[records] = way
    return found


def way_of(plan: Plan, record: int) -> str:
    """The way of one record."""
    return NAMES[int(ways(plan)[record])]


def counts(plan: Plan) -> dict[str, int]:
    """How many subscriptions go each way."""
    return {name: len(records) for name, records in zip(NAMES, _parts(plan), strict=True)}


def weights(segment: Segment) -> NDArray[np.float64]:
    """By way, what a look costs, where 1 is a look at a subscription under a value.

    It follows from the thresholds: at them the ways cost the same.
    """
    whole = NARROW_BELOW * segment.block_size
    return np.array([1.0, NARROW_BELOW / GENERAL_BELOW, whole, 0.0])


def weight(way: str, segment: Segment) -> float:
    """The same of one way."""
    return float(weights(segment)[NAMES.index(way)])


def average_cost(segment: Segment) -> float:
    """What a subscription of a segment costs an event, as estimated when it was laid out."""
    plan = segment.plan
    looks = [plan.narrow_cost, plan.general_cost, counts(plan)["block"] / segment.block_size, 0.0]
    return float(weights(segment) @ looks) / max(1, len(segment.ledger))


def _parts(plan: Plan) -> list[np.ndarray]:
    wide = np.concatenate([plan.wide.flat_record, plan.wide.tree_record])
    return [plan.narrow.record, plan.general.record, wide, plan.never]
