"""Run small calls on a worker: only workers need access to the index.

With Spark Connect the driver may be on another machine than the cluster, and has no
`sparkContext`; so questions about files are answered by a worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from tamis.errors import InputError, TamisError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_on_worker(spark: SparkSession, task: Callable[[], Any]) -> Any:
    """Run a task on one worker; its result must be JSON.

    Raises:
        InputError: The task raised a TamisError.
    """

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        try:
            reply = {"result": task()}
        except TamisError as error:
            reply = {"error": str(error)}
        yield pa.RecordBatch.from_pydict({"reply": [msgspec.json.encode(reply).decode()]})

    rows = spark.range(1).coalesce(1).mapInArrow(run, "reply string").collect()
    reply = msgspec.json.decode(rows[0].reply)
    if "error" in reply:
        raise InputError(reply["error"])
    return reply["result"]
