"""Apply a function to many inputs, one task each, and write results as a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from tamis.spark.session import DataFrame, SparkSession

_RESULTS = (
    "kind string, key string, parameters map<string, string>, metric string, value double, "
    "failed string, seconds double, load double"
)


def map_inputs(
    spark: SparkSession, function: Callable[[Any], Any], inputs: Sequence[Any], tasks: int
) -> list[Any]:
    """Return what a function returns for each input, in order; both must be JSON values.

    Args:
        spark: The session.
        function: A function of a module that the workers can import.
        inputs: Its arguments.
        tasks: How many run at the same time, at most.
    """
    if not inputs:
        return []
    rows = [(number, json.dumps(given)) for number, given in enumerate(inputs)]
    work = spark.createDataFrame(rows, "number int, given string")
    parts = work.repartitionByRange(max(1, min(tasks, len(rows))), "number")

    def call_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for row in batch.to_pylist():
                found = json.dumps(function(json.loads(row["given"])))
                yield pa.RecordBatch.from_pydict(
                    {
                        "number": pa.array([row["number"]], pa.int32()),
                        "found": pa.array([found], pa.string()),
                    }
                )

    found = parts.mapInArrow(call_batches, "number int, found string").collect()
    return [json.loads(row["found"]) for row in sorted(found, key=lambda row: int(row["number"]))]


def results_table(spark: SparkSession, lines: Sequence[Mapping[str, Any]]) -> DataFrame:
    """Return results as a table with a row for each metric; a failed point has one row."""
    rows: list[tuple[Any, ...]] = []
    for line in lines:
        parameters = {name: str(value) for name, value in line["parameters"].items()}
        about = (line["kind"], line["key"], parameters)
        load = line.get("machine", {}).get("load")
        rest = (line.get("failed"), line.get("seconds"), load)
        metrics = {
            name: float(value)
            for name, value in line.get("metrics", {}).items()
            if isinstance(value, int | float)
        }
        rows += [(*about, name, value, *rest) for name, value in metrics.items()]
        if not metrics:
            rows.append((*about, None, None, *rest))
    return spark.createDataFrame(rows, _RESULTS)


def write_results(spark: SparkSession, lines: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Write the results as Parquet, partitioned by kind."""
    table = results_table(spark, lines).repartition(1)
    table.write.mode("overwrite").partitionBy("kind").parquet(folder.absolute().as_uri())
