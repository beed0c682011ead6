"""`tamis match --spark`: the events of a folder against an index, into another folder."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import typer

from tamis.cli.shared import console, exit_codes
from tamis.cli.shared.load import format_count
from tamis.cli.shared.match_output import MatchFormat
from tamis.cli.shared.options import BadLinePolicy
from tamis.cli.shared.spark_session import show_spark_progress, spark_session
from tamis.cli.shared.spark_tables import CORRUPT, read_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def match_on_spark(
    events: str,
    index: str | None,
    format: MatchFormat | None,
    out: str | None,
    limit: int | None,
    bad: BadLinePolicy,
    master: str | None,
    conf: list[str] | None,
    quiet: bool,
) -> None:
    """Match, write, and say how much it was."""
    if index is None or out is None:
        raise typer.BadParameter("--spark needs --index (tamis compile --spark) and --out DIR")
    if format not in (None, MatchFormat.jsonl, MatchFormat.parquet):
        raise typer.BadParameter("--spark writes parquet or jsonl")
    lists = format is MatchFormat.jsonl
    began = time.perf_counter()
    with spark_session(master, conf) as spark:
        from tamis.spark import match

        with show_spark_progress(spark, "events", quiet):
            table = read_table(spark, events, strict=bad is BadLinePolicy.fail)
            found = match(
                table,
                index,
                form="lists" if lists else "pairs",
                limit=limit,
                corrupt=CORRUPT if CORRUPT in table.columns else None,
                errors="error" if bad is BadLinePolicy.skip else None,
            )
            found.write.format("json" if lists else "parquet").save(out)
        pairs, skipped = _count_results(spark, out, lists, bad, found)
    if not quiet:
        seconds = time.perf_counter() - began
        console.note(
            f"{format_count(pairs, 'pair')}, {seconds:.2f} s, "
            f"{format_count(skipped, 'bad event')}, in {out}"
        )
    if skipped:
        raise typer.Exit(exit_codes.SOME_SKIPPED)


def _count_results(
    spark: SparkSession, out: str, lists: bool, bad: BadLinePolicy, found: DataFrame
) -> tuple[int, int]:
    """How many pairs there are, and events that could not be judged; as it stands in the files."""
    from pyspark.sql import functions as F

    format = "json" if lists else "parquet"
    read = spark.read.schema(found.schema).format(format).load(out)
    # Where an event was not judged there is no list, and Spark's size of none may be -1.
    size = F.greatest(F.size("subscriptions"), F.lit(0)) if lists else None
    pairs = F.count("subscription") if size is None else F.sum(size)
    faults = F.count("error") if bad is BadLinePolicy.skip else F.lit(0)
    row = read.agg(F.coalesce(pairs, F.lit(0)).alias("pairs"), faults.alias("faults")).first()
    assert row is not None  # an aggregate has one row
    return row.pairs, row.faults
