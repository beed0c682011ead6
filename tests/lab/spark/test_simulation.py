"""The simulation counts the same as the reference network, which sends each message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tamis_lab.simulation.job.event_walk import FILTERED, STRATEGIES, PublishedEvents
from tamis_lab.simulation.job.filter_layout import colliding_pairs
from tamis_lab.simulation.job.findings import counter_arrays, events_line, tables_line
from tamis_lab.simulation.job.interests import number_interests, split_selector
from tamis_lab.simulation.job.local_simulation import simulate_locally
from tamis_lab.simulation.topology import OverlayTree, renumber_tree, topology
from tamis_lab.workloads.overlay_workload import OverlayWorkload

from tamis.bloom.filter import Bloom
from tamis.bloom.hashing import Shape
from tamis.errors import InputError
from tamis.matches import Matches
from tests.lab.spark.overlays import by_messages, by_sets, counted_by_messages
from tests.routing.networks import any_events, conjunctions, selectors, simple, trees
from tests.soak import count, only_in_soak

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHAPES = [Shape(1 << 14, 4), Shape(3, 2), Shape(40, 3), Shape(1, 1), Shape(200, 1)]
on_spark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def agree(tree: OverlayTree, subscriptions: Any, events: Any, shapes: list[Shape]) -> None:
    found = by_sets(list(STRATEGIES), shapes, tree, subscriptions, events)
    for shape in shapes:
        for strategy in STRATEGIES:
            if shape is not shapes[0] and strategy not in FILTERED:
                continue
            expected = by_messages(strategy, shape, tree, subscriptions, events)
            got = found[strategy, shape]
            for name, value in expected.items():
                same = np.array_equal(got[name], value)
                assert same, (strategy, shape, name, value, got[name])


@settings(max_examples=count(40, 3000))
@given(data=st.data())
def test_counts_equal_those_of_the_reference_network(data: st.DataObject) -> None:
    links = data.draw(trees(8))
    tree, _ = renumber_tree([-1, *(above for above, _ in links)])
    brokers = st.integers(0, tree.brokers - 1)
    wanted = st.one_of(conjunctions, simple, selectors)
    subscriptions = data.draw(st.lists(st.tuples(brokers, wanted), min_size=1, max_size=14))
    events = data.draw(st.lists(st.tuples(brokers, any_events), min_size=1, max_size=6))
    shapes = data.draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=2, unique=True))
    agree(tree, subscriptions, events, shapes)


@pytest.mark.parametrize(
    ("name", "shape"),
    [("random", Shape(256, 2)), pytest.param("line", Shape(64, 4), marks=only_in_soak)],
)
def test_counts_are_equal_with_more_brokers_than_bits_in_a_word(name: str, shape: Shape) -> None:
    # Brokers far from each other have different predicates, so that their filters differ.
    workload = OverlayWorkload(brokers=70, subscriptions=250, selectors=120, names=25, local=1.0)
    subscriptions, events = rows_of(workload, 40)
    agree(topology(name, 70, 3), subscriptions, events, [shape])


def test_a_selector_too_large_to_split_attracts_all_events() -> None:
    tests = ", ".join(f"a{n} = {n}" for n in range(12))
    subscriptions = [(0, "a = 1"), (2, f"AT LEAST 6 OF ({tests})"), (3, "b = 1")]
    events = [(1, {"a": 1}), (3, {"b": 1}), (0, {f"a{n}": n for n in range(6)})]
    agree(topology("line", 4), subscriptions, events, SHAPES[:2])


def test_equivalent_selectors_are_sent_once() -> None:
    subscriptions = [(1, "a = 1 AND b = 2"), (2, "b = 2 AND a = 1"), (0, "c = 1")]
    events = [(1, {"a": 1}), (2, {"a": 1, "b": 2}), (0, {"a": 1, "b": 2})]
    for order in (subscriptions, subscriptions[::-1]):
        agree(topology("line", 3), order, events, SHAPES)


def test_colliding_predicates_are_counted() -> None:
    interests = number_interests(split_selector(f"a = {n}") for n in range(120))
    shape = Shape(16, 2)
    blooms = [Bloom.of(shape, [int(key)]) for key in interests.keys]
    pairs = [(x, y) for x in range(120) for y in range(x)]
    assert (
        colliding_pairs(interests.keys, shape) == sum(blooms[x] == blooms[y] for x, y in pairs) > 0
    )


def test_a_false_negative_of_a_filter_is_counted() -> None:
    """An engine that says a selector holds, and not its predicate, cannot be right."""
    shape = Shape(64, 2)
    walker = simulate_locally(
        {"line": topology("line", 2)}, [(0, "a = 1"), (1, "b = 1")], [], [shape]
    ).walker
    one, none = np.zeros(1, np.int64), np.zeros(0, np.int64)
    for found, missed in ((none, 0), (one, 1)):
        matches = Matches(1, found, found, pa.array([0, 1, 2, 3]), np.zeros(4, np.int64))
        walker.send(PublishedEvents(np.zeros(1, np.int32), np.ones(1, np.int32), matches))
        counted = walker.counted["line", shape][STRATEGIES["edge"]]
        assert events_line(counted)["missed_by_filters"] == missed


def rows_of(workload: OverlayWorkload, events: int) -> tuple[Any, Any]:
    subscriptions = [
        (row["broker"], row["selector"]) for row in workload.subscriptions_table().to_pylist()
    ]
    published = workload.events_table(events).to_pylist()
    return subscriptions, [(row["broker"], json.loads(row["event"])) for row in published]


class TestOnSpark:
    """Tables in, tables out."""

    pytestmark = on_spark

    def test_counts_on_spark_equal_those_of_the_reference_network(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        from tamis_lab.simulation.job.simulation_job import prepare, route_events
        from tamis_lab.spark.workload_tables import overlay_events, overlay_subscriptions

        workload = OverlayWorkload(brokers=9, subscriptions=400, selectors=80, names=15)
        networks = {name: topology(name, 9, 4) for name in ("random", "star")}
        shapes = [Shape(128, 2), Shape(1 << 14, 4)]
        prepared = prepare(overlay_subscriptions(spark, workload, 3), networks, tmp_path)
        sent = route_events(overlay_events(spark, workload, 60, 3), prepared, shapes, [*STRATEGIES])
        found = counter_arrays(sent.toArrow().to_pylist(), 9)
        subscriptions, events = rows_of(workload, 60)
        predicates = len(prepared.interests.predicates)
        for name, tree in networks.items():
            delivered = set()
            for strategy, shape in [(s, shapes[0]) for s in STRATEGIES] + [
                (s, shapes[1]) for s in FILTERED
            ]:
                expected = by_messages(strategy, shape, tree, subscriptions, events)
                counted = found[name, strategy, shape.m, shape.k]
                assert np.array_equal(counted_by_messages(counted), expected["events"])
                line = events_line(counted)
                assert line["evaluations"] == expected["evaluations"] / 60
                assert line["missed_by_filters"] == 0
                delivered.add(line["deliveries_in_all"])
                told = tables_line(strategy, tree, prepared.tables[name], predicates)
                assert told["telling_messages"] == sum(map(sum, expected["messages"]))
                assert told["table_from_neighbours"] == sum(map(sum, expected["told"]))
            assert len(delivered) == 1 and delivered.pop() > 0

    def test_unknown_brokers_are_refused(self, spark: SparkSession, tmp_path: Path) -> None:
        from tamis_lab.simulation.job.simulation_job import prepare

        rows = spark.createDataFrame(
            [(0, 0, "a = 1"), (1, 2, "a = 1")], "number long, broker int, selector string"
        )
        with pytest.raises(InputError, match="no broker 2; they are 0 to 1"):
            prepare(rows, {"line": topology("line", 2)}, tmp_path)

    def test_a_network_in_a_table(self, spark: SparkSession) -> None:
        from tamis_lab.simulation.job.broker_table import brokers_of

        def of(rows: list[tuple[str, str | None]]) -> Any:
            return brokers_of(spark.createDataFrame(rows, "broker string, parent string"))

        found = of([("rome", "lyon"), ("paris", None), ("lyon", "paris"), ("bonn", "paris")])
        assert found.names[0] == "paris" and found.tree.brokers == 4
        numbers = {row.name: row.broker for row in found.table.collect()}
        assert numbers == {name: number for number, name in enumerate(found.names)}
        assert found.tree.parent[numbers["rome"]] == numbers["lyon"]
        for rows, reason in [
            ([("a", None), ("a", "a")], "one row"),
            ([("a", None), ("b", "c")], "parent 'c' is not a broker"),
            ([("a", None), ("b", "c"), ("c", "b")], "loop"),
        ]:
            with pytest.raises(InputError, match=reason):
                of(rows)
        with pytest.raises(InputError, match="no column 'parent'"):
            brokers_of(spark.range(1).withColumnRenamed("id", "broker"))
