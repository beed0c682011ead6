"""Networks of brokers as a Spark job: from tables of subscriptions and events to tables of counts.

The steps, and where they run:

1. Workers group subscriptions by selector and broker, and split the different selectors. The driver
   numbers them: there are far fewer than subscriptions.
2. Workers find, for slices of them, which others cover them, and then, for each network, what is
   exchanged over each link.
3. Workers match events against all different interests and predicates at once, with a compiled
   index, send each event through all networks with all strategies, and return only counts, which
   Spark adds up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tamis.bloom.hashing import Shape
from tamis.spark.index.compile import compile
from tamis.spark.index.versions import resolve
from tamis.spark.match import match_worker
from tamis_lab.kernels.overlay_tables import Demand, Tables
from tamis_lab.simulation.job import shared_files
from tamis_lab.simulation.job.coverers import coverer_arrays
from tamis_lab.simulation.job.demand import check_brokers, demand_of
from tamis_lab.simulation.job.event_walk import FILTERED, STRATEGIES, PublishedEvents, Walker
from tamis_lab.simulation.job.findings import EVENT_COUNTERS
from tamis_lab.simulation.job.interests import (
    Interests,
    SplitSelector,
    number_interests,
    split_selector,
    subscriptions_of,
)
from tamis_lab.simulation.job.link_tables import (
    NetworkTables,
    Words,
    network_tables,
    tables_of,
    word_count,
)
from tamis_lab.simulation.job.local_simulation import warm_up
from tamis_lab.simulation.topology import OverlayTree

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Step = Callable[[str], AbstractContextManager[Any]]

# Interests that a task handles together.
_SLICE = 2048

_APART = (
    "selector string, text string, void boolean, parts array<array<string>>, "
    "keys array<array<bigint>>"
)
_COVERED = "begin int, by array<array<int>>, equal array<array<boolean>>"
_TABLES = "network string, begin int, up binary, down binary, held binary, counted binary"
COUNTS = "network string, strategy string, m int, k int, counter string, place int, value bigint"


class PreparedNetworks(NamedTuple):
    """Networks whose brokers have exchanged all interests.

    Attributes:
        folder: The folder with everything that workers need.
        trees: The networks, by name.
        interests: The different interests.
        wants: The demand for them.
        tables: The tables of each network, by name.
        pairs_covered: Number of pairs of interests of which one covers the other.
    """

    folder: Path
    trees: Mapping[str, OverlayTree]
    interests: Interests
    wants: Demand
    tables: dict[str, NetworkTables]
    pairs_covered: int


def prepare(
    subscriptions: DataFrame,
    trees: Mapping[str, OverlayTree],
    folder: Path,
    *,
    sample: DataFrame | None = None,
    step: Step = nullcontext,
) -> PreparedNetworks:
    """Exchange all subscriptions, in networks with the same number of brokers.

    Args:
        subscriptions: `number`, the order of subscription; `broker`; `selector`.
        trees: The networks, by name.
        folder: An empty folder that the driver and all workers can access under this path.
        sample: Typical events, to lay out the index.
        step: Called with the name of each step.

    Raises:
        InputError: A broker does not exist.
        SelectorError: A selector is invalid.
    """
    spark = subscriptions.sparkSession
    brokers = next(iter(trees.values())).brokers
    warm_up()
    with step("selectors"):
        interests, wants = _interests(subscriptions, brokers)
        shared_files.store(folder, interests, wants)
    with step("index"):
        _compile_index(spark, interests, folder / "index", sample)
    with step("covering"):
        coverers = coverer_arrays(_find_coverers(spark, folder, len(interests.texts)))
        shared_files.store_coverers(folder, coverers)
    with step("tables"):
        known = _tables(spark, folder, interests, trees)
        for name, tree in trees.items():
            shared_files.store_network(folder, name, tree, known[name])
    return PreparedNetworks(folder, trees, interests, wants, known, len(coverers.by))


def route_events(
    events: DataFrame,
    prepared: PreparedNetworks,
    shapes: Sequence[Shape],
    strategies: Sequence[str],
) -> DataFrame:
    """Send events through all networks.

    Args:
        events: `broker`, where it is published; `event`, its values as JSON.
        prepared: The networks.
        shapes: Filter shapes; strategies without filters use the first one only.
        strategies: Some of `STRATEGIES`.

    Returns:
        Counts: `network`, `strategy`, `m`, `k`, `counter` (of `EVENT_COUNTERS`), `place` (a broker,
        a link by its lower end, hops, or messages), `value`. Missing rows are 0.
    """
    from pyspark.sql import functions as F

    folder, names = prepared.folder, list(prepared.trees)
    brokers = next(iter(prepared.trees.values())).brokers

    def route_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = shared_files.open_interests(folder)
        matcher = match_worker.open_version(resolve(folder / "index"), None)
        networks = shared_files.networks(folder, names)
        walker = Walker(found.interests, found.wants, networks, shapes, strategies)
        decode = msgspec.json.Decoder().decode
        for batch in batches:
            if not batch.num_rows:
                continue
            source = batch.column("broker").to_numpy(zero_copy_only=False).astype(np.int32)
            check_brokers(source, brokers)
            texts = batch.column("event")
            sizes = pc.binary_length(texts).to_numpy(zero_copy_only=False).astype(np.int32)
            matches = matcher.match_batch([decode(text) for text in texts.to_pylist()])
            walker.send(PublishedEvents(source, sizes, matches))
        for (name, shape), counted in walker.counted.items():
            yield from _rows(name, shape, shape == shapes[0], counted, strategies)

    rows = events.select("broker", "event").mapInArrow(route_batches, COUNTS)
    keys = ["network", "strategy", "m", "k", "counter", "place"]
    return rows.groupBy(*keys).agg(F.sum("value").alias("value"))


def _rows(
    name: str, shape: Shape, is_first: bool, counted: Any, strategies: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Yield the counts that are not 0, as rows."""
    for strategy in strategies:
        if not is_first and strategy not in FILTERED:
            continue
        for counter, at in EVENT_COUNTERS.items():
            values = counted[STRATEGIES[strategy], at]
            places = np.flatnonzero(values)
            size = len(places)
            yield pa.RecordBatch.from_pydict(
                {
                    "network": pa.repeat(name, size),
                    "strategy": pa.repeat(strategy, size),
                    "m": pa.repeat(pa.scalar(shape.m, pa.int32()), size),
                    "k": pa.repeat(pa.scalar(shape.k, pa.int32()), size),
                    "counter": pa.repeat(counter, size),
                    "place": pa.array(places, pa.int32()),
                    "value": pa.array(values[places], pa.int64()),
                }
            )


# -- interests and demand -------------------------------------------------------------------------


def _interests(subscriptions: DataFrame, brokers: int) -> tuple[Interests, Demand]:
    from pyspark.sql import functions as F

    apart_rows = subscriptions.select("selector").distinct().mapInArrow(_split_selectors, _APART)
    found = apart_rows.toArrow()
    rows = found.to_pylist()
    interests = number_interests(
        SplitSelector(
            row["text"],
            row["void"],
            row["parts"],
            [[key & 0xFFFFFFFFFFFFFFFF for key in part] for part in row["keys"]],
        )
        for row in rows
    )
    wanted = subscriptions.groupBy("selector", "broker").agg(
        F.count("*").alias("count"), F.min("number").alias("first")
    )
    table = wanted.toArrow()
    # Map selectors as written to the numbers of interests.
    written = pc.index_in(table.column("selector"), found.column("selector").combine_chunks())
    text_of = pc.index_in(found.column("text"), pa.array(interests.texts)).to_numpy()
    column = {name: table.column(name).to_numpy() for name in ("broker", "count", "first")}
    wants = demand_of(
        interests,
        text_of[written.to_numpy()].astype(np.int64),
        column["broker"].astype(np.int64),
        column["count"],
        column["first"],
        brokers,
    )
    return interests, wants


def _split_selectors(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    keys = pa.list_(pa.list_(pa.int64()))
    for batch in batches:
        selectors = batch.column(0).to_pylist()
        found = [split_selector(selector) for selector in selectors]
        yield pa.RecordBatch.from_pydict(
            {
                "selector": pa.array(selectors, pa.string()),
                "text": pa.array([each.text for each in found], pa.string()),
                "void": pa.array([each.void for each in found], pa.bool_()),
                "parts": pa.array([each.parts for each in found], pa.list_(pa.list_(pa.string()))),
                # Spark has no unsigned numbers.
                "keys": pa.array(
                    [[_signed_keys(part) for part in each.keys] for each in found], keys
                ),
            }
        )


def _signed_keys(keys: list[int]) -> list[int]:
    return [key - (1 << 64) if key >> 63 else key for key in keys]


def _compile_index(
    spark: SparkSession, interests: Interests, index: Path, sample: DataFrame | None
) -> None:
    ids, texts = subscriptions_of(interests)
    table = pa.table({"id": pa.array(ids), "selector": pa.array(texts, pa.string())})
    compile(spark.createDataFrame(table), index, sample=sample)


# -- exchange of interests ------------------------------------------------------------------------


def _find_coverers(
    spark: SparkSession, folder: Path, count: int
) -> list[tuple[list[int], list[bool]]]:
    def find_slices(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for begin in _numbers(batches):
            found = shared_files.coverer_finder(folder).find(begin, min(begin + _SLICE, count))
            yield pa.RecordBatch.from_pydict(
                {
                    "begin": pa.array([begin], pa.int32()),
                    "by": pa.array([[by for by, _ in found]], pa.list_(pa.list_(pa.int32()))),
                    "equal": pa.array(
                        [[equal for _, equal in found]], pa.list_(pa.list_(pa.bool_()))
                    ),
                }
            )

    rows = (
        _slice_starts(spark, count, _SLICE).mapInArrow(find_slices, _COVERED).toArrow().to_pylist()
    )
    ordered = sorted(rows, key=lambda row: int(row["begin"]))
    return [
        pair for row in ordered for pair in zip(row["by"], row["equal"], strict=True)
    ]  # fmt: skip


def _tables(
    spark: SparkSession, folder: Path, interests: Interests, trees: Mapping[str, OverlayTree]
) -> dict[str, NetworkTables]:
    count = len(interests.texts)

    def fill_slices(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        wants, coverers = shared_files.open_interests(folder).wants, shared_files.coverers(folder)
        for begin in _numbers(batches):
            end = min(begin + _SLICE, count)
            for name, tree in trees.items():
                found = tables_of(wants, coverers, tree, begin, end)
                yield pa.RecordBatch.from_pydict(
                    {
                        "network": [name],
                        "begin": pa.array([begin], pa.int32()),
                        **{
                            field: pa.array([array.tobytes()], pa.binary())
                            for field, array in found._asdict().items()
                        },
                    }
                )

    rows = _slice_starts(spark, count, _SLICE).mapInArrow(fill_slices, _TABLES).toArrow()
    known = {}
    for name, tree in trees.items():
        mine = rows.filter(pc.equal(rows.column("network"), name)).sort_by("begin")
        tables = Tables(
            _bits(mine, "up", tree),
            _bits(mine, "down", tree),
            _bits(mine, "held", tree),
            sum(  # type: ignore[arg-type]
                np.frombuffer(each, np.int64).reshape(-1, tree.brokers)
                for each in mine.column("counted").to_pylist()
            ),
        )
        known[name] = network_tables(tables, interests.parts, len(interests.predicates))
    return known


def _bits(rows: pa.Table, name: str, tree: OverlayTree) -> Words:
    # From a bytearray, so that the array is writable: read-only ones are another type to kernels.
    data = bytearray().join(rows.column(name).to_pylist())
    return np.frombuffer(data, np.uint64).reshape(-1, word_count(tree.brokers))


def _slice_starts(spark: SparkSession, count: int, size: int) -> DataFrame:
    """Return where slices start, a few per partition."""
    slices = -(-count // size)
    return spark.range(0, count, size, max(1, min(slices, 8)))


def _numbers(batches: Iterable[pa.RecordBatch]) -> Iterator[int]:
    for batch in batches:
        yield from batch.column(0).to_pylist()
