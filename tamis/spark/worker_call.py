"""Small errands that a worker runs: only workers need to see the index.

Through Spark Connect the driver may be on another machine than the cluster, and has no
`sparkContext`; so what has to be known of files is asked of a worker.
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
    """Have one worker run an errand whose answer is JSON.

    Raises:
        TamisError: What the errand raised, as an InputError.
    """

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        try:
            said = {"answer": task()}
        except TamisError as error:
            said = {"error": str(error)}
        yield pa.RecordBatch.from_pydict({"said": [msgspec.json.encode(said).decode()]})

    rows = spark.range(1).coalesce(1).mapInArrow(run, "said string").collect()
    found = msgspec.json.decode(rows[0].said)
    if "error" in found:
        raise InputError(found["error"])
    return found["answer"]
