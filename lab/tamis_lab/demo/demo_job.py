"""The Spark job: compile alerts, match departures as a stream, change alerts meanwhile."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tamis.schema import Schema
from tamis.spark import Compiled, change, compile, match, session
from tamis.spark.session import java_home
from tamis_lab.demo.live_table import LiveTable
from tamis_lab.demo.micro_batches import Batch, finished_batches, observe_counts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

# Columns of a departure that the output keeps.
_KEEP = ("id", "month", "day")
_POLL = 0.1  # seconds


@dataclass(frozen=True)
class Folders:
    """The folders of a run; all of them are temporary."""

    scratch: Path

    @property
    def events(self) -> Path:
        """The input of the stream."""
        return self.scratch / "events"

    @property
    def index(self) -> Path:
        """The versions of the index."""
        return self.scratch / "index"

    @property
    def answers(self) -> Path:
        """The output of the stream."""
        return self.scratch / "answers"


@contextmanager
def start_spark(folders: Folders) -> Iterator[SparkSession]:
    """Start Spark, and stop it at the end."""
    os.environ["JAVA_HOME"] = str(java_home(vector=False))
    spark = session(
        "tamis demo",
        **{
            "spark.local.dir": str(folders.scratch / "local"),
            "spark.sql.warehouse.dir": str(folders.scratch / "warehouse"),
            # So that a small file is split between the cores.
            "spark.sql.files.openCostInBytes": "0",
        },
    )
    # PySpark's own handler calls Java in the middle of another call, and may take its answer.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield spark
    except BaseException:
        _silence_logs(spark)
        raise
    finally:
        spark.stop()


def _silence_logs(spark: SparkSession) -> None:
    """Stop Java from logging its interruption at length."""
    spark.sparkContext.setLogLevel("OFF")


def compile_alerts(
    spark: SparkSession, alerts: Path, typical: Path, schema: Schema, folders: Folders
) -> Compiled:
    """Compile version 1, laid out for some typical departures."""
    return compile(
        spark.read.parquet(str(alerts)),
        folders.index,
        schema=schema,
        sample=spark.read.parquet(str(typical)),
    )


def run_stream(
    spark: SparkSession, pieces: list[Path], changes: Path, folders: Folders, live: LiveTable
) -> tuple[list[Batch], Compiled]:
    """Match all departures; meanwhile compile version 2, which the stream picks up by itself.

    The second half of the departures is held back until version 2 is published, so that it always
    has some to match.
    """
    half = len(pieces) // 2
    folders.events.mkdir()
    _release(pieces[:half], folders.events)
    query = _query(spark, pieces[0], folders)
    aside = ThreadPoolExecutor(1)
    changing: Future[Compiled] | None = None
    held_back = pieces[half:]
    batches: list[Batch] = []
    try:
        while len(batches) < len(pieces):
            for batch in finished_batches(query, len(batches)):
                batches.append(batch)
                live.add(batch)
            if not query.isActive:
                raise query.exception() or RuntimeError("the stream ended unexpectedly")
            if changing is None and len(batches) >= half // 2:
                live.note("changing alerts, while the stream goes on …")
                changing = aside.submit(change, spark.read.parquet(str(changes)), folders.index)
            if held_back and changing is not None and changing.done():
                live.note(_version_text(changing.result()))
                _release(held_back, folders.events)
                held_back = []
            time.sleep(_POLL)
    except BaseException:
        _silence_logs(spark)
        raise
    finally:
        # Do not wait: after Ctrl-C the change ends with Spark.
        aside.shutdown(wait=False, cancel_futures=True)
        query.stop()
    assert changing is not None
    return batches, changing.result()


def _query(spark: SparkSession, like: Path, folders: Folders) -> StreamingQuery:
    schema = spark.read.parquet(str(_path_in(like, folders.events))).schema
    events = (
        spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folders.events))
    )
    found = match(events, folders.index, keep=_KEEP, form="lists")
    return (
        observe_counts(found)
        .writeStream.option("checkpointLocation", str(folders.scratch / "checkpoint"))
        .start(str(folders.answers))
    )


def _release(pieces: list[Path], folder: Path) -> None:
    """Publish departures to the stream: a rename makes a file appear whole."""
    for piece in pieces:
        os.rename(piece, _path_in(piece, folder))


def _path_in(piece: Path, folder: Path) -> Path:
    return folder / piece.name


def _version_text(made: Compiled) -> str:
    return (
        f"version {made.version} published after {made.seconds:.1f} s: {made.added:,} alerts "
        f"added, {made.removed:,} removed, {made.subscriptions:,} in total"
    )
