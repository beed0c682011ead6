"""Read a broker's events, or a subscriber's deliveries, as a table or a stream of Spark.

    spark.readStream.format("tamis").option("url", "nats://127.0.0.1:4222").load()

An offset of the stream is the NATS sequence to read next. The broker keeps no state: a micro-batch
is a range of sequences, and reading it again gives the same rows. An offset also holds the start of
the query and the number of parts of the micro-batch before it, so that the first micro-batch, too,
is the same after a crash, even with other options.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from tamis.broker.client.broker_access import LOGIN, BrokerReader, ConnectionSettings
from tamis.broker.fabric.stream_ranges import StreamState
from tamis.errors import BrokerError, InputError, shorten
from tamis.spark.sources import broker_rows
from tamis.spark.sources.partitions import Span, spans
from tamis.spark.sources.source_options import Options

# The minimum number of rows of a task: connecting takes some milliseconds.
_LEAST = 1000
# Rows of an Arrow batch.
_ROWS = 10_000

REACH = ("url", "prefix", "timeout", *LOGIN)
_OPTIONS = (
    *REACH,
    "what",
    "subscriber",
    "start",
    "end",
    "rowsPerBatch",
    "partitions",
    "failOnDataLoss",
)

Offset = dict[str, int]

log = logging.getLogger("tamis.spark")


def schema(options: Mapping[str, str]) -> StructType:
    """Return the columns."""
    return from_arrow_schema(_BrokerReadOptions.of(options).columns)


def reader(options: Mapping[str, str], schema: StructType) -> DataSourceReader:
    """Return the reader for `spark.read`."""
    return _BrokerReader(_BrokerReadOptions.of(options).check_schema(schema))


def stream_reader(options: Mapping[str, str], schema: StructType) -> DataSourceStreamReader:
    """Return the reader for `spark.readStream`."""
    parsed = _BrokerReadOptions.of(options).check_schema(schema)
    if parsed.end is not None:
        raise InputError("is for tables: a stream has no end", "end")
    return _BrokerStreamReader(parsed)


def reach_of(given: Options) -> ConnectionSettings:
    """Return the connection settings.

    Raises:
        InputError: An option is invalid.
    """
    place = {name: given.text(name) for name in ("url", "prefix")}
    login = {name: given.text(name) for name in LOGIN}
    reach = ConnectionSettings(
        **{name: text for name, text in place.items() if text is not None},
        timeout=given.integer("timeout", 1) or 30,
        login={name: text for name, text in login.items() if text is not None},
    )
    try:
        reach.names  # noqa: B018 (it validates the prefix)
    except BrokerError as error:
        raise InputError(error.reason, "prefix") from None
    return reach


class _BrokerReadOptions(NamedTuple):
    """The parsed options.

    Attributes:
        reach: The connection settings.
        subscriber: The subscriber of the deliveries; None for events.
        start: `earliest`, `latest`, a sequence or a time.
        end: The same, for tables; None for everything that exists.
        rows_per_batch: The maximum number of rows of a micro-batch.
        partitions: The maximum number of tasks that read it.
        fail: Whether messages that are gone before they were read are an error.
    """

    reach: ConnectionSettings
    subscriber: str | None
    start: str | int | datetime
    end: str | int | datetime | None
    rows_per_batch: int
    partitions: int
    fail: bool

    @classmethod
    def of(cls, options: Mapping[str, str]) -> _BrokerReadOptions:
        given = Options(options, _OPTIONS)
        what = given.one_of("what", ("events", "deliveries"))
        subscriber = given.text("subscriber")
        if (what == "deliveries") != (subscriber is not None):
            raise InputError(
                "must be used together with option('what', 'deliveries')", "subscriber"
            )
        parsed = cls(
            reach_of(given),
            subscriber,
            _parse_position(given, "start") or "earliest",
            _parse_position(given, "end"),
            given.integer("rowsPerBatch", 1) or 100_000,
            given.integer("partitions", 1) or 4,
            given.flag("failOnDataLoss", True),
        )
        try:
            parsed.make_reader()
        except BrokerError as error:
            raise InputError(error.reason, "subscriber") from None
        return parsed

    @property
    def columns(self) -> pa.Schema:
        return broker_rows.EVENTS if self.subscriber is None else broker_rows.DELIVERIES

    def check_schema(self, schema: StructType) -> _BrokerReadOptions:
        """Return these options, if the schema is that of the source."""
        own = from_arrow_schema(self.columns)
        if schema is not None and schema.simpleString() != own.simpleString():
            raise InputError(
                f"the columns are {own.simpleString()}: omit .schema(…), and parse events"
                " with from_json",
                "schema",
            )
        return self

    def make_reader(self) -> BrokerReader:
        return BrokerReader(self.reach, self.subscriber)

    def part_count(self, start: int, stop: int) -> int:
        rows = min(stop - start, self.rows_per_batch)
        return min(self.partitions, -(-rows // _LEAST))

    def sequence_at(
        self, place: str | int | datetime, reading: BrokerReader, state: StreamState
    ) -> int:
        """Return the sequence of a position at this moment."""
        if place == "earliest":
            return max(1, state.first)
        if isinstance(place, int):
            return place
        if isinstance(place, datetime):
            found = reading.first_since(place)
            if found is not None:
                return found
        return state.last + 1

    def check_data_loss(self, reading: BrokerReader, start: int, stop: int) -> None:
        """Check that no messages are gone at the start of a range, before those that remain.

        Raises:
            InputError: Some are gone, and that is an error by the options.
        """
        left = reading.first_remaining(start)
        if left is None or left <= start:
            return
        whose = "events" if self.subscriber is None else f"deliveries to {self.subscriber}"
        lost = f"{whose} from {start} to {min(left, stop) - 1} are gone, or may be, unread"
        if self.fail:
            raise InputError(f"{lost}; option('failOnDataLoss', 'false') skips them", "broker")
        log.warning(lost)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a partition."""
        assert isinstance(partition, Span)
        batch_of = broker_rows.events if self.subscriber is None else broker_rows.deliveries
        with self.make_reader() as reading:
            following = partition.start
            waiting = []
            for some in reading.read(partition.start, partition.stop):
                if following == partition.start < some[0].sequence:
                    self.check_data_loss(reading, partition.start, some[0].sequence)
                following = some[-1].sequence + 1
                waiting += some
                if len(waiting) >= _ROWS:
                    yield batch_of(waiting)
                    waiting = []
            if following == partition.start < partition.stop:
                self.check_data_loss(reading, partition.start, partition.stop)
            if waiting:
                yield batch_of(waiting)


def _parse_position(given: Options, name: str) -> str | int | datetime | None:
    text = given.text(name)
    if text is None or text.lower() in ("earliest", "latest"):
        return text and text.lower()
    if text.isdigit():
        return given.integer(name, 1)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(
            "must be earliest, latest, a sequence or a time such as 2026-01-31T12:00:00Z, not"
            f" {shorten(text)!r}",
            name,
        ) from None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


class _BrokerReader(DataSourceReader):
    def __init__(self, options: _BrokerReadOptions) -> None:
        self._options = options

    def partitions(self) -> list[Span]:
        options = self._options
        with options.make_reader() as reading:
            state = reading.state()
            start = options.sequence_at(options.start, reading, state)
            stop = state.last + 1
            if options.end is not None:
                stop = min(stop, options.sequence_at(options.end, reading, state))
            if start >= stop:
                return []
            options.check_data_loss(reading, start, stop)
        return spans(start, stop, min(options.partitions, -(-(stop - start) // _LEAST)))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self._options.read(partition)


class _BrokerStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, options: _BrokerReadOptions) -> None:
        self._options = options
        self._reading: BrokerReader | None = None
        self._initial: Offset | None = None
        self._end: int | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_reading": None}  # the connection stays with the driver

    def initialOffset(self) -> Offset:
        # Spark calls this until there is a first micro-batch; the offset must not move meanwhile.
        if self._initial is None:
            reading = self._open_reader()
            start = self._options.sequence_at(self._options.start, reading, reading.state())
            self._initial = {"sequence": start, "from": start, "parts": 0}
        return self._initial

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self._options.rows_per_batch)

    def prepareForTriggerAvailableNow(self) -> None:
        self._end = self._open_reader().state().last

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        reading = self._open_reader()
        state = reading.state()
        first = start["sequence"]
        if first > state.last + 1 and start["from"] != first:
            raise InputError(
                f"the stream ends at {state.last}, but {first - 1} was read: it was created again;"
                " start with a new checkpoint",
                "broker",
            )
        last = state.last if self._end is None else min(state.last, self._end)
        if first > last:
            return start
        stop = last + 1
        if isinstance(limit, ReadMaxRows):
            stop = reading.stop_after(max(first, state.first), limit.max_rows, last)
        parts = self._options.part_count(first, stop)
        return {"sequence": stop, "from": start["from"], "parts": parts}

    def reportLatestOffset(self) -> Offset:
        state = self._open_reader().state()
        return {"sequence": state.last + 1}

    def partitions(self, start: Offset, end: Offset) -> list[Span]:
        # Only a first micro-batch that runs again can have another start: use its original one.
        first = start["sequence"] if start["from"] == end["from"] else end["from"]
        if first >= end["sequence"]:
            return []
        self._options.check_data_loss(self._open_reader(), first, end["sequence"])
        return spans(first, end["sequence"], end["parts"])

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self._options.read(partition)

    def stop(self) -> None:
        if self._reading is not None:
            self._reading.close()
            self._reading = None

    def _open_reader(self) -> BrokerReader:
        if self._reading is None:
            self._reading = self._options.make_reader().__enter__()
        return self._reading
