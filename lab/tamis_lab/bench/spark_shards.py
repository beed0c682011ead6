"""An index in shards, where a worker may hold only a part of it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tamis.spark import match
from tamis.spark.index.shard_files import is_sharded, signatures
from tamis.spark.index.versions import resolve
from tamis_lab.harness.fresh_process import run_in_fresh_process
from tamis_lab.harness.measure import Report, Row
from tamis_lab.harness.spark_setup import (
    put_events,
    read,
    seconds_to_compile,
    spark_session,
    write_output,
)
from tamis_lab.spark.worker_memory import workers_memory
from tamis_lab.workloads.selective import SelectiveWorkload

EVENTS = 200_000
SHARDS = 16

_MB = 1 << 20


def shards(size: int, say: Report) -> Iterator[Row]:
    """In one piece and in shards: events per second, and the memory of workers.

    The limit lies between the memory of a worker with shards and that with the whole index.
    """
    with tempfile.TemporaryDirectory(prefix="tamis-bench-") as folder:
        put_events(Path(folder) / "events", EVENTS)
        compile_s: dict[str, float] = {}
        peaks: list[float] = []
        for placement in ("replicate", "shard"):
            say(f"{size:,} subscriptions, {placement}: compiling …")
            compile_s[placement] = run_in_fresh_process(compile_placement, folder, size, placement)
        for limit in (None, 0):
            if limit == 0:
                limit = round(sum(peaks) / len(peaks))
            for placement in compile_s:
                say(f"{placement}, workers of {f'{limit:,} MB' if limit else 'any size'} …")
                row = run_in_fresh_process(match_placement, folder, placement, limit)
                peaks.append(row.get("worker_virtual_mb", 0))
                yield {
                    "subscriptions": size,
                    "placement": placement,
                    "compile_s": compile_s[placement],
                    "limit_mb": limit,
                    **row,
                }


def compile_placement(folder: str, size: int, placement: str) -> float:
    """Compile the index with a placement; return the seconds."""
    with spark_session(2) as (spark, _):
        into = Path(folder) / placement
        into.mkdir()
        return seconds_to_compile(spark, into, size, placement=placement, shard_size=size // SHARDS)


def match_placement(folder: str, placement: str, limit: int | None) -> Row:
    """Match all events; `limit` is for the address space of a worker, in MB."""
    index = Path(folder) / placement / "index"
    # Spark divides the memory of an executor by its cores.
    conf = {"spark.executor.pyspark.memory": f"{2 * limit}m"} if limit else {}
    seconds: list[float] = []
    row: Row = {"shards_per_event": _shards_per_event(index)}
    with spark_session(2, **{"spark.executor.cores": "2", **conf}) as (spark, out):
        for _ in range(3):
            begun = time.perf_counter()
            try:
                events = read(spark, Path(folder) / "events")
                write_output(match(events, index, keep=["id"], hide=["id"]), out)
            except Exception as error:  # Spark's, when a worker runs out of memory
                reason = "no memory" if "emory" in str(error) else type(error).__name__
                return {**row, "failed": reason}
            seconds.append(time.perf_counter() - begun)
        memory = workers_memory()
        rows = read(spark, out / "out").count()
    return {
        **row,
        "events_per_s": EVENTS / min(seconds),
        "rows_out": rows,
        "worker_private_mb": memory.private / memory.workers / _MB,
        "worker_virtual_mb": memory.largest / _MB,
    }


def _shards_per_event(index: Path) -> float:
    """Return the number of shards that an event is matched against, on average."""
    version = resolve(index).folder
    if not is_sharded(version):
        return 1.0
    found = signatures(version).candidate_mask(SelectiveWorkload(subscriptions=1).events(2048))
    return float(found.sum(axis=0).mean())
