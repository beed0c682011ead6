"""A job from topic to topic, in a process of its own: a session takes jars only when it starts.

    python -m tests.spark.sources.kafka_job FOLDER SERVERS JAR...

It puts the lines of FOLDER/events into the topic `events`, matches that as a stream into the topic
`matches`, and writes what is there to FOLDER/matches.
"""

import sys
from pathlib import Path

from pyspark.sql import functions as F

from tamis.spark import compile, match, session

RULES = [
    ("cheap", "price < 10", 1),
    ("lyon", "user.city = 'Lyon' AND price > 3", 2),
    ("unknown", "user.city IS NULL", 0),
    ("either", "price BETWEEN 20 AND 25 OR name LIKE 'b%'", 3),
]
EVENT = "n long, price double, name string, user struct<city: string>, broken string"


def main(folder: Path, servers: str, jars: list[str]) -> None:
    spark = session("kafka", **{"spark.jars": ",".join(jars)})
    kafka = {"kafka.bootstrap.servers": servers}
    rules = spark.createDataFrame(RULES, "id string, selector string, priority int")
    assert compile(rules, folder / "index").rejected == 0
    spark.read.text(str(folder / "events")).write.format("kafka").options(
        **kafka, topic="events"
    ).save()

    records = (
        spark.readStream.format("kafka")
        .options(**kafka, subscribe="events", startingOffsets="earliest", maxOffsetsPerTrigger=250)
        .load()
    )
    text = F.col("value").cast("string")
    event = F.from_json(text, EVENT, {"columnNameOfCorruptRecord": "broken"})
    events = records.select(event.alias("event")).select("event.*")
    found = match(events, folder / "index", keep=["n", "broken"], corrupt="broken")
    query = (
        found.select(F.to_json(F.struct("*")).alias("value"))
        .writeStream.format("kafka")
        .options(**kafka, topic="matches", checkpointLocation=str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert len(query.recentProgress) > 1  # several micro-batches

    said = spark.read.format("kafka").options(**kafka, subscribe="matches").load()
    lines = [row.value for row in said.selectExpr("CAST(value AS string) AS value").collect()]
    (folder / "matches").write_text("\n".join(lines))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
