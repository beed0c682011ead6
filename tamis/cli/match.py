"""`tamis match`: match the events of a file against subscriptions."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli.shared import console, exit_codes
from tamis.cli.shared.load import bad_line_hint, format_count, load
from tamis.cli.shared.match_output import MatchFormat, open_answers
from tamis.cli.shared.options import (
    SEMANTICS,
    BadLinePolicy,
    BadOption,
    QuietOption,
    SchemaOption,
    Semantics,
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
    from tamis.matcher import Matcher

EXAMPLES = """\
[bold]Examples[/bold]
  tamis match --subscriptions rules.jsonl --events events.jsonl
  tamis match -s rules.txt -e events.csv.gz --bad skip --limit 3
  tamis match -s rules.csv -e events.parquet --format parquet --out answers/
  tamis match -s rules.txt -e events.csv --format counts
  tamis match --index rules.index -e events.jsonl
  tamis match -s rules.txt -e events.csv --costs --out answers/
  tamis match --spark --index rules -e events/ --format parquet --out answers
  tail -f app.log.jsonl | tamis match -s rules.txt -e - --format jsonl

Events are numbered from 0 in the order of the file; bad lines count too.
A CSV column is one attribute, even if its name has dots, unless the schema declares such a path.
With --spark, events are files or folders of Parquet, JSON lines or CSV. The output keeps their
columns; with --bad skip, bad events have a reason in the column [cyan]error[/cyan].
The exit code is 3 if bad lines were skipped.
"""


def match(
    events: Annotated[
        str,
        typer.Option(
            "--events",
            "-e",
            metavar="FILE",
            help="The events: JSON lines, CSV or Parquet; [cyan]-[/cyan]: JSON lines on stdin.",
        ),
    ],
    subscriptions: Annotated[
        str | None, typer.Option("--subscriptions", "-s", metavar="FILE", help=SubscriptionsHelp)
    ] = None,
    index: Annotated[
        str | None,
        typer.Option(
            "--index",
            "-i",
            metavar="DIR",
            help="An index made by [cyan]tamis compile[/cyan], instead of --subscriptions.",
        ),
    ] = None,
    semantics: Annotated[Semantics | None, SEMANTICS] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The matching algorithm; all of them give the same matches."
        ),
    ] = None,
    schema: SchemaOption = None,
    format: Annotated[
        MatchFormat | None,
        typer.Option(
            metavar="FORMAT",
            help="[cyan]table[/cyan] (for people), [cyan]jsonl[/cyan] (a line per event), "
            "[cyan]parquet[/cyan] (a row per match; needs --out) or [cyan]counts[/cyan] (how many "
            "events each subscription matched). Default: a table on a terminal, otherwise jsonl.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|FILE",
            help="Write to this file, or to [cyan]matches.jsonl[/cyan] (or .parquet, or "
            "[cyan]counts.jsonl[/cyan]) in this directory, instead of stdout. The file appears "
            "when it is complete.",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="K", help="Return at most K matches per event: the first ones."
        ),
    ] = None,
    bad: BadOption = BadLinePolicy.fail,
    costs: Annotated[
        bool,
        typer.Option(
            "--costs",
            metavar="",
            help="Finally list the most expensive subscriptions on stderr.",
        ),
    ] = False,
    spark: SparkOption = False,
    master: MasterOption = None,
    conf: ConfOption = None,
    quiet: QuietOption = False,
) -> None:
    r"""Match events against subscriptions; matches of high priority come first.

    Matches go to stdout and a summary to stderr. With jsonl, each event is a line
    [cyan]{"event": 0, "matches": \["id", …]}[/cyan]. With counts, each subscription is a line
    [cyan]{"subscription": "id", "events": 2}[/cyan], or a table row on a terminal.
    """
    if (subscriptions is None) is (index is None):
        raise typer.BadParameter("give one of --subscriptions and --index")
    if subscriptions == events == "-":
        raise typer.BadParameter("only one of --subscriptions and --events can be stdin")
    if spark:
        from tamis.cli.shared.spark_match import match_on_spark

        _refuse_with_spark(schema, semantics, engine, costs or None)
        match_on_spark(events, index, format, out, limit, bad, master, conf, quiet)
        return
    refuse_without_spark(master, conf)
    from tamis.events.files import read_events

    began = time.perf_counter()
    matcher = _matcher(schema, semantics, engine, index)
    if costs:
        matcher.costs()  # an engine without counters must raise now, not at the end
    skipped = event_count = pair_count = 0

    def on_bad(line: BadLine) -> None:
        nonlocal skipped
        skipped += 1
        console.report_skipped(str(line))

    with (
        bad_line_hint(),
        open_answers(format, out, matcher) as answers,
        Progress(quiet, answers.on_terminal) as bar,
    ):
        if subscriptions is not None:
            load(matcher, subscriptions, bad, on_bad, bar)
        bar.start("events")
        chunks = read_events(events, matcher.schema, matcher.semantics, bad.value, on_bad)
        for numbers, batch, fraction in chunks:
            matches = matcher.match_batch(batch, limit)
            answers.write(numbers, batch, matches)
            event_count += len(batch)
            pair_count += len(matches)
            bar.update(event_count, fraction)
    if not quiet:
        seconds = time.perf_counter() - began
        console.note(
            f"{format_count(event_count, 'event')}, {format_count(len(matcher), 'subscription')}, "
            f"{format_count(pair_count, 'pair')}, {seconds:.2f} s, "
            f"{format_count(skipped, 'bad line')}"
        )
    if costs:
        console.show(console.stderr(), str(matcher.costs()))
    if skipped:
        raise typer.Exit(exit_codes.SOME_SKIPPED)


def _matcher(
    schema: str | None, semantics: Semantics | None, engine: str | None, index: str | None
) -> Matcher:
    """Return a matcher without subscriptions, or the matcher that the index holds."""
    from tamis.engines import DEFAULT
    from tamis.matcher import Matcher

    if index is None:
        return Matcher(read_schema(schema), (semantics or Semantics.sql).value, engine or DEFAULT)
    given = {"--schema": schema, "--semantics": semantics, "--engine": engine}
    for option in (option for option, value in given.items() if value is not None):
        raise typer.BadParameter(f"{option} cannot be used with --index, which has its own")
    return Matcher.open(index, read_only=True)


def _refuse_with_spark(
    schema: str | None, semantics: Semantics | None, engine: str | None, costs: bool | None
) -> None:
    given = {"--schema": schema, "--semantics": semantics, "--engine": engine, "--costs": costs}
    for option in (option for option, value in given.items() if value is not None):
        raise typer.BadParameter(f"{option} cannot be used with --spark")
