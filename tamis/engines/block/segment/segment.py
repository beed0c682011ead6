"""A segment: subscriptions that are laid out once. Afterwards records can only be removed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from tamis.engines.block.layout.axes import Axes
from tamis.engines.block.layout.plan import Plan, lay_out, words_of
from tamis.engines.block.layout.rules import Leaf, Rules, join, prune_rules
from tamis.engines.block.layout.selectivity import shares_of
from tamis.engines.block.report.tally import Tally
from tamis.engines.block.segment.ledger import Ledger
from tamis.engines.block.terms import Terms, calls_function
from tamis.kernels.block.covers import Shares
from tamis.kernels.block.event import EventIndex
from tamis.kernels.block.holds import Sets
from tamis.kernels.block.masks import MatchBuffer
from tamis.kernels.block.match import CoveredSelectors, RowScratch
from tamis.kernels.block.ranks import Rows
from tamis.kernels.block.rows import Block
from tamis.kernels.block.words import Bytes, Ints, Longs
from tamis.predicates import PredicateIndex

RowsOn = Callable[[Axes], Rows]
CountOf = Callable[[Leaf], int]

# Events in a block; the least is the number of bits of one vector.
LEAST_BLOCK = 512
MOST_BLOCK = 8192
_SIZES = [LEAST_BLOCK << k for k in range((MOST_BLOCK // LEAST_BLOCK).bit_length())]
# The size of all rows of a block in bytes: the limit, and how much stays in the cache.
_MOST_ROWS = 1 << 27
_CACHED = 1 << 22

DEEP = 256  # the least depth of the operator stack


class Segment:
    """Subscriptions, by record.

    Attributes:
        ledger: Their ids, texts and priorities.
        axes, sets, predicates: What the leaves of their selectors refer to.
        plan: How they are laid out.
        alive: By record, 0 if it has been removed.
        dead: The number of removed records.
        base: The code of record 0; the code of a subscription is the base plus its record.
        informed: Whether it was laid out with a sample of events.
        tally: The counters of its subscriptions.
        block_size: The number of events in a block.
        numbers: By predicate, its number in the index that all segments share.
    """

    def __init__(
        self,
        ledger: Ledger,
        axes: Axes,
        sets: Sets,
        predicates: Sequence[Leaf],
        plan: Plan,
        informed: bool,
    ) -> None:
        """Create a segment from its parts."""
        self.ledger = ledger
        self.axes = axes
        self.sets = sets
        self.predicates = predicates
        self.plan = plan
        self.informed = informed
        self.alive = np.ones(len(ledger), np.uint8)
        self.dead = 0
        self.base = 0
        self.tally = Tally(len(ledger))
        self._boards: list[SegmentScratch] = []
        self._lookup = np.zeros(0, np.int64)
        self._derived: list[int] | None = None
        self._calls: bool | None = None
        self._local = np.zeros(0, np.int32)
        self.numbers = np.zeros(0, np.int32)
        self.block_size = _block_size(plan)

    def local_numbers(self, capacity: int) -> Ints:
        """Return, by number in the shared index, the predicate's number in this segment, or -1."""
        local = self._local
        if len(local) < capacity:
            local = np.full(capacity, -1, np.int32)
            local[self.numbers] = np.arange(len(self.numbers))
            self._local = local
        return local  # not `self._local`, which another thread may have replaced by a shorter one

    def release_predicates(self, index: PredicateIndex) -> None:
        """Release the numbers of its predicates."""
        for number in self.numbers.tolist():
            index.release(number)

    @classmethod
    def of(cls, ledger: Ledger, rules: Rules, sample: EventSample | None) -> Segment:
        """Lay out selectors, with a sample of events if there is one."""
        rules = prune_rules(rules)
        shares = sample.shares(rules) if sample else _guessed_shares(rules)
        plan = lay_out(rules, shares)
        return cls(
            ledger, rules.axes, rules.sets, rules.predicates, plan, informed=sample is not None
        )

    def __len__(self) -> int:
        """Return the number of subscriptions, without those removed."""
        return len(self.ledger) - self.dead

    def rules(self, alive: Bytes) -> Rules:
        """Return the selectors that are alive, as they were before they were laid out."""
        code, offsets, record = words_of(self.plan, alive)
        return Rules(self.axes, self.sets, self.predicates, code, offsets, record)

    def lookup(self, slots: int) -> Longs:
        """Return the axes by term and kind; see `Axes.lookup`."""
        if len(self._lookup) < slots:
            self._lookup = self.axes.lookup(slots)
        return self._lookup

    @cached_property
    def is_empty(self) -> bool:
        """Whether no event can match any of its selectors."""
        plan = self.plan
        return not (
            len(plan.narrow.record)
            or len(plan.general.record)
            or len(plan.wide.flat_record)
            or len(plan.wide.tree_record)
        )

    def derived_terms(self, terms: Terms) -> list[int]:
        """Return the derived terms that its selectors use."""
        if self._derived is None:
            known = set(terms.derived.values())
            self._derived = [slot for slot in set(self.axes.slot.tolist()) if slot in known]
        return self._derived

    def calls_functions(self, terms: Terms) -> bool:
        """Return whether its selectors call functions of the user."""
        if self._calls is None:
            self._calls = any(map(terms.calls_function, self.derived_terms(terms))) or any(
                map(calls_function, self.predicates)
            )
        return self._calls

    @cached_property
    def covered_selectors(self) -> CoveredSelectors:
        """The selectors that have a cover, for the kernels that match them."""
        plan = self.plan
        return CoveredSelectors(plan.buckets, plan.narrow, plan.general, self.sets)

    @cached_property
    def event_index(self) -> EventIndex:
        """What a single event is matched with."""
        wide = self.plan.wide
        flat_first = wide.leaves.words[wide.flat[wide.flat_offsets[:-1]]]
        return EventIndex(self.axes.constants, self.covered_selectors, wide, flat_first)

    def take_scratch(self) -> SegmentScratch:
        """Take a set of scratch arrays: several threads may match at once, each with its own."""
        try:
            return self._boards.pop()
        except IndexError:
            return SegmentScratch(self)

    def return_scratch(self, scratch: SegmentScratch) -> None:
        """Return scratch arrays for reuse; after an error they are garbage collected instead."""
        self._boards.append(scratch)

    def __getstate__(self) -> dict[str, object]:
        """Return the state without the scratch arrays."""
        return {**self.__dict__, "_boards": []}


def numbers_of(predicates: Iterable[Leaf], index: PredicateIndex) -> Ints:
    """Return the numbers of predicates in the index; `release_predicates` releases them."""
    return np.array([index.intern(predicate) for predicate in predicates], np.int32)


class EventSample:
    """A sample of events to lay out selectors with."""

    def __init__(self, rows_on: RowsOn, satisfied: CountOf) -> None:
        """Create a sample.

        Args:
            rows_on: Ranks the events on axes.
            satisfied: Counts the events that satisfy a predicate.
        """
        self._rows_on = rows_on
        self._satisfied = satisfied

    def shares(self, rules: Rules) -> Shares:
        """Return the share of the events that satisfies each leaf."""
        rows = self._rows_on(rules.axes)
        counts = np.array([self._satisfied(p) for p in rules.predicates], np.int64)
        return shares_of(rules.axes, rules.sets, len(rules.predicates), rows, counts)


def _guessed_shares(rules: Rules) -> Shares:
    return shares_of(rules.axes, rules.sets, len(rules.predicates), None, None)


def merge_segments(
    left: Segment, right: Segment, alive: Sequence[Bytes], sample: EventSample | None
) -> tuple[Segment, Longs, Longs]:
    """Merge two segments.

    Returns:
        The new segment, and the records of each that are in it, in order.
    """
    parts = [left.rules(alive[0]), right.rules(alive[1])]
    kept = [np.sort(rules.record).astype(np.int64) for rules in parts]
    ledger = left.ledger.select(kept[0]).concat(right.ledger.select(kept[1]))
    first = replace(parts[0], record=np.searchsorted(kept[0], parts[0].record).astype(np.int32))
    second = replace(
        parts[1],
        record=(len(kept[0]) + np.searchsorted(kept[1], parts[1].record)).astype(np.int32),
    )
    return Segment.of(ledger, join(first, second), sample), kept[0], kept[1]


def rebuild_segment(
    segment: Segment, alive: Bytes, sample: EventSample | None
) -> tuple[Segment, Longs]:
    """Lay out a segment again.

    Returns:
        The new segment, and the records of the old one that are in it, in order.
    """
    rules = segment.rules(alive)
    kept = np.sort(rules.record).astype(np.int64)
    rules = replace(rules, record=np.searchsorted(kept, rules.record).astype(np.int32))
    return Segment.of(segment.ledger.select(kept), rules, sample), kept


class SegmentScratch:
    """The scratch arrays of one thread."""

    def __init__(self, segment: Segment) -> None:
        """Allocate the arrays for a segment."""
        plan = segment.plan
        # Matches per event of the last call: the next call allocates as much room.
        self.pairs = self.tiles = 0.0
        depth = max(DEEP, _max_depth(plan))
        row = np.full(1 << 16, -1, np.int32)
        row[: len(plan.defaults)] = plan.defaults
        self.row_scratch = RowScratch(
            row,
            plan.defaults,
            np.zeros(len(segment.predicates), np.int64),
            np.zeros(len(plan.general.record), np.int64),
            np.zeros((depth, 5), np.int64),
            np.zeros(1, np.int64),
        )
        self._blocks: dict[int, Block] = {}
        self._wide = plan.wide
        self._axes = len(segment.axes)

    def block(self, size: int) -> Block:
        """Return the arrays for blocks of `size` events."""
        block = self._blocks.get(size)
        if block is None:
            if size % 512:
                raise ValueError(f"a block must be a multiple of 512 events, not {size}")
            wide, words = self._wide, size // 64
            leaves = wide.leaves
            columns = np.full(self._axes, -1, np.int32)
            columns[leaves.axes] = np.arange(len(leaves.axes))
            most = int(leaves.ends.max(initial=0)) + 2
            block = self._blocks[size] = Block(
                words,
                np.zeros(len(leaves.words) * words, np.uint64),
                np.zeros(len(leaves.words), np.uint8),
                columns,
                np.zeros((len(leaves.axes), size), np.int32),
                np.zeros(most, np.int32),
                np.zeros(most, np.int32),
                np.zeros((min(size, most) + 1) * words, np.uint64),
                np.zeros((wide.depth + 1) * wide.planes * words, np.uint64),
                np.zeros(words, np.uint64),
            )
        return block


def _block_size(plan: Plan) -> int:
    """Return the number of events per block that costs least.

    Larger blocks start each selector less often (5, 25 and 90 ns for a row, a conjunction and
    another selector). But an axis may have more prefixes (6 ns per 1,000 of them and event), and
    the rows may not fit into the cache (then 13 ns per 1,000 rows and event).
    """
    wide = plan.wide
    rows, ends = len(wide.leaves.words), wide.leaves.ends
    start_cost = 5 * rows + 25 * len(wide.flat_record) + 90 * len(wide.tree_record)
    best, least = LEAST_BLOCK, float("inf")
    for size in _SIZES:
        if size * rows > 8 * _MOST_ROWS:
            break
        cost = start_cost / size + 0.006 * float(np.minimum(ends, size).sum())
        if rows * size > 8 * _CACHED:
            cost += 0.013 * rows
        if cost < least:
            best, least = size, cost
    return best


def _max_depth(plan: Plan) -> int:
    """Return an upper bound for the depth of a selector: its number of words."""
    return int(np.diff(plan.general.code_offsets).max(initial=0)) + 1


def new_match_buffer(words: int, pairs: int = 1024, tiles: int = 64) -> MatchBuffer:
    """Return an empty buffer with room for some pairs and for tiles of `words` words."""
    return MatchBuffer(
        np.empty(pairs, np.int64),
        np.empty(pairs, np.int64),
        0,
        np.empty(tiles, np.int32),
        np.empty(tiles, np.int32),
        np.empty(tiles * words, np.uint64),
        0,
    )
