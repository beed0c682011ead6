"""`tamis compile`: write an index of subscriptions, which opens at once."""

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
[cyan]tamis.Matcher.open("rules.index")[/cyan] opens it and stores later changes in it.
With --spark, every run writes the next version, and bad rows are always rejected.
The exit code is 3 if bad lines were skipped or rows were rejected.
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
            help="The index: a new folder, which appears when it is complete. With --spark: the "
            "folder of all versions, which every worker can read.",
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
            help="With --spark: write the rejected rows here, with position and reason, as JSON "
            "lines, .csv or .parquet.",
        ),
    ] = None,
    master: MasterOption = None,
    conf: ConfOption = None,
    quiet: QuietOption = False,
) -> None:
    """Compile subscriptions into an index, which opens at once whatever its size.

    Reading a million selectors takes a minute. Their index is mapped into memory in less
    than a second, and processes that open it share that memory.
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
