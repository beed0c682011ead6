"""A streaming job that is killed and started again until it is done.

    python -m tests.spark.match.stream_job FOLDER

It reads FOLDER/events (JSON lines, a file per micro-batch), judges them by FOLDER/index and writes
FOLDER/out (Parquet), with the checkpoint next to it. A micro-batch whose events have a `stop`
waits, after its tasks have begun, until FOLDER/go-STOP is there: time to change rules, or to kill.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

EVENTS = "n long, a long, b double, name string, stop long, broken string"


def holding(folder: Path) -> Callable[[object], int]:
    """Report the call, and return when the test allows it; a function for selectors."""

    def hold(stop: object) -> int:
        if stop is not None:
            (folder / f"holding-{stop}").touch()
            while not (folder / f"go-{stop}").exists():
                time.sleep(0.02)
        return 0

    return hold


def main(folder: Path) -> None:
    from tamis.spark import match, session

    # Small splits: a file is several tasks, more than can run at once.
    conf = {"spark.sql.files.maxPartitionBytes": "2k", "spark.local.dir": str(folder / "local")}
    spark = session("streamer", **conf)
    events = spark.readStream.option("maxFilesPerTrigger", 1).json(
        str(folder / "events"), EVENTS, columnNameOfCorruptRecord="broken"
    )
    found = match(events, folder / "index", corrupt="broken", functions={"hold": holding(folder)})
    query = (
        found.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / "out"))
    )
    (folder / "started").touch()
    query.awaitTermination()
    (folder / "done").touch()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
