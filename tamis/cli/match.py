"""`tamis match`: which subscriptions does each event of a file satisfy?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli import console, guard
from tamis.cli.answers import Format, open_answers
from tamis.cli.options import (
    Bad,
    SchemaOption,
    Semantics,
    SemanticsOption,
    SubscriptionsHelp,
    read_schema,
)
from tamis.cli.progress import Progress
from tamis.errors import InputError, SelectorError, UnsupportedExpression

if TYPE_CHECKING:
    from tamis.files import BadLine
    from tamis.matcher import Matcher

EXAMPLES = """\
[bold]Examples[/bold]
  tamis match --subscriptions rules.jsonl --events events.jsonl
  tamis match -s rules.txt -e events.csv.gz --bad skip --limit 3
  tamis match -s rules.csv -e events.parquet --format parquet --out answers/
  tamis match -s rules.txt -e events.csv --format counts
  tamis match -s rules.txt -e events.csv --costs --out answers/
  tail -f app.log.jsonl | tamis match -s rules.txt -e - --format jsonl

Events are numbered from 0 as they stand in the file, bad ones too.
A CSV column is one attribute, dots and all, unless the schema declares the path that it spells.
The exit code is 3 if bad lines were skipped.
"""


def match(
    subscriptions: Annotated[
        str, typer.Option("--subscriptions", "-s", metavar="FILE", help=SubscriptionsHelp)
    ],
    events: Annotated[
        str,
        typer.Option(
            "--events",
            "-e",
            metavar="FILE",
            help="JSON lines, CSV or Parquet; [cyan]-[/cyan] is JSON lines on stdin.",
        ),
    ],
    semantics: SemanticsOption = Semantics.sql,
    engine: Annotated[
        str | None, typer.Option(metavar="NAME", help="The algorithm; they all agree.")
    ] = None,
    schema: SchemaOption = None,
    format: Annotated[
        Format | None,
        typer.Option(
            metavar="FORMAT",
            help="[cyan]table[/cyan] (to read), [cyan]jsonl[/cyan] (a line per event), "
            "[cyan]parquet[/cyan] (a row per match; needs --out) or [cyan]counts[/cyan] (how many "
            "events each subscription matched). By default a table on a terminal, else jsonl.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|FILE",
            help="Write there instead: a file, or [cyan]matches.jsonl[/cyan] (or .parquet, or "
            "[cyan]counts.jsonl[/cyan]) in a directory. It appears when it is complete.",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=0, metavar="K", help="At most K matches per event: the first ones."),
    ] = None,
    bad: Annotated[
        Bad,
        typer.Option(
            metavar="WHAT",
            help="At a bad line, [cyan]fail[/cyan], or [cyan]skip[/cyan] it, report it and go on.",
        ),
    ] = Bad.fail,
    costs: Annotated[
        bool,
        typer.Option(
            "--costs",
            metavar="",
            help="At the end, list the most expensive subscriptions on stderr.",
        ),
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", metavar="", help="No progress bar and no summary."),
    ] = False,
) -> None:
    r"""Find, for every event, the subscriptions it satisfies: highest priority first.

    The answers go to stdout, and a summary to stderr. With jsonl, each event is
    a line [cyan]{"event": 0, "matches": \["id", …]}[/cyan]; with counts, each subscription
    is a line [cyan]{"subscription": "id", "events": 2}[/cyan], or a row on a terminal.
    """
    if subscriptions == events == "-":
        raise typer.BadParameter("only one of --subscriptions and --events can be stdin")
    from tamis.engines import DEFAULT
    from tamis.files import read_events
    from tamis.matcher import Matcher

    began = time.perf_counter()
    # Only one engine counts.
    chosen = engine or ("block" if costs else DEFAULT)
    matcher = Matcher(read_schema(schema), semantics.value, chosen)
    if costs:
        matcher.costs()  # an engine that does not count says so now, not at the end
    skipped = event_count = pair_count = 0

    def on_bad(line: BadLine) -> None:
        nonlocal skipped
        skipped += 1
        console.skipped(str(line))

    with (
        _hinting(),
        open_answers(format, out, matcher) as answers,
        Progress(quiet, answers.on_terminal) as bar,
    ):
        bar.start("subscriptions")
        _load(matcher, subscriptions, bad, on_bad)
        bar.start("events")
        chunks = read_events(events, matcher.schema, semantics.value, bad.value, on_bad)
        for numbers, batch, fraction in chunks:
            matches = matcher.match_batch(batch, limit)
            answers.write(numbers, batch, matches)
            event_count += len(batch)
            pair_count += len(matches)
            bar.reached(event_count, fraction)
    if not quiet:
        seconds = time.perf_counter() - began
        console.note(
            f"{_count(event_count, 'event')}, {_count(len(matcher), 'subscription')}, "
            f"{_count(pair_count, 'pair')}, {seconds:.2f} s, {_count(skipped, 'bad line')}"
        )
    if costs:
        console.show(console.stderr(), str(matcher.costs()))
    if skipped:
        raise typer.Exit(guard.SOME_SKIPPED)


def _load(matcher: Matcher, file: str, bad: Bad, on_bad: Callable[[BadLine], None]) -> None:
    from tamis.files import BadLine, read_subscriptions
    from tamis.files.records import Source

    rows = list(read_subscriptions(file, bad.value, on_bad))
    added = matcher.add_many([row[:3] for row in rows], bad="skip")
    for rejected in added.rejected:
        reason, line = str(rejected.error), rows[rejected.row].line
        if isinstance(rejected.error, SelectorError | UnsupportedExpression):
            reason = f"subscription {rejected.id!r}: {reason}"
        found = BadLine(Source(file).name, line, reason)
        if bad is Bad.fail:
            raise found.as_error()
        on_bad(found)


@contextmanager
def _hinting() -> Iterator[None]:
    try:
        yield
    except InputError as error:
        if error.line is not None:
            error.add_note("--bad skip reports such lines and goes on")
        raise


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
