"""Find which events satisfy which steps of sequences; this module does not use pyspark.

A worker sees some of the events, in any order, so it only emits matches of steps; a later stage,
which has all events of a key, runs the sequences.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import xxhash

from tamis.engines import DEFAULT, ENGINES
from tamis.engines.subscription import Subscription
from tamis.events.batch import EventBatch
from tamis.language.expr import Sequence
from tamis.matcher import Matcher
from tamis.paths import Path
from tamis.sequences.event_time import EventClock, values_at
from tamis.sequences.key_values import key_of, micros_of
from tamis.sequences.sequence_engine import Sequences
from tamis.spark.sequences.packed_events import RowCodec
from tamis.values import Timestamp, Value

# The key of a state. A replaced sequence is another one. `steps` and `within` follow from the
# sequence, and are included because later stages need nothing else of it.
STATE = {"sequence": pa.int64(), "steps": pa.int32(), "within": pa.int64(), "key": pa.string()}
# The order of events. At the same time and order, those that satisfy earlier steps come first.
ORDER = {"time": pa.int64(), "order": pa.int64(), "satisfied": pa.list_(pa.int32())}
REST = {"priority": pa.int64(), "index_version": pa.int64(), "event": pa.binary()}


def step_schema(id_type: pa.DataType) -> pa.Schema:
    """Return the schema of step matches; `event` is null unless it satisfies the last step."""
    return pa.schema({"subscription": id_type, **STATE, **ORDER, **REST})


class _SequenceInfo(NamedTuple):
    """The columns of a sequence that every row has."""

    digest: int
    steps: int
    within: int | None
    per: Path | None


# A worker keeps its matchers from task to task, and with them the engines for their steps.
_by_matcher: WeakKeyDictionary[Matcher, Sequences] = WeakKeyDictionary()


def _sequences_of(matcher: Matcher) -> Sequences:
    sequences = _by_matcher.get(matcher)
    if sequences is None:
        sequences = Sequences(ENGINES[DEFAULT], EventClock(None, None))
        for one in matcher.sequences:
            sequences.add(one)
        _by_matcher[matcher] = sequences
    return sequences


class StepFinder:
    """Finds the matches of steps in batches of events."""

    def __init__(
        self,
        matcher: Matcher,
        number: int,
        time: str,
        order: str | None,
        id_type: pa.DataType,
        packing: RowCodec,
    ) -> None:
        """Take the sequences of a matcher.

        Args:
            matcher: The matcher.
            number: Its version.
            time: The column of the time.
            order: The column that orders events of the same time, if any.
            id_type: The type of ids of subscriptions.
            packing: Packs the columns to keep.
        """
        self._matcher = matcher
        self._number = number
        self._time = time
        self._order = order
        self._schema = step_schema(id_type)
        self._packing = packing
        self._sequences = _sequences_of(matcher)
        self._infos = {one.id: _sequence_info(one) for one in matcher.sequences}

    def __call__(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Yield the matches of steps in a batch of events."""
        if not self._infos or not batch.num_rows:
            return
        events = EventBatch.of(batch, self._matcher.schema, self._matcher.semantics)
        found = self._sequences.step_matches(events)
        if not found:
            return
        times = to_micros(batch.column(self._time))
        orders = None if self._order is None else batch.column(self._order).to_pylist()
        positions = np.unique([one.event for one in found])
        keys: dict[Path | None, dict[int, str | None]] = {
            None: dict.fromkeys(positions.tolist(), "")
        }
        rows: list[tuple[object, ...]] = []
        last: list[int] = []
        for event, subscription, satisfied in found:
            known = self._infos[subscription.id]
            if known.per not in keys:
                values = values_at(events, known.per, positions)  # type: ignore[arg-type]
                texts = map(key_text, values)
                keys[known.per] = dict(zip(positions.tolist(), texts, strict=True))
            key, time = keys[known.per][event], times[event]
            if key is None or time is None:
                continue
            completes = known.steps - 1 in satisfied
            if completes:
                last.append(event)
            order = None if orders is None else orders[event]
            state = (subscription.id, known.digest, known.steps, known.within, key)
            rest = (subscription.priority, self._number, event if completes else None)
            rows.append((*state, time, order, sorted(satisfied), *rest))
        if rows:
            packed = self._packing.pack(batch, last)
            yield self._step_batch(rows, packed)

    def _step_batch(
        self, rows: list[tuple[object, ...]], packed: dict[int, bytes]
    ) -> pa.RecordBatch:
        *columns, events = zip(*rows, strict=True)
        columns.append(tuple(packed.get(event) for event in events))
        arrays = [pa.array(c, f.type) for c, f in zip(columns, self._schema, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


def _sequence_info(subscription: Subscription) -> _SequenceInfo:
    sequence = subscription.selector
    assert isinstance(sequence, Sequence)
    digest = int.from_bytes(xxhash.xxh3_64_digest(subscription.text.encode()), signed=True)
    per = sequence.per.path if sequence.per else None
    return _SequenceInfo(digest, len(sequence.steps), sequence.within, per)


def key_text(value: Value) -> str | None:
    """Return a PER value as text, the same for equal values; None if it equals nothing.

    The first letter is the type: the text '5' is not the number 5, but 5.0 is.
    """
    if key_of(value) is None:
        return None
    if isinstance(value, bool):
        return f"b{value:d}"
    if isinstance(value, str):
        return f"s{value}"
    if isinstance(value, Timestamp):
        return f"t{value.micros}"
    whole = isinstance(value, float) and value.is_integer()
    return f"n{int(value) if whole else value!r}"  # type: ignore[arg-type]


def to_micros(times: pa.Array) -> list[int | None]:
    """Convert a column of instants, or of numbers of seconds, to microseconds."""
    if pa.types.is_timestamp(times.type):
        found: list[int | None] = (
            times.cast(pa.timestamp("us", times.type.tz)).cast("int64").to_pylist()
        )
        return found
    return [micros_of(value) for value in times.to_pylist()]


def from_micros(times: list[int], kind: pa.DataType) -> pa.Array:
    """Convert microseconds to a column; the inverse of `to_micros`."""
    if pa.types.is_timestamp(kind):
        return pa.array(times, pa.int64()).cast(kind)
    if pa.types.is_integer(kind):
        return pa.array([time // 1_000_000 for time in times], kind)
    return pa.array([time / 1_000_000 for time in times], kind)
