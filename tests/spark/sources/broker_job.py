"""A job from a broker to a broker that is killed and started again until it is done.

    python -m tests.spark.sources.broker_job FOLDER URL

It reads the events under the prefix `from`, judges them by FOLDER/index and publishes a match each
under the prefix `to`, with the checkpoint in FOLDER.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS = 100


def matches(events: "DataFrame", index: Path) -> "DataFrame":
    """Match the events of a broker, and publish the matches as events."""
    from pyspark.sql import functions as F

    from tamis.spark import match

    event = F.from_json("event", "n long, a long, b double, name string")
    found = match(events.select("sequence", event.alias("e")).select("sequence", "e.*"), index)
    columns = ("sequence", "n", "subscription", "index_version")
    return found.select(F.to_json(F.struct(*columns)).alias("event"))


def main(folder: Path, url: str) -> None:
    from tamis.spark import session
    from tamis.spark.sources.data_source import TamisSource

    spark = session("broker job", **{"spark.local.dir": str(folder / "local")})
    spark.dataSource.register(TamisSource)
    options = {"url": url, "prefix": "from", "rowsPerBatch": ROWS}
    events = spark.readStream.format("tamis").options(**options).load()
    query = (
        matches(events, folder / "index")
        .writeStream.format("tamis")
        .options(url=url, prefix="to", checkpointLocation=str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    (folder / "started").touch()
    query.awaitTermination()
    (folder / "done").touch()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
