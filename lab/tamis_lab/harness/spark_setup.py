"""What benchmarks on Spark share: a session, events and subscriptions in Parquet, an index."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tamis.spark import compile, session
from tamis_lab.workloads.selective import SelectiveWorkload

if TYPE_CHECKING:
    from tamis.spark.session import DataFrame, SparkSession

FILE_EVENTS = 500_000
WARM_EVENTS = 200_000


@contextmanager
def spark_session(executors: int, **conf: str) -> Iterator[tuple[SparkSession, Path]]:
    """Start a session with a temporary folder; stop it and remove the folder at the end."""
    spark = session(
        "tamis bench",
        # Spark would print pages about generated code that is too large to compile.
        **{
            "spark.master": f"local[{executors}]",
            "spark.driver.memory": "4g",
            "spark.log.level": "OFF",
            **conf,
        },
    )
    try:
        with tempfile.TemporaryDirectory(prefix="tamis-bench-") as folder:
            yield spark, Path(folder)
    finally:
        spark.stop()


def put_events(folder: Path, count: int) -> None:
    """Write events of the selective workload, half a million to a file."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for number, first in enumerate(range(0, count, FILE_EVENTS)):
        rows = min(FILE_EVENTS, count - first)
        workload = SelectiveWorkload(subscriptions=1, seed=2025 + number)
        columns = {
            path[0]: found[0].data.cast(pa.int32())
            for path, found in workload.events(rows).columns.items()
        }
        ids = pa.array(np.arange(first, first + rows))
        pq.write_table(pa.table({"id": ids, **columns}), folder / f"{number:05d}.parquet")


def seconds_to_compile(spark: SparkSession, folder: Path, count: int, **how: Any) -> float:
    """Compile selectors of the selective workload from Parquet to an index; return seconds."""
    shutil.rmtree(folder / "subscriptions", ignore_errors=True)
    (folder / "subscriptions").mkdir()
    texts = SelectiveWorkload(subscriptions=count).selectors()
    first = 0
    while chunk := list(islice(texts, FILE_EVENTS // 4)):
        ids = pa.array(np.arange(first, first + len(chunk)))
        table = pa.table({"id": ids, "selector": chunk})
        pq.write_table(table, folder / "subscriptions" / f"{first:09d}.parquet")
        first += len(chunk)
    if not (folder / "few").exists():
        put_events(folder / "few", WARM_EVENTS)
    sample = read(spark, folder / "few").drop("id")
    rules = read(spark, folder / "subscriptions")
    return compile(rules, folder / "index", sample=sample, **how).seconds


def read(spark: SparkSession, folder: Path) -> DataFrame:
    """Read a folder of Parquet files."""
    return spark.read.parquet(folder.as_uri())


def write_output(frame: DataFrame, folder: Path) -> None:
    """Write a table to the folder `out`."""
    frame.write.mode("overwrite").parquet((folder / "out").as_uri())


def size_of(folder: Path) -> int:
    """Return the total size of the files in a folder, in bytes."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
