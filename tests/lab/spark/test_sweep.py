"""Functions over many inputs on Spark, and a table of results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
from tamis_lab.spark.sweep import map_inputs, write_results

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_each_input_has_its_answer_in_its_place(spark: SparkSession) -> None:
    inputs = [{"n": n} for n in range(5)]
    assert map_inputs(spark, sorted, inputs, tasks=2) == [["n"]] * 5
    assert map_inputs(spark, abs, [-3, 1, -2], tasks=8) == [3, 1, 2]
    assert map_inputs(spark, abs, [], tasks=2) == []


def test_results_become_a_row_for_each_metric(spark: SparkSession, tmp_path: Path) -> None:
    about = {"kind": "thesis", "key": "k", "parameters": {"engine": "block", "subscriptions": 5}}
    found = {"metrics": {"nodes": 3, "rate": 0.5, "refused": "text"}, "machine": {"load": 0.1}}
    lines = [about | found, about | {"kind": "bdd nodes", "failed": "took too long"}]
    write_results(spark, lines, tmp_path / "results")
    table = pq.read_table(tmp_path / "results").to_pylist()
    rows = {(row["kind"], row["metric"], row["value"], row["failed"]) for row in table}
    assert rows == {
        ("thesis", "nodes", 3.0, None),
        ("thesis", "rate", 0.5, None),
        ("bdd nodes", None, None, "took too long"),
    }
    assert dict(table[0]["parameters"]) == {"engine": "block", "subscriptions": "5"}
