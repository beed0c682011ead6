"""Run by test_connect.py in a process of its own: a classic session and one of Connect exclude
each other.

Everything through a Connect client: no `sparkContext`, no `_jvm`. What it found is in found.json.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from tamis.spark import backtest, change, compile, match, session
from tamis.spark.session import java_home

COLUMNS = "id string, selector string"
CHANGES = "change string, id string, selector string"


def main(folder: Path) -> None:
    # The client starts the server on this machine, which needs Java and Python.
    os.environ |= {
        "JAVA_HOME": str(java_home()),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    spark = session(**{"spark.remote": "local[2]"})
    index = folder / "index"
    found: dict[str, object] = {"session": type(spark).__module__}

    rules = spark.createDataFrame([("low", "a < 5"), ("odd", "a % 2 = 1"), ("?", "a =")], COLUMNS)
    done = compile(rules, index)
    found["compiled"] = [done.version, done.subscriptions, done.rejected]
    found["rejects"] = [[row.id, row.position] for row in done.rejects.collect()]

    events = spark.range(10).selectExpr("id AS a")
    rows = match(events, index).collect()
    found["batch"] = sorted([row.a, row.subscription, row.index_version] for row in rows)

    events.write.parquet(str(folder / "events"))
    changed = spark.createDataFrame([("remove", "odd", None)], CHANGES)
    found["changed"] = change(changed, index).version
    stream = spark.readStream.schema("a long").parquet(str(folder / "events"))
    query = (
        match(stream, index)
        .writeStream.option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / "out"))
    )
    query.awaitTermination()
    rows = spark.read.parquet(str(folder / "out")).collect()
    found["stream"] = sorted([row.a, row.subscription, row.index_version] for row in rows)

    tested = backtest(events, index, index, current_version=1, key="a", scratch=folder)
    found["backtest"] = [tested.gained, tested.lost]
    spark.stop()
    (folder / "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
