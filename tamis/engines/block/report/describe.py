"""Describe in words where a subscription is indexed, and why the plan chose that."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.engines.block.layout.leaf_selectivity import LeafShares
from tamis.engines.block.layout.plan import GENERAL_BELOW, NARROW_BELOW, Plan
from tamis.engines.block.layout.rules import Rules
from tamis.engines.block.layout.selectivity import shares_of
from tamis.engines.block.layout.ways import average_cost, way_of, weight
from tamis.engines.block.report.leaf_text import LeafPrinter, parts_of
from tamis.engines.block.segment.segment import EventSample, Segment
from tamis.engines.block.terms import Terms
from tamis.engines.introspection import Check, SubscriptionPlan, percent
from tamis.kernels.block.covers import NO_COVER, Shares
from tamis.kernels.block.words import AND, AT_LEAST, AXES, CONSTANT, OR, XOR
from tamis.matches import Id

# The most leaves of a cover that are listed.
_LISTED = 20
_NAMES = {AND: "AND", OR: "OR", XOR: "XOR"}


class DescribeContext(NamedTuple):
    """The state of the engine that a description depends on.

    Attributes:
        terms: The engine's terms.
        sample: The sample of events; None if no events have arrived yet.
        events: The number of events in the sample.
        segments: The number of segments.
    """

    terms: Terms
    sample: EventSample | None
    events: int
    segments: int


def describe_record(
    segment: Segment, number: int, record: int, context: DescribeContext
) -> SubscriptionPlan:
    """Describe a record; `number` is that of its segment, from 1."""
    only = np.zeros(len(segment.ledger), np.uint8)
    only[record] = 1
    rules = segment.rules(only)
    shares = LeafShares(segment.axes, _shares(rules, context.sample))
    way = way_of(segment.plan, record)
    cover = _cover(segment.plan, record)
    tree = _SelectorTree(rules.code.tolist(), LeafPrinter(segment, context.terms), shares)
    looks = _looks(way, segment, [shares.share(word) for word in cover])
    average = average_cost(segment)
    return SubscriptionPlan(
        segment.ledger.id(record),
        segment.ledger.text(record),
        way,
        _reason(way, looks, tree.cheapest_share()),
        number,
        context.segments,
        len(segment),
        context.events,
        segment.block_size if way == "block" else None,
        _cover_checks(cover, tree),
        () if way == "never" else _remaining_checks(tree, cover),
        looks,
        looks * weight(way, segment) / average if average else None,
    )


def describe_unindexed(id: Id, text: str, context: DescribeContext) -> SubscriptionPlan:
    """Describe a subscription that is in no segment."""
    why = "its normal form is too large to be indexed"
    return SubscriptionPlan(
        id, text, "oracle", why, None, context.segments, 1, context.events, None, (), (), 1.0, None
    )


def _shares(rules: Rules, sample: EventSample | None) -> Shares:
    if sample is not None:
        return sample.shares(rules)
    return shares_of(rules.axes, rules.sets, len(rules.predicates), None, None)


def _looks(way: str, segment: Segment, shares: list[float]) -> float:
    if way == "block":
        return 1.0 / segment.block_size
    return min(1.0, sum(shares))


def _reason(way: str, looks: float, cheapest: float) -> str:
    if way == "never":
        return "the tests contradict each other, or one of them can never hold"
    if way == "value":
        return (
            f"{percent(looks)} of events have the value; up to {percent(NARROW_BELOW)} that is "
            "cheaper than a place in every block"
        )
    if way == "cover" and looks <= GENERAL_BELOW:
        return (
            f"{percent(looks)} of events satisfy one of these; up to {percent(GENERAL_BELOW)} that "
            "is cheaper than a place in every block"
        )
    if way == "cover":
        return (
            f"{percent(looks)} of events satisfy one of these, and too few subscriptions are as "
            "common to make blocks worth it"
        )
    if cheapest >= NO_COVER:
        return "no test of it can be looked up"
    return (
        f"the rarest tests that it needs let {percent(min(cheapest, 1.0))} of events through: "
        "a block of events at a time is cheaper"
    )


# -- its cover ------------------------------------------------------------------------------------


def _cover(plan: Plan, record: int) -> list[int]:
    """Return the leaves whose buckets have the record."""
    narrow, general = plan.narrow, plan.general
    for place in np.flatnonzero(narrow.record == record).tolist():
        return [_leaf(plan, _bucket(narrow.offsets, place))]
    found: dict[int, None] = {}
    for program in np.flatnonzero(general.record == record).tolist():
        for entry in np.flatnonzero(general.entry_program == program).tolist():
            bucket = _bucket(general.offsets, entry)
            # In the buckets of intervals, the gate is the interval.
            exact = bucket < len(plan.leaves)
            found[_leaf(plan, bucket) if exact else int(general.entry_gate[entry])] = None
    return list(found)


def _bucket(offsets: np.ndarray, place: int) -> int:
    return int(np.searchsorted(offsets, place, side="right")) - 1


def _leaf(plan: Plan, bucket: int) -> int:
    return int(plan.leaves[bucket])


def _cover_checks(cover: list[int], tree: _SelectorTree) -> tuple[Check, ...]:
    checks = [tree.leaf(word) for word in cover[:_LISTED]]
    rest = cover[_LISTED:]
    if rest:
        share = sum(tree.shares.share(word) for word in rest)
        checks.append(Check(f"… and {len(rest):,} more", share))
    return tuple(checks)


# -- the remaining checks -------------------------------------------------------------------------


def _remaining_checks(tree: _SelectorTree, cover: list[int]) -> tuple[Check, ...]:
    """Return what is checked after the cover: for a conjunction, the other operands."""
    whole = tree.check()
    if whole.text != "AND":
        return () if len(cover) == 1 and not whole.parts else (whole,)
    mine = {tree.leaf(word).text for word in cover} if len(cover) == 1 else set()
    return tuple(part for part in whole.parts if part.parts or part.text not in mine)


class _SelectorTree:
    """A selector as words in prefix order."""

    def __init__(self, code: list[int], wording: LeafPrinter, shares: LeafShares) -> None:
        self._code, self._wording, self.shares = code, wording, shares

    def leaf(self, word: int) -> Check:
        """Describe a leaf, of this selector or another."""
        return Check(self._wording.text(word), self.shares.share(word))

    def check(self, at: int = 0) -> Check:
        """Describe the operand at a place."""
        word = self._code[at]
        axis, low, _ = parts_of(word)
        if not _is_operator(axis):
            return self.leaf(word)
        operands = self._operands(at)
        # A parity has every operand twice: where it is true, and where it is false.
        shown = operands[::2] if axis not in (AND, OR, AT_LEAST) else operands
        name = f"AT LEAST {low} OF" if axis == AT_LEAST else _NAMES.get(axis, "NOT XOR")
        return Check(name, None, tuple(self.check(operand) for operand in shown))

    def cheapest_share(self, at: int = 0) -> float:
        """Return the share of events that the cheapest cover of an operand lets through."""
        word = self._code[at]
        axis, low, _ = parts_of(word)
        if not _is_operator(axis):
            return self.shares.bucket_share(word)
        costs = [self.cheapest_share(operand) for operand in self._operands(at)]
        if axis == AND:
            return min(costs)
        if axis == OR:
            return min(NO_COVER, sum(costs))
        if axis == AT_LEAST:
            return min(NO_COVER, sum(sorted(costs)[: len(costs) - low + 1]))
        both = min(sum(costs[i : i + 2]) for i in range(0, len(costs), 2))
        return min(NO_COVER, both, sum(costs[::2]) if axis == XOR else NO_COVER)

    def _operands(self, at: int) -> list[int]:
        stop = at + parts_of(self._code[at])[2]
        places, operand = [], at + 1
        while operand < stop:
            places.append(operand)
            axis, _, length = parts_of(self._code[operand])
            operand += length if _is_operator(axis) else 1
        return places


def _is_operator(axis: int) -> bool:
    return AXES <= axis < CONSTANT
