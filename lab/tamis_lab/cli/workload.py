"""`tamis workload`: the subscriptions and events of a workload, as files."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli.shared import console
from tamis.cli.shared.options import QuietOption
from tamis.cli.shared.progress import Progress
from tamis.cli.shared.spark_session import (
    ConfOption,
    MasterOption,
    SparkOption,
    pairs,
    refuse_without_spark,
    show_spark_progress,
    spark_session,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from tamis_lab.workloads.workload_request import WorkloadRequest

EXAMPLES = """\
[bold]Examples[/bold]
  tamis workload                              list the workloads and their parameters
  tamis workload selective --out work --subscriptions 100000 --events 10000
  tamis workload atree2004 -o work --set predicates=10 --set operators=mixed \\
      --set 'relation=>' --snps 0.4 --smpe 0.2
  tamis workload flights -o work --format jsonl --events 1000
  tamis workload selective -o big --subscriptions 10000000 --events 100000000 --spark
  tamis match --subscriptions work/subscriptions.parquet --events work/events.parquet

workload.json, beside the files, records the parameters and what was measured: the fraction of the
subscriptions that an event matches, and for atree2004 SNPS and SMPE. The same seed and parameters
give the same files. With --spark each table is a folder of part files, for [cyan]tamis compile
--spark[/cyan] and [cyan]tamis match --spark[/cyan].
"""

# Rows, and cells where rows are wide, that are generated and written at a time.
_ROWS, _CELLS = 1 << 16, 4_000_000


class WorkloadFormat(StrEnum):
    """The format of the files."""

    parquet = "parquet"
    jsonl = "jsonl"


def workload(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="The workload; without it, all are listed."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="DIR", help="Folder for the files; created if it does not exist."
        ),
    ] = None,
    subscriptions: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of subscriptions.")
    ] = 10_000,
    events: Annotated[int, typer.Option(min=0, metavar="N", help="Number of events.")] = 10_000,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="Replaces the workload's own seed.", show_default=False
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A parameter of the workload; may be repeated.",
            show_default=False,
        ),
    ] = None,
    snps: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            metavar="SHARE",
            help="atree2004: fraction of a subscription's inner nodes that others share.",
            show_default=False,
        ),
    ] = None,
    smpe: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            metavar="SHARE",
            help="atree2004: fraction of the subscriptions that an event matches.",
            show_default=False,
        ),
    ] = None,
    format: Annotated[
        WorkloadFormat,
        typer.Option(metavar="NAME", help="[cyan]parquet[/cyan] or [cyan]jsonl[/cyan]."),
    ] = WorkloadFormat.parquet,
    spark: SparkOption = False,
    master: MasterOption = None,
    conf: ConfOption = None,
    quiet: QuietOption = False,
) -> None:
    """Write the subscriptions and events of a workload to files, for trials and benchmarks."""
    if name is None:
        _list()
        return
    if out is None:
        raise typer.BadParameter("name the folder for the files: --out DIR")
    if not spark:
        refuse_without_spark(master, conf)
    elif format is not WorkloadFormat.parquet:
        raise typer.BadParameter("--spark writes Parquet only")
    from tamis.errors import InputError
    from tamis_lab.workloads.workload_request import request_workload

    began = time.perf_counter()
    with Progress(quiet, answers_on_terminal=False) as bar:
        bar.start("parameters")
        made = request_workload(
            name,
            seed=seed,
            subscriptions=subscriptions,
            texts=pairs(set_, "--set"),
            snps=snps,
            smpe=smpe,
        )
        length = made.tables.length
        if length is not None and events > length:
            raise InputError(f"{name} has {length:,} events, not {events:,}", "--events")
        try:
            out.mkdir(parents=True, exist_ok=True)
            if not spark:
                _write(made, out, events, format, bar)
        except OSError as error:
            raise InputError(error.strerror or str(error), str(out)) from error
        bar.start("measuring")
        facts = made.facts(events)
    if spark:
        _write_by_spark(made, out, events, master, conf, quiet)
    _describe(made, out, events, facts)
    if not quiet:
        shown = ", ".join(f"{key} {value:.3%}" for key, value in facts.items())
        console.note(
            f"{subscriptions:,} subscriptions and {events:,} events in {out}, "
            f"{time.perf_counter() - began:.1f} s; {shown}"
        )


def _list() -> None:
    from tamis_lab.workloads.workload_catalogue import NAMES, description_of
    from tamis_lab.workloads.workload_request import parameters_as_text

    for name in NAMES:
        console.stdout().print(f"{name:<10}  {description_of(name)}", soft_wrap=True)
        parameters = parameters_as_text(name)
        if parameters:
            console.stdout().print(f"{'':<10}  {parameters}", soft_wrap=True, style="dim")


def _describe(made: WorkloadRequest, out: Path, events: int, facts: dict[str, object]) -> None:
    from tamis import __version__

    described = {
        **made.description(),
        "event_count": events,
        "measured": facts,
        "version": __version__,
    }
    text = json.dumps(described, indent=2, ensure_ascii=False)
    (out / "workload.json").write_text(text + "\n", encoding="utf-8")


def _write(
    made: WorkloadRequest, out: Path, events: int, format: WorkloadFormat, bar: Progress
) -> None:
    listed = made.tables
    tables = (
        ("subscriptions", listed.size, listed.subscriptions_schema, listed.subscriptions),
        ("events", events, listed.schema, listed.table),
    )
    for what, count, schema, table in tables:
        bar.start(what)
        parts = _parts(table, count, max(1, min(_ROWS, _CELLS // len(schema))), bar)
        file = out / f"{what}.{format.value}"
        # A temporary name until the file is complete: a partial file would look like a whole one.
        unfinished = file.with_name(f".{file.name}.unfinished")
        try:
            _WRITERS[format](unfinished, schema, parts)
            unfinished.replace(file)
        finally:
            unfinished.unlink(missing_ok=True)


def _parts(
    table: Callable[[int, int], pa.Table], count: int, step: int, bar: Progress
) -> Iterator[pa.Table]:
    for start in range(0, count, step):
        done = min(count, start + step)
        yield table(start, done - start)
        bar.update(done, done / count)


def _write_parquet(file: Path, schema: pa.Schema, parts: Iterator[pa.Table]) -> None:
    import pyarrow.parquet as pq

    with pq.ParquetWriter(file, schema) as writer:
        for part in parts:
            writer.write_table(part)


def _write_jsonl(file: Path, schema: pa.Schema, parts: Iterator[pa.Table]) -> None:
    import msgspec

    encode = msgspec.json.Encoder().encode
    with file.open("wb") as lines:
        for part in parts:
            for row in part.to_pylist():
                # Leave out missing attributes instead of writing null.
                lines.write(encode({k: v for k, v in row.items() if v is not None}) + b"\n")


_WRITERS: dict[WorkloadFormat, Callable[[Path, pa.Schema, Iterator[pa.Table]], None]] = {
    WorkloadFormat.parquet: _write_parquet,
    WorkloadFormat.jsonl: _write_jsonl,
}


def _write_by_spark(
    made: WorkloadRequest,
    out: Path,
    count: int,
    master: str | None,
    conf: list[str] | None,
    quiet: bool,
) -> None:
    with spark_session(master, conf) as session:
        from tamis_lab.spark.workload_tables import events, subscriptions

        listed = made.tables
        seed = listed.workload.seed
        parameters = made.parameters
        frames = {
            "subscriptions": subscriptions(
                session, made.name, listed.size, seed=seed, parameters=parameters
            ),
            "events": events(
                session, made.name, count, seed=seed, parameters=parameters, drawn=listed.drawn
            ),
        }
        for what, frame in frames.items():
            with show_spark_progress(session, what, quiet):
                url = (out / f"{what}.parquet").absolute().as_uri()
                frame.write.mode("overwrite").parquet(url)
