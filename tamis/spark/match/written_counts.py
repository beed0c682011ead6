"""Count what a match wrote, from the files it wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class WrittenCounts(NamedTuple):
    """What the files of a match hold.

    Attributes:
        pairs: The number of matches.
        bad_events: The number of events that could not be read or evaluated.
    """

    pairs: int
    bad_events: int


def count_written(
    result: DataFrame, path: str, format: str, *, errors: str | None
) -> WrittenCounts:
    """Count the matches in the files that a result of `tamis.spark.match` was written to.

    Reading the files is cheaper than counting the result, which would match all events again.

    Args:
        result: What `tamis.spark.match` returned, in either form.
        path: Where it was written.
        format: Of the files.
        errors: The column of the result for what is wrong with an event, if it has one.
    """
    from pyspark.sql import functions as F

    written = result.sparkSession.read.schema(result.schema).format(format).load(path)
    if "subscriptions" in result.columns:
        # A bad event has no list, and Spark's size of NULL may be -1.
        pairs = F.sum(F.greatest(F.size("subscriptions"), F.lit(0)))
    else:
        pairs = F.count("subscription")
    bad = F.lit(0) if errors is None else F.count(errors)
    row = written.agg(F.coalesce(pairs, F.lit(0)).alias("pairs"), bad.alias("bad")).first()
    assert row is not None  # an aggregate has one row
    return WrittenCounts(row.pairs, row.bad)
