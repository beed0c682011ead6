"""A segment: some subscriptions, laid out once and never changed, but for those removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from threading import Lock

import numpy as np

from tamis.engines.block.axes import Axes
from tamis.engines.block.ledger import Ledger
from tamis.engines.block.plan import Plan, laid_out, words_of
from tamis.engines.block.rules import Leaf, Rules, join, pruned
from tamis.engines.block.shares import shares_of
from tamis.kernels.block_masks import Block, Found
from tamis.kernels.block_match import Board, Sets
from tamis.kernels.block_plan import Shares
from tamis.kernels.block_ranks import Rows
from tamis.kernels.block_words import Bytes, Ints, Longs

RowsOn = Callable[[Axes], Rows]
CountOf = Callable[[Leaf], int]

DEEP = 256  # operators that may be under way at once, at least


class Segment:
    """Subscriptions, by record.

    Attributes:
        ledger: Their ids, texts and priorities.
        axes, sets, predicates: What their selectors are about.
        plan: How they are laid out.
        alive: By record, 0 if it has been removed.
        dead: How many have been.
        base: What to add to a record to get the subscription's code.
        informed: Whether events were known when it was laid out.
        visits, matched: By record, counters of sampled batches.
    """

    def __init__(
        self,
        ledger: Ledger,
        axes: Axes,
        sets: Sets,
        predicates: tuple[Leaf, ...],
        plan: Plan,
        informed: bool,
    ) -> None:
        """Take the parts as they are."""
        self.ledger = ledger
        self.axes = axes
        self.sets = sets
        self.predicates = predicates
        self.plan = plan
        self.informed = informed
        self.alive = np.ones(len(ledger), np.uint8)
        self.dead = 0
        self.base = 0
        self.visits = np.zeros(0, np.int32)
        self._boards: list[_Board] = []
        self._lock = Lock()
        self._lookup = np.zeros(0, np.int64)
        self._local = np.zeros(0, np.int32)
        self.numbers = np.zeros(0, np.int32)
        self.block_size = 512

    def local(self, capacity: int) -> Ints:
        """By number in the index that all segments share, the predicate's number here, or -1."""
        local = self._local
        if len(local) < capacity:
            local = np.full(capacity, -1, np.int32)
            local[self.numbers] = np.arange(len(self.numbers))
            self._local = local
        return local  # not `_local`: another thread may have put a shorter one there

    @classmethod
    def of(cls, ledger: Ledger, rules: Rules, sample: Sample | None) -> Segment:
        """Lay selectors out, by what is known of events."""
        rules = pruned(rules)
        shares = sample.shares(rules) if sample else _guessed(rules)
        plan = laid_out(rules, shares)
        return cls(
            ledger, rules.axes, rules.sets, rules.predicates, plan, informed=sample is not None
        )

    def __len__(self) -> int:
        """How many subscriptions there are, without those removed."""
        return len(self.ledger) - self.dead

    def rules(self, alive: Bytes) -> Rules:
        """The selectors as they were before they were laid out, but for those not alive."""
        code, offsets, record = words_of(self.plan, alive)
        return Rules(self.axes, self.sets, self.predicates, code, offsets, record)

    def lookup(self, slots: int) -> Longs:
        """The axes by term and kind."""
        if len(self._lookup) < slots:
            self._lookup = self.axes.lookup(slots)
        return self._lookup

    @cached_property
    def empty(self) -> bool:
        """Whether nothing can ever match."""
        plan = self.plan
        return not (
            len(plan.narrow.record)
            or len(plan.general.record)
            or len(plan.wide.flat_record)
            or len(plan.wide.tree_record)
        )

    @contextmanager
    def board(self) -> Iterator[_Board]:
        """What to write on: several threads may match at once, each on its own."""
        with self._lock:
            board = self._boards.pop() if self._boards else _Board(self)
        yield board
        with self._lock:
            self._boards.append(board)

    def __getstate__(self) -> dict[str, object]:
        """Leave out what is only for matching."""
        state = {**self.__dict__, "_boards": [], "_lock": None}
        state.pop("empty", None)
        return state

    def __setstate__(self, state: dict[str, object]) -> None:
        """Begin with no boards."""
        self.__dict__.update(state)
        self._lock = Lock()


class Sample:
    """Some events, to lay out selectors by."""

    def __init__(self, rows_on: RowsOn, satisfied: CountOf) -> None:
        """Take what brings the events onto axes, and counts those that satisfy a predicate."""
        self._rows_on = rows_on
        self._satisfied = satisfied

    def shares(self, rules: Rules) -> Shares:
        """How many of the events satisfy each leaf."""
        rows = self._rows_on(rules.axes)
        counts = np.array([self._satisfied(p) for p in rules.predicates], np.int64)
        return shares_of(rules.axes, rules.sets, len(rules.predicates), rows, counts)


def _guessed(rules: Rules) -> Shares:
    return shares_of(rules.axes, rules.sets, len(rules.predicates), None, None)


def merged(
    left: Segment, right: Segment, alive: Sequence[Bytes], sample: Sample | None
) -> tuple[Segment, Longs, Longs]:
    """One segment of two, and the records of each that are in it, in order."""
    parts = [left.rules(alive[0]), right.rules(alive[1])]
    kept = [np.sort(rules.record).astype(np.int64) for rules in parts]
    ledger = left.ledger.kept(kept[0]).followed_by(right.ledger.kept(kept[1]))
    first = replace(parts[0], record=np.searchsorted(kept[0], parts[0].record).astype(np.int32))
    second = replace(
        parts[1],
        record=(len(kept[0]) + np.searchsorted(kept[1], parts[1].record)).astype(np.int32),
    )
    return Segment.of(ledger, join(first, second), sample), kept[0], kept[1]


def renewed(segment: Segment, alive: Bytes, sample: Sample | None) -> tuple[Segment, Longs]:
    """The same laid out anew, and the records that are in it, in order."""
    rules = segment.rules(alive)
    kept = np.sort(rules.record).astype(np.int64)
    rules = replace(rules, record=np.searchsorted(kept, rules.record).astype(np.int32))
    return Segment.of(segment.ledger.kept(kept), rules, sample), kept


class _Board:
    """The arrays that one thread writes on."""

    def __init__(self, segment: Segment) -> None:
        plan = segment.plan
        self.clock = 0
        depth = max(DEEP, _deepest(plan))
        row = np.full(1 << 16, -1, np.int32)
        row[: len(plan.defaults)] = plan.defaults
        self.board = Board(
            row,
            plan.defaults,
            np.zeros(len(segment.predicates), np.int64),
            np.zeros(len(plan.general.record), np.int64),
            np.zeros((depth, 5), np.int64),
        )
        self._blocks: dict[int, Block] = {}
        self._wide = plan.wide
        self._axes = len(segment.axes)

    def block(self, size: int) -> Block:
        """The arrays for blocks of so many events."""
        found = self._blocks.get(size)
        if found is None:
            if size % 512:
                raise ValueError(f"prefixes are filled eight words at a time, not {size} bits")
            wide, words = self._wide, size // 64
            columns = np.full(self._axes, -1, np.int32)
            columns[wide.axes] = np.arange(len(wide.axes))
            most = int(wide.ends.max(initial=0)) + 2
            found = self._blocks[size] = Block(
                np.zeros((max(len(wide.leaves), 1), words), np.uint64),
                np.zeros(max(len(wide.leaves), 1), np.uint8),
                np.zeros(size + 1, np.int32),
                np.zeros(most, np.int32),
                np.zeros(most, np.int32),
                np.zeros((size + 1, words), np.uint64),
                np.zeros((wide.depth + 1, wide.planes, words), np.uint64),
                columns,
                np.zeros((len(wide.axes), size), np.int32),
            )
        return found


def _deepest(plan: Plan) -> int:
    """At most as deep as a selector has words."""
    return int(np.diff(plan.general.code_offsets).max(initial=0)) + 1


def nothing_found(words: int) -> Found:
    """An empty answer, with some room."""
    return Found(
        np.empty(1024, np.int32),
        np.empty(1024, np.int32),
        0,
        np.empty(64, np.int64),
        np.empty(64, np.int32),
        np.empty((64, words), np.uint64),
        0,
    )
