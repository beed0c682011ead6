"""The counting algorithm, list-based (thesis §5.4; Yan and García-Molina, TODS 19(2), 1994).

Phase 1 finds the predicates that an event satisfies. Each predicate has a posting list of the
subscriptions that contain it, and increments the counter of each. A subscription matches when its
counter reaches the number of its predicates.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis.dot import quote
from tamis.engines.baselines.conjuncts import conjuncts
from tamis.engines.roster import Roster
from tamis.engines.subscription import Subscription
from tamis.errors import UnsupportedExpression
from tamis.events.batch import EventBatch
from tamis.kernels.baselines.counting import (
    MOST_PREDICATES,
    SIZE_SHIFT,
    Ints,
    PredicateLists,
    append,
    count,
    drop,
    pack_lists,
)
from tamis.matches import Id, Matches
from tamis.predicates import PredicateIndex

_INITIAL_SIZE = 64


class CountingEngine:
    """A posting list per predicate, and a counter per subscription.

    Attributes:
        index: The predicates.
    """

    name: ClassVar[str] = "counting"

    def __init__(self) -> None:
        """Create an engine without subscriptions."""
        self.index = PredicateIndex()
        self._roster = Roster()
        self._cells = np.zeros(_INITIAL_SIZE, np.uint32)
        self._lists = PredicateLists(
            np.zeros(_INITIAL_SIZE, np.int64),
            np.zeros(_INITIAL_SIZE, np.int32),
            np.zeros(_INITIAL_SIZE, np.int32),
            np.zeros(_INITIAL_SIZE, np.int32),
            np.zeros(1, np.int64),
        )
        self._lock = Lock()

    def add(self, subscription: Subscription) -> None:
        """Add a subscription.

        Raises:
            UnsupportedExpression: It is not a conjunction, or has too many tests. The engine is
                unchanged.
        """
        leaves = conjuncts(subscription, self.name)
        if len(leaves) > MOST_PREDICATES:
            raise UnsupportedExpression(
                f"a conjunction of more than {MOST_PREDICATES:,} tests", self.name
            )
        # The rewriter has removed duplicates.
        predicates = np.array([self.index.intern(leaf) for leaf in leaves], np.int32)
        code = self._roster.add(subscription)
        if code >= len(self._cells):
            self._cells = np.concatenate([self._cells, np.zeros_like(self._cells)])
        self._cells[code] = len(predicates) << SIZE_SHIFT
        self._grow_to(self.index.capacity)
        done = append(self._lists, predicates, 0, code)
        while done < len(predicates):
            self._make_room()
            done = append(self._lists, predicates, done, code)

    def remove(self, id: Id) -> None:
        """Remove a subscription."""
        code = self._roster.number(id)
        leaves = conjuncts(self._roster[code], self.name)
        numbers = [self.index.find(leaf) for leaf in leaves]
        drop(self._lists, np.array(numbers, np.int32), code)
        for number in numbers:
            assert number is not None
            self.index.release(number)
        self._cells[code] = 0
        self._roster.remove(id)

    def match(self, batch: EventBatch, limit: int | None = None) -> Matches:
        """Return all subscriptions that each event of the batch satisfies."""
        codes, ends = self.match_codes(batch)
        return self._roster.matches_from_ends(ends, codes)

    def match_codes(self, batch: EventBatch) -> tuple[Ints, NDArray[np.int64]]:
        """Return the subscriptions by number, unordered within events, and each event's end."""
        satisfied = self.index.satisfied_predicates(batch)
        with self._lock:  # threads share one set of counters
            return count(self._lists, self._cells, *satisfied)

    def stats(self) -> Mapping[str, object]:
        """Return sizes by name; `entries` is the total length of all posting lists."""
        arrays = (self._cells, *self._lists)
        return {
            "subscriptions": len(self._roster),
            "entries": int(self._lists.lengths.sum()),
            "bytes": sum(array.nbytes for array in arrays),
            **{f"index_{name}": size for name, size in self.index.stats().items()},
        }

    def to_dot(self) -> str:
        """Return edges from each predicate to the subscriptions on its list, with their counts."""
        lines = ["digraph counting {", "  rankdir=LR;", "  node [shape=box];"]
        for code in self._roster:
            needed = int(self._cells[code]) >> SIZE_SHIFT
            label = f"{self._roster[code].id}: {needed}"
            lines.append(f"  s{code} [shape=ellipse, label={quote(label)}];")
        begins, lengths, _, entries, _ = self._lists
        for number in np.flatnonzero(lengths).tolist():
            lines.append(f"  p{number} [label={quote(str(self.index.predicate(number)))}];")
            listed = entries[begins[number] : begins[number] + lengths[number]]
            lines += [f"  p{number} -> s{code};" for code in sorted(listed.tolist())]
        return "\n".join([*lines, "}"])

    def __getstate__(self) -> dict[str, object]:
        """Leave out the lock, which cannot be pickled."""
        return {**self.__dict__, "_lock": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore the engine with a new lock."""
        self.__dict__.update(state)
        self._lock = Lock()

    def _grow_to(self, predicates: int) -> None:
        begins, lengths, rooms, entries, end = self._lists
        missing = predicates - len(begins)
        if missing > 0:
            more = max(missing, len(begins))
            self._lists = PredicateLists(
                np.pad(begins, (0, more)),
                np.pad(lengths, (0, more)),
                np.pad(rooms, (0, more)),
                entries,
                end,
            )

    def _make_room(self) -> None:
        """Repack all lists with room for any of them to double, even if it has all entries."""
        entries = np.zeros(4 * int(self._lists.lengths.sum()) + _INITIAL_SIZE, np.int32)
        pack_lists(self._lists, entries)
        self._lists = self._lists._replace(entries=entries)
