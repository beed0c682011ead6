"""Arguments that the matching kernels share: a slice of events, state by record, and pairs."""

from __future__ import annotations

from typing import NamedTuple

from tamis.kernels.block.ranks import Rows
from tamis.kernels.block.words import Bytes, Ints, Longs


class PredicateResults(NamedTuple):
    """The predicates that phase 1 found satisfied, by event.

    Attributes:
        offsets: By event, where its predicates begin in `satisfied`.
        satisfied: Their numbers in the index that all segments share.
        local: By that number, the number in this segment, or -1.
    """

    offsets: Longs
    satisfied: Ints
    local: Ints


class EventSlice(NamedTuple):
    """The events from `begin` up to `end` of a chunk.

    Attributes:
        rows: The ranks of all events of the chunk.
        predicates: The predicates that they satisfy.
        begin: The first event of the slice.
        end: The event after its last.
    """

    rows: Rows
    predicates: PredicateResults
    begin: int
    end: int


class RecordState(NamedTuple):
    """The mutable state of a segment, by record.

    Attributes:
        alive: 0 if the record has been removed.
        visits: How often the record was checked; kernels increment it. Empty to not count.
    """

    alive: Bytes
    visits: Ints


class PairBuffer(NamedTuple):
    """Room for pairs of an event and a matching record; kernels may return larger arrays."""

    event: Longs
    record: Longs
