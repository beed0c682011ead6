"""The stack of sealed segments, and where in it each id is.

The code of a subscription is the base of its segment plus its record there. Merging gives segments
new bases. The tuple of segments is replaced, never changed: readers keep using the one they took.
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

# Ids that are read first; each further read takes more.
_FIRST_IDS = 64


class Stack:
    """Segments in insertion order. Callers of methods that change it hold the engine's lock."""

    def __init__(self, index: PredicateIndex) -> None:
        """Create an empty stack whose segments number their predicates in `index`."""
        self.segments: tuple[Segment, ...] = ()
        self._index = index
        self._directory = Directory()
        self._codes = IdTable()
        self._next_base = 0
        self._restored: tuple[Segment, ...] = ()

    def __len__(self) -> int:
        """Return the number of subscriptions."""
        return sum(map(len, self.segments))

    def locate(self, id: Id) -> tuple[Segment, int]:
        """Return the segment of an id, and its record there.

        Raises:
            KeyError: There is no such subscription.
        """
        _, segment, record = self._find(id)
        return segment, record

    def remove(self, id: Id) -> None:
        """Remove a subscription.

        Raises:
            KeyError: There is no such subscription.
        """
        at, segment, record = self._find(id)
        self._codes.drop(at)
        segment.alive[record] = 0
        segment.dead += 1

    def _find(self, id: Id) -> tuple[int, Segment, int]:
        """Return the slot of an id, its segment and its record there."""
        tag = tag_of(id)
        at, code = self._codes.next(tag)
        while at >= 0:
            segment, record = self._directory.find(code)
            if segment.ledger.is_id(record, id):
                return at, segment, record
            at, code = self._codes.next(tag, at)
        raise KeyError(id)

    def push(self, segment: Segment) -> None:
        """Push a segment."""
        self._assign_base(segment)
        self._enter(segment)
        self._put((*self.segments, segment))

    def swap(self, old: Sequence[Segment], new: Segment, kept: Sequence[Longs]) -> None:
        """Replace adjacent segments by one.

        Args:
            old: The adjacent segments. Records may have been removed since `new` was built.
            new: The segment that replaces them.
            kept: By old segment, its records that are in `new`, in order.
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
        """Add segments from disk, whose subscriptions must not be in the stack."""
        self._put((*self.segments, *segments))
        self._renumber()
        self._restored = (*self._restored, *segments)

    def intern_restored(self) -> None:
        """Number the predicates of restored segments; deferred, as parsing many takes seconds."""
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
        """Number all segments from 0 again, after merging has used the codes up."""
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
    """Iterate over the ids of some records of each segment.

    Few are read at first, as the caller may need only one.
    """
    for segment, records in zip(segments, alive, strict=True):
        begin, end = 0, _FIRST_IDS
        while begin < len(records):
            yield from segment.ledger.ids_of(records[begin:end]).to_pylist()
            begin, end = end, 4 * end
