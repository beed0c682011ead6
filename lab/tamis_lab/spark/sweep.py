"""Any function over many inputs, one task each: a table of work in, a table of findings out."""

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
    """What the function gives for each input, in their order; both are JSON's.

    Args:
        spark: Where it runs.
        function: Of a module that the workers can import.
        inputs: What it is called with.
        tasks: How many run side by side, at most.
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
    """Lines of results as a table with a row for each metric; one that failed has one row."""
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
    """Write the table as Parquet, by kind."""
    table = results_table(spark, lines).repartition(1)
    table.write.mode("overwrite").partitionBy("kind").parquet(folder.absolute().as_uri())
