"""The stack of segments that stay, and where in it an id is.

A subscription has a code, the base of its segment and its record there; merging gives segments new
bases. The stack itself is never changed, only replaced: readers go on with the one they took.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tamis.engines.block.code_directory import Directory
from tamis.engines.block.id_table import IdTable, tag_of
from tamis.engines.block.report.costs import carry_over
from tamis.engines.block.segment.segment import Segment, numbers_of
from tamis.kernels.block.ids import MOST
from tamis.kernels.block.words import Longs
from tamis.matches import Id
from tamis.predicates import PredicateIndex

# Ids that are read at a time, to begin with.
_FIRST_IDS = 64


class Stack:
    """Segments, in the order of adding. Whoever calls a method that changes it holds the lock."""

    def __init__(self, index: PredicateIndex) -> None:
        """Begin with none; the predicates of segments are numbered in the index."""
        self.segments: tuple[Segment, ...] = ()
        self._index = index
        self._directory = Directory()
        self._codes = IdTable()
        self._next_base = 0
        self._restored: tuple[Segment, ...] = ()

    def __len__(self) -> int:
        """How many subscriptions there are."""
        return sum(map(len, self.segments))

    def locate(self, id: Id) -> tuple[Segment, int]:
        """The segment of an id, and its record there.

        Raises:
            KeyError: There is no such subscription.
        """
        _, segment, record = self._find(id)
        return segment, record

    def remove(self, id: Id) -> None:
        """Forget a subscription.

        Raises:
            KeyError: There is no such subscription.
        """
        at, segment, record = self._find(id)
        self._codes.drop(at)
        segment.alive[record] = 0
        segment.dead += 1

    def _find(self, id: Id) -> tuple[int, Segment, int]:
        """The slot of an id, its segment and its record there."""
        tag = tag_of(id)
        at, code = self._codes.next(tag)
        while at >= 0:
            segment, record = self._directory.find(code)
            if segment.ledger.is_id(record, id):
                return at, segment, record
            at, code = self._codes.next(tag, at)
        raise KeyError(id)

    def push(self, segment: Segment) -> None:
        """Put a segment on top."""
        self._assign_base(segment)
        self._enter(segment)
        self._put((*self.segments, segment))

    def swap(self, old: Sequence[Segment], new: Segment, kept: Sequence[Longs]) -> None:
        """Put a segment into the place of neighbours.

        Args:
            old: The neighbours. Records of them may have been removed since `new` was made.
            new: The segment.
            kept: By neighbour, the records of it that are in the segment, in order.
        """
        new.numbers = numbers_of(new.predicates, self._index)
        self._assign_base(new)
        filled = 0
        for segment, records in zip(old, kept, strict=True):
            alive = segment.alive[records]
            place = new.base + filled + np.arange(len(records))
            still = np.flatnonzero(alive)
            self._codes.move(
                segment.ledger.tags[records[still]].astype(np.int64),
                segment.base + records[still],
                place[still],
            )
            new.alive[filled : filled + len(records)] = alive
            carry_over(segment, new, records, filled)
            filled += len(records)
        new.dead = len(new.alive) - int(new.alive.sum())
        at = self.segments.index(old[0])
        self._put((*self.segments[:at], new, *self.segments[at + len(old) :]))
        for segment in old:
            segment.release_predicates(self._index)

    def restore(self, segments: tuple[Segment, ...]) -> None:
        """Take segments from disk, of subscriptions that are not here."""
        self._put((*self.segments, *segments))
        self._renumber()
        self._restored = (*self._restored, *segments)

    def intern_restored(self) -> None:
        """Number the predicates of segments from disk: late, as reading many takes seconds."""
        for segment in self._restored:
            if segment in self.segments:
                segment.numbers = numbers_of(segment.predicates, self._index)
        self._restored = ()

    def _put(self, segments: tuple[Segment, ...]) -> None:
        self.segments, self._directory = segments, Directory(segments)

    def _assign_base(self, segment: Segment) -> None:
        if self._next_base + len(segment.ledger) > MOST:
            self._renumber()
        segment.base = self._next_base
        self._next_base += len(segment.ledger)

    def _renumber(self) -> None:
        """Begin with codes from 0 again: merging has used them up."""
        self._codes.clear()
        self._next_base = 0
        for segment in self.segments:
            segment.base = self._next_base
            self._next_base += len(segment.ledger)
            self._enter(segment)
        self._put(self.segments)

    def _enter(self, segment: Segment) -> None:
        kept = np.flatnonzero(segment.alive)
        self._codes.put(segment.ledger.tags[kept].astype(np.int64), segment.base + kept)


def ids_in(segments: Sequence[Segment], alive: Sequence[Longs]) -> Iterator[Id]:
    """The ids of some records of each segment; few are read at first, as one may be enough."""
    for segment, records in zip(segments, alive, strict=True):
        begin, end = 0, _FIRST_IDS
        while begin < len(records):
            yield from segment.ledger.ids_of(records[begin:end]).to_pylist()
            begin, end = end, 4 * end
