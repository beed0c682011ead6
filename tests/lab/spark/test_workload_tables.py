"""Workloads drawn by Spark are those of one process, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tamis_lab.workloads.workload_catalogue import NAMES, workload_by_name

from tamis.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

# Over the end of a block of every workload.
ROWS = 16_500


@pytest.mark.parametrize("name", NAMES)
def test_subscriptions_equal_those_of_one_process(spark: SparkSession, name: str) -> None:
    from tamis_lab.spark.workload_tables import subscriptions

    frame = subscriptions(spark, name, ROWS, seed=7, partitions=3)
    assert frame.rdd.getNumPartitions() == 3
    expected = workload_by_name(name, 7, ROWS)
    assert (
        frame.toArrow().cast(expected.subscriptions_schema).equals(expected.subscriptions(0, ROWS))
    )


@pytest.mark.parametrize("name", NAMES)
def test_events_equal_those_of_one_process(spark: SparkSession, name: str) -> None:
    from tamis_lab.spark.workload_tables import events

    rows = 50 if name == "bloom2008" else 2_500
    frame = events(spark, name, rows, seed=7, partitions=3)
    expected = workload_by_name(name, 7)
    assert frame.toArrow().cast(expected.schema).equals(expected.table(0, rows))


def test_parameters_reach_the_workers(spark: SparkSession) -> None:
    from tamis_lab.spark.workload_tables import events, subscriptions

    parameters, drawn = {"predicates": 4, "relation": ">"}, {"scale": 3.0, "least": 9}
    expected = workload_by_name("atree2004", None, 40, parameters, drawn)
    frame = subscriptions(spark, "atree2004", 40, parameters=parameters)
    assert [row.selector for row in frame.collect()] == list(expected.workload.selectors())
    frame = events(spark, "atree2004", 60, parameters=parameters, drawn=drawn, partitions=2)
    assert frame.toArrow().cast(expected.schema).equals(expected.table(0, 60))


def test_invalid_arguments_are_refused(spark: SparkSession) -> None:
    from tamis_lab.spark.workload_tables import events, subscriptions

    with pytest.raises(InputError, match="did you mean 'selective'"):
        subscriptions(spark, "selectiv", 1)
    with pytest.raises(InputError, match="flights has 336,776 events, not 336,777"):
        events(spark, "flights", 336_777)
    with pytest.raises(InputError, match="partitions"):
        events(spark, "nulls", 1, partitions=0)
    assert subscriptions(spark, "nulls", 1).count() == 1
    assert events(spark, "nulls", 0).count() == 0
