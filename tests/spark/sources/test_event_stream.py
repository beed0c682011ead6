"""Events that arrive as JSON in messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tamis.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def test_messages_are_parsed(spark: SparkSession) -> None:
    from pyspark.sql.types import StructType

    from tamis.spark.sources.event_stream import parse_messages

    columns = StructType.fromDDL("a INT, bad STRING")
    assert isinstance(columns, StructType)
    messages = spark.createDataFrame([(b'{"a": 1}',), (b"{",)], "value binary")
    rows = parse_messages(messages, columns, "bad").collect()
    assert [tuple(row) for row in rows] == [(1, None), (None, "{")]


def test_a_stream_needs_columns(spark: SparkSession) -> None:
    from tamis.spark.sources.event_stream import read_event_stream

    for schema, message in [(None, "kafka needs a schema"), ("INT", "lists columns")]:
        with pytest.raises(InputError, match=message):
            read_event_stream(spark, "kafka", None, schema=schema, corrupt="bad", options={})
