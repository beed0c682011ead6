"""The A-Tree engine (thesis chapters 3 and 4): any expression, with shared sub-expressions.

Phase 1 finds the predicates that an event satisfies. Phase 2 climbs from their leaves to the roots,
through nodes that all subscriptions share.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis.engines.atree.draw import to_dot
from tamis.engines.atree.filters import FILTERS, TVP, Filter
from tamis.engines.atree.planner import Planner
from tamis.engines.atree.priorities import Priorities
from tamis.engines.atree.tree import Tree
from tamis.engines.atree.value_nodes import ValuePlanner, comparisons_of
from tamis.engines.scratch_pool import ScratchPool
from tamis.engines.subscription import Subscription
from tamis.errors import InputError
from tamis.events.batch import EventBatch
from tamis.kernels.atree.levels import NOTES, Phase1Results, climb_levels
from tamis.kernels.atree.node_store import Ints
from tamis.kernels.atree.paths import follow_paths
from tamis.kernels.atree.priorities import climb_by_priority
from tamis.language.expr import Comparison, Not, Predicate
from tamis.language.rewrite.negation import push_not_down
from tamis.matches import Id, Matches, ids_array
from tamis.predicates import PredicateIndex, SatisfiedPredicates

TASK_EVENTS = 64  # events per task of a thread


class AtreeEngine:
    """An A-Tree over shared predicates.

    Attributes:
        filter: The matching algorithm; see `filters.py`.
        threads: The number of threads that share the events of a batch.
        tree: The nodes, for inspection.
        index: The predicates.
    """

    name: ClassVar[str] = "atree"

    def __init__(self, filter: str | None = None, threads: int = 1) -> None:
        """Create an engine without subscriptions.

        Args:
            filter: "general", "zero-suppression" or "tvp"; None selects the fastest, `tvp`.
            threads: The number of threads that share the events of a batch.

        Raises:
            InputError: There is no such filter, or `threads` is not a positive integer.
        """
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise InputError(f"threads must be a positive integer, not {threads!r}")
        self.threads = threads
        if filter is not None and filter not in FILTERS:
            raise InputError(f"unknown filter {filter!r}; choose one of {', '.join(FILTERS)}")
        self.filter: Filter = TVP if filter is None else FILTERS[filter]
        self.tree = Tree()
        self.index = PredicateIndex()
        self._values = ValuePlanner()
        self._priorities = Priorities(self.tree)
        self._codes: dict[Id, int] = {}
        self._ids: list[Id | None] = []
        self._free: list[int] = []
        self._scratch = ScratchPool(_TreeScratch)
        self._lock = Lock()

    def add(self, subscription: Subscription) -> None:
        """Add a subscription.

        Raises:
            UnsupportedExpression: It is a sequence, or very large. The engine is unchanged.
        """
        interned: list[int] = []
        planner = Planner(self.filter, lambda leaf: self._intern(leaf, interned), self._values.plan)
        try:
            plan = planner.plan(subscription)
            code = self._free[-1] if self._free else len(self._ids)
            false_leaves = self.tree.insert(code, plan)
        except BaseException:
            for predicate in interned:
                self.index.release(predicate)
            raise
        for leaf in false_leaves:
            negated = push_not_down(Not(self.index.predicate(self.tree.predicate(leaf))))
            self.tree.set_false_predicate(leaf, self.index.intern(negated))  # type: ignore[arg-type]
        self._priorities.add(code, subscription.priority)
        if code == len(self._ids):
            self._ids.append(subscription.id)
        else:
            self._free.pop()
            self._ids[code] = subscription.id
        self._codes[subscription.id] = code

    def _intern(self, leaf: Predicate | Not, interned: list[int]) -> int:
        """Return the number of a predicate; its leaf in the tree holds it exactly once.

        `interned` collects the numbers that were interned for this plan and have no leaf yet.
        """
        number = self.index.find(leaf)
        if number is None or not (self.tree.has_leaf(number) or number in interned):
            number = self.index.intern(leaf)
            interned.append(number)
        return number

    def remove(self, id: Id) -> None:
        """Remove a subscription."""
        code = self._codes.pop(id)
        self._priorities.remove(code)
        for predicate in self.tree.delete(code):
            self.index.release(predicate)
        self._priorities.finish_removal()
        self._ids[code] = None
        self._free.append(code)

    def __getstate__(self) -> dict[str, object]:
        """Leave out the lock, which cannot be pickled, and the scratch, which no copy shares."""
        return {**self.__dict__, "_lock": None, "_scratch": ScratchPool(_TreeScratch)}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore the engine with a new lock."""
        self.__dict__.update(state)
        self._lock = Lock()

    # -- matching ---------------------------------------------------------------------------------

    def match(self, batch: EventBatch, limit: int | None = None) -> Matches:
        """Return all subscriptions that each event of the batch satisfies.

        With a limit, return at least that many of the highest priority, if there are that many. The
        filters with queues then stop early if there are several priorities. `tvp` does not stop: it
        finishes an event before they have found the first few (`tamis bench atree priorities`).
        """
        codes, ends = self.match_codes(batch, limit)
        counts = np.diff(ends, prepend=0)
        event = np.repeat(np.arange(len(batch)), counts)
        seen = np.zeros(len(self._ids), np.bool_)
        seen[codes] = True
        matched = np.flatnonzero(seen)
        places = np.cumsum(seen) - 1
        ids = ids_array([self._ids[code] for code in matched.tolist()])
        priorities = self._priorities.subscription_priorities(matched)
        return Matches(len(batch), event, places[codes], ids, priorities)

    def match_codes(
        self, batch: EventBatch, limit: int | None = None
    ) -> tuple[Ints, NDArray[np.int64]]:
        """Return the subscriptions by number, unordered within events, and each event's end."""
        if not len(batch) or not len(self.tree):
            return np.zeros(0, np.int32), np.zeros(len(batch), np.int64)
        if self.threads == 1 or len(batch) <= TASK_EVENTS:
            return self.climb(batch, self.index.satisfied_predicates(batch), limit)
        pieces = [batch.slice(i, TASK_EVENTS) for i in range(0, len(batch), TASK_EVENTS)]
        with ThreadPoolExecutor(self.threads) as pool:
            parts = list(
                pool.map(lambda p: self.climb(p, self.index.satisfied_predicates(p), limit), pieces)
            )
        before = np.cumsum([0, *(len(codes) for codes, _ in parts)])
        ends = [ends + begin for (_, ends), begin in zip(parts, before, strict=False)]
        return np.concatenate([codes for codes, _ in parts]), np.concatenate(ends)

    def climb(
        self, batch: EventBatch, satisfied: SatisfiedPredicates, limit: int | None = None
    ) -> tuple[Ints, NDArray[np.int64]]:
        """Run phase 2 alone: `match_codes`, given the predicates that each event satisfies."""
        early = limit is not None and self._priorities.has_several
        with self._scratch.borrow() as scratch:
            if self.filter.paths:
                codes, ends, scratch.path_clock = follow_paths(
                    self.tree.store,
                    self.tree.true_leaf,
                    *satisfied,
                    scratch.stamps(self.tree),
                    scratch.counts(self.tree),
                    scratch.path_clock,
                )
                return codes, ends
            compared = comparisons_of(self._comparisons(), batch)
            results = Phase1Results(
                self.tree.true_leaf, self.tree.false_leaf, *satisfied, *compared
            )
            notes = scratch.notes(self.tree)
            highest, suppress = self.tree.highest, self.filter.suppress
            if early:
                assert limit is not None
                codes, ends, scratch.clock = climb_by_priority(
                    self.tree.store,
                    results,
                    notes,
                    self._priorities.arrays(),
                    scratch.clock,
                    highest,
                    suppress,
                    limit,
                )
            else:
                codes, ends, scratch.clock = climb_levels(
                    self.tree.store, results, notes, scratch.clock, highest, suppress
                )
        return codes, ends

    def _comparisons(self) -> dict[int, Comparison]:
        labels = self.tree.labels.items()
        return {node: label for node, label in labels if isinstance(label, Comparison)}

    # -- introspection ----------------------------------------------------------------------------

    def stats(self) -> Mapping[str, object]:
        """Return sizes by name.

        `snps` is the thesis' "shared nodes per subscription": the average fraction of the nodes of
        a subscription that other subscriptions use too; `snps_internal` excludes the leaves.
        `board_bytes` is the scratch memory of the filter, including its queues if it has any.
        """
        with self._lock:  # walking marks nodes
            shared, shared_internal = self.tree.sharing(list(self._codes.values()))
        return {
            "subscriptions": len(self._codes),
            "filter": self.filter.name,
            "nodes": len(self.tree),
            "nodes_per_level": self.tree.populations,
            "snps": shared,
            "snps_internal": shared_internal,
            "bytes": self.tree.bytes + self._priorities.bytes,
            "board_bytes": sum(scratch.bytes for scratch in self._scratch),
            **{f"index_{name}": size for name, size in self.index.stats().items()},
        }

    def to_dot(self) -> str:
        """Return the tree as a Graphviz digraph."""
        return to_dot(self.tree, self.index, self._ids)


class _TreeScratch:
    """The scratch arrays of a filter, allocated on first use and grown with the tree."""

    def __init__(self) -> None:
        self.path_clock = 0  # a clock each: resetting one invalidates only its own stamps
        self.clock = 0
        self._stamps = np.zeros(0, np.uint16)
        self._counts = np.zeros(0, np.int32)
        self._notes = np.zeros((0, NOTES), np.int32)

    @property
    def bytes(self) -> int:
        return self._stamps.nbytes + self._counts.nbytes + self._notes.nbytes

    def stamps(self, tree: Tree) -> NDArray[np.uint16]:
        size = len(tree.store.nodes)
        if len(self._stamps) < size:
            self._stamps, self.path_clock = np.zeros(size, np.uint16), 0
        return self._stamps

    def counts(self, tree: Tree) -> Ints:
        if tree.has_at_least and len(self._counts) < len(tree.store.nodes):
            self._counts = np.zeros(len(tree.store.nodes), np.int32)
        return self._counts

    def notes(self, tree: Tree) -> Ints:
        size = len(tree.store.nodes)
        if len(self._notes) < size:
            self._notes, self.clock = np.zeros((size, NOTES), np.int32), 0
        return self._notes
