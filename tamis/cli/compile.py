"""`tamis compile`: subscriptions into an index that opens at once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli.shared import console, exit_codes
from tamis.cli.shared.load import bad_line_hint, format_count, load
from tamis.cli.shared.options import (
    BadLinePolicy,
    BadOption,
    QuietOption,
    SchemaOption,
    Semantics,
    SemanticsOption,
    SubscriptionsHelp,
    read_schema,
)
from tamis.cli.shared.progress import Progress
from tamis.cli.shared.spark_session import (
    ConfOption,
    MasterOption,
    SparkOption,
    refuse_without_spark,
)

if TYPE_CHECKING:
    from tamis.events.records import BadLine

EXAMPLES = """\
[bold]Examples[/bold]
  tamis compile --subscriptions rules.jsonl --out rules.index
  tamis compile -s rules.csv --schema schema.json --out rules.index
  tamis match --index rules.index --events events.jsonl
  tamis compile --spark -s rules.parquet --out rules --rejects bad.jsonl

The index holds the selectors, the schema and the semantics. In Python,
[cyan]tamis.Matcher.open("rules.index")[/cyan] opens it; what is changed from then on is kept in it.
With --spark every run makes the next version, and bad rows are always set aside.
The exit code is 3 if bad lines were skipped, or rows rejected.
"""


def compile(
    subscriptions: Annotated[
        str, typer.Option("--subscriptions", "-s", metavar="FILE", help=SubscriptionsHelp)
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="The index: a new folder, which appears when it is complete; with --spark, the "
            "folder of its versions, which all workers see.",
        ),
    ],
    semantics: SemanticsOption = Semantics.sql,
    schema: SchemaOption = None,
    bad: BadOption = BadLinePolicy.fail,
    spark: SparkOption = False,
    rejects: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="With --spark: keep the rows that were not taken, with position and reason; "
            "JSON lines, or .csv, or .parquet.",
        ),
    ] = None,
    master: MasterOption = None,
    conf: ConfOption = None,
    quiet: QuietOption = False,
) -> None:
    """Make an index of subscriptions, which opens at once however many there are.

    A million selectors take a minute to read; the index of them is mapped into memory
    in less than a second, and processes that open it share it.
    """
    if spark:
        from tamis.cli.shared.spark_compile import compile_on_spark

        compile_on_spark(subscriptions, out, semantics.value, schema, rejects, master, conf, quiet)
        return
    refuse_without_spark(master, conf, **{"--rejects": rejects})
    from tamis.matcher import Matcher

    began = time.perf_counter()
    matcher = Matcher(read_schema(schema), semantics.value, "block")
    skipped = 0

    def on_bad(line: BadLine) -> None:
        nonlocal skipped
        skipped += 1
        console.report_skipped(str(line))

    with bad_line_hint(), Progress(quiet, answers_on_terminal=False) as bar:
        load(matcher, subscriptions, bad, on_bad, bar)
        bar.start("index")
        matcher.save(out)
    if not quiet:
        seconds = time.perf_counter() - began
        console.note(
            f"{format_count(len(matcher), 'subscription')}, {seconds:.2f} s, "
            f"{format_count(skipped, 'bad line')}"
        )
    if skipped:
        raise typer.Exit(exit_codes.SOME_SKIPPED)
