"""`tamis match --spark`: match the events of a folder against an index, on Spark."""

from __future__ import annotations

import time

import typer

from tamis.cli.shared import console, exit_codes
from tamis.cli.shared.load import format_count
from tamis.cli.shared.match_output import MatchFormat
from tamis.cli.shared.options import BadLinePolicy
from tamis.cli.shared.spark_session import show_spark_progress, spark_session
from tamis.cli.shared.spark_tables import CORRUPT, read_table


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
    """Match the events, write the matches, and report a summary."""
    if index is None or out is None:
        raise typer.BadParameter("--spark needs --index (tamis compile --spark) and --out DIR")
    if format not in (None, MatchFormat.jsonl, MatchFormat.parquet):
        raise typer.BadParameter("--spark writes parquet or jsonl")
    lists = format is MatchFormat.jsonl
    out_format = "json" if lists else "parquet"
    errors = "error" if bad is BadLinePolicy.skip else None
    began = time.perf_counter()
    with spark_session(master, conf) as spark:
        from tamis.spark import match
        from tamis.spark.match.written_counts import count_written

        with show_spark_progress(spark, "events", quiet):
            table = read_table(spark, events, strict=bad is BadLinePolicy.fail)
            found = match(
                table,
                index,
                form="lists" if lists else "pairs",
                limit=limit,
                corrupt=CORRUPT if CORRUPT in table.columns else None,
                errors=errors,
            )
            found.write.format(out_format).save(out)
        pairs, skipped = count_written(found, out, out_format, errors=errors)
    if not quiet:
        seconds = time.perf_counter() - began
        console.note(
            f"{format_count(pairs, 'pair')}, {seconds:.2f} s, "
            f"{format_count(skipped, 'bad event')}, in {out}"
        )
    if skipped:
        raise typer.Exit(exit_codes.SOME_SKIPPED)
