"""Phase 1 of matching: the predicates that are certainly true of each event of a batch.

It is shared by all engines that first find the satisfied predicates and then combine them (the
counting algorithm, A-Tree, BDDs …). A predicate is stored once however many selectors contain it,
under a small integer that engines use as an index into arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from tamis.events.batch import EventBatch
from tamis.language.expr import Attribute, Comparison, Literal, Not, Predicate, ValueExpr
from tamis.predicates.partial_results import (
    CodedPart,
    Part,
    SatisfiedPredicates,
    build_masks,
    gather_ids,
    table_of,
)
from tamis.predicates.placement import placement
from tamis.predicates.residual import residual_part
from tamis.predicates.term_index import TermIndex
from tamis.predicates.term_values import Sheet

__all__ = ["PredicateIndex", "SatisfiedPredicates"]

Leaf = Predicate | Not


class PredicateIndex:
    """Predicates under small integer ids, with reference counts.

    >>> from tamis.language import parse
    >>> index = PredicateIndex()
    >>> cheap, french = index.intern(parse("price < 10")), index.intern(parse("country = 'FR'"))
    >>> batch = EventBatch.of([{"price": 5, "country": "FR"}, {"price": 20}, {"price": 9.5}])
    >>> offsets, ids = index.satisfied_predicates(batch)
    >>> offsets.tolist(), ids[:2].tolist() == [cheap, french]
    ([0, 2, 2, 3], True)
    >>> index.masks(batch)[:, 0].tolist()
    [5, 1]

    Attributes:
        capacity: One more than the highest id that was ever in use.
    """

    def __init__(self) -> None:
        """Create an empty index."""
        self._ids: dict[object, int] = {}
        self._predicates: list[Leaf | None] = []
        self._counts: list[int] = []
        self._free: list[int] = []
        self._terms: dict[ValueExpr, TermIndex] = {}
        self._always: dict[int, None] = {}
        self._residual: dict[int, Leaf] = {}

    @property
    def capacity(self) -> int:
        """One more than the highest id that was ever in use."""
        return len(self._predicates)

    def __len__(self) -> int:
        """Return the number of distinct predicates."""
        return len(self._ids)

    def intern(self, predicate: Leaf) -> int:
        """Return the id of a predicate and add a reference; equal predicates share an id.

        Raises:
            TypeError: It is neither a predicate nor the NOT of one.
        """
        key = _key(predicate)
        id = self._ids.get(key)
        if id is not None:  # hot: most predicates of a large set of selectors are known
            self._counts[id] += 1
            return id
        id = self._free[-1] if self._free else len(self._predicates)
        self._place(id, predicate)
        if self._free:
            self._free.pop()
            self._predicates[id], self._counts[id] = predicate, 1
        else:
            self._predicates.append(predicate)
            self._counts.append(1)
        self._ids[key] = id
        return id

    def find(self, predicate: Leaf) -> int | None:
        """Return the id of a predicate, or None; the reference count stays the same."""
        return self._ids.get(_key(predicate))

    def release(self, id: int) -> None:
        """Drop a reference to a predicate; after the last one, remove the predicate.

        Raises:
            KeyError: No predicate has this id.
        """
        predicate = self.predicate(id)
        self._counts[id] -= 1
        if self._counts[id]:
            return
        del self._ids[_key(predicate)]
        self._predicates[id] = None
        self._free.append(id)
        self._displace(id, predicate)

    def predicate(self, id: int) -> Leaf:
        """Return the predicate with an id.

        Raises:
            KeyError: No predicate has this id.
        """
        predicate = self._predicates[id] if 0 <= id < len(self._predicates) else None
        if predicate is None:
            raise KeyError(id)
        return predicate

    def satisfied_predicates(self, batch: EventBatch) -> SatisfiedPredicates:
        """Return, for every event, the ids of the predicates that are certainly true of it."""
        return gather_ids(list(self._parts(batch)), len(batch))

    def masks(self, batch: EventBatch, ids: NDArray[np.int32] | None = None) -> NDArray[np.uint64]:
        """Return the same as bits: a row per id (all up to `capacity` if None), a bit per event.

        Event e is bit e % 64 of word e // 64. The ids must be distinct; an id that is not in use
        has no bits set.
        """
        if ids is None:
            rows = np.arange(self.capacity, dtype=np.int32)
            return build_masks(list(self._parts(batch)), len(batch), rows, self.capacity)
        rows = np.full(self.capacity, -1, np.int32)
        rows[ids] = np.arange(len(ids))
        return build_masks(list(self._parts(batch)), len(batch), rows, len(ids))

    def stats(self) -> Mapping[str, object]:
        """Return sizes by name; `residual` predicates are evaluated for every event."""
        return {
            "predicates": len(self),
            "references": sum(self._counts),
            "capacity": self.capacity,
            "terms": len(self._terms),
            "derived_terms": sum(not isinstance(term, Attribute) for term in self._terms),
            "always": len(self._always),
            "residual": len(self._residual),
        }

    def __getstate__(self) -> tuple[list[Leaf | None], list[int], list[int]]:
        """Pickle the predicates and their counts; the rest is rebuilt from them."""
        return self._predicates, self._counts, self._free

    def __setstate__(self, state: tuple[list[Leaf | None], list[int], list[int]]) -> None:
        """Index every predicate again, under the id that it had."""
        self.__init__()  # type: ignore[misc]
        self._predicates, self._counts, self._free = state
        for id, predicate in enumerate(self._predicates):
            if predicate is not None:
                self._ids[_key(predicate)] = id
                self._place(id, predicate)

    def _place(self, id: int, predicate: Leaf) -> None:
        term, tests, always, residual = placement(predicate)
        if always:
            self._always[id] = None
        elif residual:
            self._residual[id] = predicate
        elif term is not None:
            index = self._terms.get(term)
            if index is None:
                index = self._terms[term] = TermIndex()
            for test in tests:
                index.add(id, test)

    def _displace(self, id: int, predicate: Leaf) -> None:
        term, tests, always, residual = placement(predicate)
        if always:
            del self._always[id]
        elif residual:
            del self._residual[id]
        elif term is not None:
            index = self._terms[term]
            for test in tests:
                index.remove(id, test)
            if not index:
                del self._terms[term]

    def _parts(self, batch: EventBatch) -> Iterator[Part]:
        if not len(batch):
            return
        sheet = Sheet(batch)
        for term, index in self._terms.items():
            yield from index.parts(sheet.cells(term), sheet)
        if self._always:
            yield CodedPart(table_of([self._always]), np.zeros(len(batch), np.int32))
        if self._residual:
            yield residual_part(self._residual, sheet)


def _key(predicate: Leaf) -> object:
    """Return the dictionary key of a predicate.

    Most predicates are `attribute op literal`; hashing their parts takes half the time of hashing
    the nodes. The key contains the class because in Python True == 1 == 1.0.
    """
    if type(predicate) is Comparison:
        left, right = predicate.left, predicate.right
        if type(left) is Attribute and type(right) is Literal:
            return predicate.op, left.path, type(right.value), right.value
    return predicate
