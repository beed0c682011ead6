"""The ways in which a plan can match a subscription, and what a check costs in each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.engines.block.layout.plan import GENERAL_BELOW, NARROW_BELOW, Plan
from tamis.engines.block.segment.segment import Segment
from tamis.kernels.block.words import Bytes

NAMES = ("value", "cover", "block", "never")
VALUE, COVER, BLOCK, NEVER = range(4)

# The cost of evaluating a selector on one event in Python, in checks of the way `value`.
ORACLE = 5000.0


def ways(plan: Plan) -> Bytes:
    """Return the way of each record."""
    parts = _parts(plan)
    # Every record is in exactly one part.
    found = np.full(sum(map(len, parts)), NEVER, np.uint8)
    for way, records in enumerate(parts):
        found[records] = way
    return found


def way_of(plan: Plan, record: int) -> str:
    """Return the way of one record."""
    return NAMES[int(ways(plan)[record])]


def counts(plan: Plan) -> dict[str, int]:
    """Return the number of subscriptions per way."""
    return {name: len(records) for name, records in zip(NAMES, _parts(plan), strict=True)}


def weights(segment: Segment) -> NDArray[np.float64]:
    """Return the cost of a check per way, relative to one of the way `value`.

    The costs follow from the thresholds, at which the ways cost the same.
    """
    whole = NARROW_BELOW * segment.block_size
    return np.array([1.0, NARROW_BELOW / GENERAL_BELOW, whole, 0.0])


def weight(way: str, segment: Segment) -> float:
    """Return the cost of a check in one way; see `weights`."""
    return float(weights(segment)[NAMES.index(way)])


def average_cost(segment: Segment) -> float:
    """Return the estimated cost of a subscription of a segment per event."""
    plan = segment.plan
    checks = [plan.narrow_cost, plan.general_cost, counts(plan)["block"] / segment.block_size, 0.0]
    return float(weights(segment) @ checks) / max(1, len(segment.ledger))


def _parts(plan: Plan) -> list[np.ndarray]:
    wide = np.concatenate([plan.wide.flat_record, plan.wide.tree_record])
    return [plan.narrow.record, plan.general.record, wide, plan.never]
