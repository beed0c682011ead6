"""`tamis stream`: match a stream of events on Spark against an index that may change."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from tamis.cli.shared import console
from tamis.cli.shared.load import format_count
from tamis.cli.shared.options import QuietOption
from tamis.cli.shared.spark_session import ConfOption, MasterOption, pairs, spark_session
from tamis.cli.shared.spark_tables import CORRUPT

EXAMPLES = """\
[bold]Examples[/bold]
  tamis stream --index rules --events in --out out --checkpoint state
  tamis stream -i rules -e in --schema "a INT" -o out --checkpoint state
  tamis stream -i rules -e in --once -o out --checkpoint state

With [cyan]--format kafka[/cyan], events are the values of Kafka messages, as JSON. This needs
--schema, [cyan]--option kafka.bootstrap.servers=host:9092[/cyan],
[cyan]--option subscribe=topic[/cyan] and Spark's Kafka connector, which
[cyan]--conf spark.jars.packages=…[/cyan] loads; see docs/guides/spark.md for an example.

It runs until Ctrl-C. The next run continues from the checkpoint, so every event is in the output
once. Each micro-batch is matched with the newest version of the index.
"""

_LOOK = 0.5


class StreamSource(StrEnum):
    """Where events come from."""

    json = "json"
    parquet = "parquet"
    kafka = "kafka"


class Sink(StrEnum):
    """The format of the output."""

    parquet = "parquet"
    json = "json"


class StreamForm(StrEnum):
    """A row per match, or a row per event."""

    pairs = "pairs"
    lists = "lists"


def stream(
    index: Annotated[
        str,
        typer.Option(
            "--index", "-i", metavar="DIR", help="An index made by [cyan]tamis compile[/cyan]."
        ),
    ],
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="DIR", help="The output folder, for matches.")
    ],
    checkpoint: Annotated[
        str, typer.Option(metavar="DIR", help="The folder for Spark's checkpoint.")
    ],
    events: Annotated[
        str | None,
        typer.Option(
            "--events", "-e", metavar="DIR", help="The folder in which files of events arrive."
        ),
    ] = None,
    format: Annotated[
        StreamSource,
        typer.Option(
            metavar="FORMAT",
            help="The format of the events: [cyan]json[/cyan] (lines), [cyan]parquet[/cyan] or "
            "[cyan]kafka[/cyan].",
        ),
    ] = StreamSource.json,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="An option of Spark's source, such as [cyan]maxFilesPerTrigger=1[/cyan]; may be "
            "repeated.",
        ),
    ] = None,
    schema: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMNS|FILE",
            help="The columns in Spark's DDL: [cyan]price DOUBLE, user STRUCT<city: "
            "STRING>[/cyan]; or a file that holds it. Default: inferred from the files present.",
        ),
    ] = None,
    form: Annotated[
        StreamForm,
        typer.Option(
            metavar="FORM",
            help="[cyan]pairs[/cyan] (a row per match) or [cyan]lists[/cyan] (a row per event).",
        ),
    ] = StreamForm.pairs,
    out_format: Annotated[
        Sink,
        typer.Option(
            metavar="FORMAT",
            help="The format of the output: [cyan]parquet[/cyan] or [cyan]json[/cyan].",
        ),
    ] = Sink.parquet,
    limit: Annotated[
        int | None, typer.Option(min=0, metavar="K", help="Return at most K matches per event.")
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="The interval of micro-batches, e.g. [cyan]'10 seconds'[/cyan]."
        ),
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", metavar="", help="Match the events present, then stop.")
    ] = False,
    master: MasterOption = None,
    conf: ConfOption = None,
    quiet: QuietOption = False,
) -> None:
    """Match a stream of events on Spark; rule changes apply from the next micro-batch.

    Events that cannot be read or evaluated get a reason in the column [cyan]error[/cyan].
    """
    if (events is None) is not (format is StreamSource.kafka):
        raise typer.BadParameter("give either --events DIR, or --format kafka with --option …")
    if once and every:
        raise typer.BadParameter("give only one of --once and --every")
    if format is StreamSource.kafka and schema is None:
        raise typer.BadParameter("--format kafka needs --schema")
    if schema is not None:
        schema = (Path(schema).read_text() if Path(schema).is_file() else schema).strip()
    options = pairs(option, "--option")
    with spark_session(master, conf) as spark:
        from tamis.spark import match
        from tamis.spark.sources.event_stream import read_event_stream

        table = read_event_stream(
            spark, format.value, events, schema=schema, corrupt=CORRUPT, options=options
        )
        corrupt = CORRUPT if CORRUPT in table.columns else None
        found = match(table, index, form=form.value, limit=limit, corrupt=corrupt)
        writer = found.writeStream.format(out_format.value)
        writer = writer.option("checkpointLocation", checkpoint)
        if once or every:
            trigger: dict[str, Any] = {"availableNow": True} if once else {"processingTime": every}
            writer = writer.trigger(**trigger)
        query = writer.start(out)
        try:
            _follow(query, index, quiet)
        finally:
            query.stop()


def _follow(query: Any, index: str, quiet: bool) -> None:
    """Report the progress of a query until it ends.

    Raises:
        StreamingQueryException: The query failed.
    """
    rows, last = 0, -1
    began = time.perf_counter()
    with _line(quiet) as say:
        while True:
            running = query.isActive
            for progress in query.recentProgress:
                if progress["batchId"] > last and progress["numInputRows"]:
                    last = progress["batchId"]
                    rows += progress["numInputRows"]
                    say(_batch_line(progress, index, query.id))
            if not running:
                break
            time.sleep(_LOOK)
    query.awaitTermination(_LOOK)  # it has ended, and raises if it failed
    if not quiet:
        seconds = time.perf_counter() - began
        console.note(f"{format_count(rows, 'event')}, {seconds:.2f} s")


def _batch_line(progress: Any, index: str, query: str) -> str:
    version = _version(index, query, progress["batchId"])
    return (
        f"batch {progress['batchId']}: {format_count(progress['numInputRows'], 'event')}, "
        f"{progress['processedRowsPerSecond']:,.0f} per second{version}"
    )


def _version(index: str, query: str, batch: int) -> str:
    """Return the index version of a batch as its tasks recorded it, if it is readable here."""
    try:
        number = int(Path(index, "pins", query, str(batch)).read_text())
    except (OSError, ValueError):
        return ""
    return f", index version {number}" if number else ""  # 0 is a saved matcher


@contextmanager
def _line(quiet: bool) -> Iterator[Any]:
    """Yield a function that shows a line: replaced in place on a terminal, else one per line."""
    err = console.stderr()
    if quiet:
        yield lambda text: None
    elif err.is_terminal:
        with err.status("waiting for events …") as status:
            yield lambda text: status.update(text)
    else:
        yield console.note
