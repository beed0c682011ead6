"""A stream of events from files, or from messages that hold JSON (Kafka)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tamis.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

KAFKA = "kafka"


def read_event_stream(
    spark: SparkSession,
    format: str,
    path: str | None,
    *,
    schema: str | None,
    corrupt: str,
    options: Mapping[str, str],
) -> DataFrame:
    """Return events as a streaming DataFrame.

    Args:
        spark: The session.
        format: "json", "parquet" or "kafka".
        path: The folder of the files; None for Kafka.
        schema: The columns as Spark's DDL, such as `price DOUBLE, city STRING`; None to take
            those of the files that exist. Kafka needs it.
        corrupt: The column for text that cannot be read; formats of text get it.
        options: Of Spark's source.

    Raises:
        InputError: The schema is not a list of columns, or there is nothing to infer it from.
    """
    columns = _columns(spark, format, path, schema, corrupt)
    reader = spark.readStream.format(format).options(**options)
    if format == KAFKA:
        return parse_messages(reader.load(), columns, corrupt)
    return reader.schema(columns).load(path)


def parse_messages(messages: DataFrame, columns: StructType, corrupt: str) -> DataFrame:
    """Return the events that the values of messages hold as JSON.

    Args:
        messages: A table with a column `value` of text or bytes, as Kafka's source gives it.
        columns: The columns of the events, the corrupt one among them.
        corrupt: The column for a value that cannot be read.
    """
    from pyspark.sql import functions as F

    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": corrupt}
    event = F.from_json(F.col("value").cast("string"), columns, options)
    return messages.select(event.alias("event")).select("event.*")


def _columns(
    spark: SparkSession, format: str, path: str | None, schema: str | None, corrupt: str
) -> StructType:
    from pyspark.sql.types import StringType, StructType

    if schema is not None:
        columns = StructType.fromDDL(schema)
        if not isinstance(columns, StructType):
            raise InputError(f"a schema lists columns, such as 'a INT, b STRING', not {schema!r}")
    elif path is not None:
        columns = spark.read.format(format).load(path).schema
    else:
        raise InputError(f"a stream from {format} needs a schema")
    if not columns.fields:
        raise InputError(
            "there are no events yet to infer the columns from; give a schema", path or ""
        )
    if format != "parquet" and corrupt not in columns.fieldNames():
        columns = StructType([*columns.fields]).add(corrupt, StringType())
    return columns
