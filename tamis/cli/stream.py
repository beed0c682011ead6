"""`tamis stream`: events as they come against an index that may change meanwhile."""

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

Events from Kafka ([cyan]--format kafka[/cyan]) are the values of messages, as JSON. They need
--schema, [cyan]--option kafka.bootstrap.servers=host:9092[/cyan],
[cyan]--option subscribe=topic[/cyan], and Spark's connector, which
[cyan]--conf spark.jars.packages=…[/cyan] brings; docs/guides/spark.md has an example.

It runs until Ctrl-C and goes on from the checkpoint the next time: every event is in
the output once. A micro-batch is judged by the version of the index that is newest then.
"""

_LOOK = 0.5


class StreamSource(StrEnum):
    """Where events come from."""

    json = "json"
    parquet = "parquet"
    kafka = "kafka"


class Sink(StrEnum):
    """What to write."""

    parquet = "parquet"
    json = "json"


class StreamForm(StrEnum):
    """A row per match, or a row per event."""

    pairs = "pairs"
    lists = "lists"


def stream(
    index: Annotated[
        str,
        typer.Option("--index", "-i", metavar="DIR", help="What [cyan]tamis compile[/cyan] made."),
    ],
    out: Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="Where matches go.")],
    checkpoint: Annotated[
        str, typer.Option(metavar="DIR", help="Where Spark remembers how far it is.")
    ],
    events: Annotated[
        str | None,
        typer.Option("--events", "-e", metavar="DIR", help="A folder that files arrive in."),
    ] = None,
    format: Annotated[
        StreamSource,
        typer.Option(
            metavar="FORMAT",
            help="Of the events: [cyan]json[/cyan] (lines), [cyan]parquet[/cyan] or "
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
            help="The columns, in Spark's words: [cyan]price DOUBLE, user STRUCT<city: "
            "STRING>[/cyan]; or a file with that. Without it, as in the files that are there.",
        ),
    ] = None,
    form: Annotated[
        StreamForm,
        typer.Option(
            metavar="FORM", help="[cyan]pairs[/cyan]: a row per match; or [cyan]lists[/cyan]."
        ),
    ] = StreamForm.pairs,
    out_format: Annotated[
        Sink, typer.Option(metavar="FORMAT", help="[cyan]parquet[/cyan] or [cyan]json[/cyan].")
    ] = Sink.parquet,
    limit: Annotated[
        int | None, typer.Option(min=0, metavar="K", help="At most K matches per event.")
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="A micro-batch every [cyan]'10 seconds'[/cyan], say."),
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", metavar="", help="Take what is there, and end.")
    ] = False,
    master: MasterOption = None,
    conf: ConfOption = None,
    quiet: QuietOption = False,
) -> None:
    """Match events as they arrive; new rules count from the next micro-batch on.

    Events that cannot be read or judged are set aside: [cyan]error[/cyan] says why.
    """
    if (events is None) is not (format is StreamSource.kafka):
        raise typer.BadParameter("give --events DIR, or --format kafka with --option …")
    if once and every:
        raise typer.BadParameter("give one of --once and --every")
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
    """Say how it goes until it ends.

    Raises:
        StreamingQueryException: It failed.
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
    """The version that judged a batch, as its tasks wrote it down, if it is seen from here."""
    try:
        number = int(Path(index, "pins", query, str(batch)).read_text())
    except (OSError, ValueError):
        return ""
    return f", index version {number}" if number else ""  # 0 is a saved matcher


@contextmanager
def _line(quiet: bool) -> Iterator[Any]:
    """Something to say a line with: one that is replaced on a terminal, else one after another."""
    err = console.stderr()
    if quiet:
        yield lambda text: None
    elif err.is_terminal:
        with err.status("waiting for events …") as status:
            yield lambda text: status.update(text)
    else:
        yield console.note
