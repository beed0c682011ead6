"""Compare two matchers on a worker; this module does not use pyspark.

The result is counts and a few examples of differences, never the matches themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import pyarrow as pa

from tamis.errors import EventError, FunctionError, TamisError
from tamis.events.bad_events import isolate_bad
from tamis.matcher import Matcher
from tamis.matches import Id
from tamis.spark.match.event_batches import UNREAD, split_readable, visible_columns

if TYPE_CHECKING:
    from pyroaring import BitMap

_Bitmaps: TypeAlias = "dict[Id, BitMap]"

# The number of subscriptions whose counts are held before they are flushed: it bounds the memory.
_AT_ONCE = 1 << 16


def difference_schema(ids: pa.DataType) -> pa.Schema:
    """Return the schema of a worker's rows: one per subscription, and one for the events.

    The row for the events has no subscription.
    """
    texts = pa.list_(pa.string())
    return pa.schema(
        [
            ("subscription", ids),
            ("in_current", pa.bool_()),
            ("in_proposed", pa.bool_()),
            ("current", pa.int64()),
            ("proposed", pa.int64()),
            ("gained", pa.int64()),
            ("lost", pa.int64()),
            ("gained_examples", texts),
            ("lost_examples", texts),
            ("events", pa.int64()),
            ("unjudged", pa.int64()),
            ("faults", texts),
        ]
    )


class _Count:
    """The counts and examples of one subscription."""

    __slots__ = ("current", "gained", "gained_examples", "lost", "lost_examples", "proposed")

    def __init__(self) -> None:
        self.current = self.proposed = self.gained = self.lost = 0
        self.gained_examples: list[str] = []
        self.lost_examples: list[str] = []

    def row(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.__slots__}


class Difference:
    """Counts the differences between two matchers over events."""

    def __init__(
        self,
        current: Matcher,
        proposed: Matcher,
        ids: pa.DataType,
        *,
        hidden: frozenset[str],
        key: str | None,
        examples: int,
        corrupt: str | None,
    ) -> None:
        """Take the two matchers.

        Args:
            current: The matcher of the current rules.
            proposed: The matcher of the proposed rules.
            ids: The type of the ids of both.
            hidden: Columns that no selector sees.
            key: The column that names an event; None: an example is the whole event, as JSON.
            examples: The maximum number of examples of gained matches, and of lost ones.
            corrupt: A column that is not null if the event could not be read.
        """
        self._current = current
        self._proposed = proposed
        self._schema = difference_schema(ids)
        self._hidden = hidden
        self._key = key
        self._examples = examples
        self._corrupt = corrupt
        self._counts: dict[Id, _Count] = {}
        self._events = self._failed_events = 0
        self._faults: list[str] = []

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Compare the matches of all events of a task."""
        for batch in batches:
            self._events += batch.num_rows
            batch, unread = split_readable(batch, self._corrupt)
            self._set_aside(unread.num_rows, UNREAD)
            self._compare(batch)
            if len(self._counts) >= _AT_ONCE:
                yield from self._flush()
        yield from self._flush()

    def _compare(self, batch: pa.RecordBatch) -> None:
        # An event that one of the two cannot evaluate is left out of both, or the difference would
        # be one of events, not of rules.
        for part, matches in isolate_bad(batch, self._match, (EventError, FunctionError)):
            if isinstance(matches, TamisError):
                self._set_aside(1, str(matches))
            else:
                self._count_differences(part, *matches)

    def _match(self, batch: pa.RecordBatch) -> tuple[_Bitmaps, _Bitmaps]:
        visible = visible_columns(batch, self._hidden)
        return (
            self._current.match_batch(visible).bitmaps(),
            self._proposed.match_batch(visible).bitmaps(),
        )

    def _count_differences(self, batch: pa.RecordBatch, before: _Bitmaps, after: _Bitmaps) -> None:
        for id, events in before.items():
            count = self._count(id)
            count.current += len(events)
            now = after.pop(id, None)
            if now is None:
                self._note(batch, events, count, gained=False)
                continue
            count.proposed += len(now)
            if events != now:
                self._note(batch, events - now, count, gained=False)
                self._note(batch, now - events, count, gained=True)
        for id, events in after.items():
            count = self._count(id)
            count.proposed += len(events)
            self._note(batch, events, count, gained=True)

    def _count(self, id: Id) -> _Count:
        found = self._counts.get(id)
        if found is None:
            found = self._counts[id] = _Count()
        return found

    def _note(self, batch: pa.RecordBatch, events: Any, count: _Count, gained: bool) -> None:
        if gained:
            count.gained += len(events)
        else:
            count.lost += len(events)
        given = count.gained_examples if gained else count.lost_examples
        given.extend(
            self._event_name(batch, n) for n in islice(events, self._examples - len(given))
        )

    def _event_name(self, batch: pa.RecordBatch, number: int) -> str:
        if self._key is not None:
            return _text(batch.column(self._key)[number].as_py())
        return _text(batch.slice(number, 1).to_pylist()[0])

    def _set_aside(self, events: int, reason: str) -> None:
        self._failed_events += events
        if events and len(self._faults) < self._examples:
            self._faults.append(reason)

    def _flush(self) -> Iterator[pa.RecordBatch]:
        rows: list[dict[str, object]] = [
            {"subscription": id, **count.row()} for id, count in self._counts.items()
        ]
        rows.append(
            {"events": self._events, "unjudged": self._failed_events, "faults": self._faults}
        )
        self._counts, self._faults = {}, []
        self._events = self._failed_events = 0
        yield pa.RecordBatch.from_pylist(rows, self._schema)


def subscription_rows(
    current: Matcher, proposed: Matcher, ids: pa.DataType
) -> Iterator[pa.RecordBatch]:
    """Yield a row for every subscription of either matcher, with the matchers that have it."""
    schema = difference_schema(ids)
    both = dict.fromkeys([*current, *proposed])
    rows = iter(both)
    while some := list(islice(rows, _AT_ONCE)):
        yield pa.RecordBatch.from_pylist(
            [
                {"subscription": id, "in_current": id in current, "in_proposed": id in proposed}
                for id in some
            ],
            schema,
        )


def _text(value: object) -> str:
    plain = msgspec.to_builtins(value, enc_hook=str)
    return plain if isinstance(plain, str) else msgspec.json.encode(plain).decode()
