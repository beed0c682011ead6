"""`tamis backtest`: compare two sets of rules on past events."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli.shared import console, exit_codes
from tamis.cli.shared.load import format_count
from tamis.cli.shared.options import (
    SEMANTICS,
    BadLinePolicy,
    BadOption,
    QuietOption,
    SchemaOption,
    Semantics,
    read_schema,
)
from tamis.cli.shared.spark_session import (
    ConfOption,
    MasterOption,
    show_spark_progress,
    spark_session,
)
from tamis.cli.shared.spark_tables import CORRUPT, is_index, read_table
from tamis.errors import InputError

if TYPE_CHECKING:
    from tamis.spark import Backtest
    from tamis.spark.backtest import Side

EXAMPLES = """\
[bold]Examples[/bold]
  tamis backtest events.parquet --current rules --proposed new-rules.jsonl
  tamis backtest events/ --current a.csv --proposed b.csv --key order_id
  tamis backtest events/ --current rules --proposed rules --current-version 7
  tamis backtest events/ --current a.csv --proposed b.csv --format json

It runs on Spark. Events and rules are files or folders of Parquet, JSON lines or CSV; rules may
also be an index made by [cyan]tamis compile[/cyan]. An event that one of the two rule sets cannot
evaluate counts for neither. The exit code is 3 if there are such events, or rejected rules.
"""

_RULES = "an index, or a table with [cyan]id[/cyan] and [cyan]selector[/cyan]."


class BacktestFormat(StrEnum):
    """How to print the result."""

    table = "table"
    json = "json"


def backtest(
    events: Annotated[str, typer.Argument(metavar="EVENTS", help="The past events.")],
    current: Annotated[
        str, typer.Option(metavar="INDEX|FILE", help=f"The current rules: {_RULES}")
    ],
    proposed: Annotated[
        str, typer.Option(metavar="INDEX|FILE", help=f"The proposed rules: {_RULES}")
    ],
    current_version: Annotated[
        int | None,
        typer.Option(metavar="N", help="The version of the current index. Default: the newest."),
    ] = None,
    proposed_version: Annotated[
        int | None,
        typer.Option(metavar="N", help="The version of the proposed index. Default: the newest."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column that names an event in examples. Default: the event as JSON.",
        ),
    ] = None,
    examples: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Examples of gained and of lost events per subscription."
        ),
    ] = 3,
    limit: Annotated[
        int, typer.Option(min=0, metavar="N", help="The most rows of the table; json has all.")
    ] = 50,
    format: Annotated[
        BacktestFormat,
        typer.Option(
            metavar="FORMAT",
            help="[cyan]table[/cyan] (the subscriptions that change, most changes first) or "
            "[cyan]json[/cyan] (everything).",
        ),
    ] = BacktestFormat.table,
    semantics: Annotated[Semantics | None, SEMANTICS] = None,
    schema: SchemaOption = None,
    bad: BadOption = BadLinePolicy.fail,
    scratch: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="For rules in tables, on a cluster: a folder that all workers can read.",
        ),
    ] = None,
    master: MasterOption = None,
    conf: ConfOption = None,
    quiet: QuietOption = False,
) -> None:
    """Show which matches proposed rules would gain or lose on past events.

    Both sets of rules match every event, in one pass. For each subscription you see its matches
    under both, how many are gained and lost, and examples of these events.
    """
    with spark_session(master, conf) as spark:
        from tamis.spark import backtest

        with show_spark_progress(spark, "events", quiet):
            table = read_table(spark, events, strict=bad is BadLinePolicy.fail)
            found = backtest(
                table,
                current if is_index(current) else read_table(spark, current),
                proposed if is_index(proposed) else read_table(spark, proposed),
                key=key,
                examples=examples,
                current_version=current_version,
                proposed_version=proposed_version,
                schema=read_schema(schema),
                semantics=None if semantics is None else semantics.value,
                corrupt=CORRUPT if CORRUPT in table.columns else None,
                scratch=scratch,
            )
    if found.unjudged and bad is BadLinePolicy.fail:
        why = found.faults[0] if found.faults else "one of the rule sets cannot evaluate them"
        error = InputError(f"{format_count(found.unjudged, 'event')} not evaluated: {why}", events)
        error.add_note("--bad skip leaves such events out and continues")
        raise error
    if format is BacktestFormat.json:
        typer.echo(_json(found))
    else:
        _show(found, limit)
    if not quiet:
        console.note(_summary(found))
    if found.unjudged or found.current.rejected or found.proposed.rejected:
        raise typer.Exit(exit_codes.SOME_SKIPPED)


def _summary(found: Backtest) -> str:
    aside = f", {format_count(found.unjudged, 'bad event')}" if found.unjudged else ""
    return f"{format_count(found.events, 'event')}{aside}, {found.seconds:.2f} s"


def _json(found: Backtest) -> str:
    from dataclasses import asdict, replace

    import msgspec

    rows = found.subscriptions.to_pylist()
    # `asdict` would copy the table, which cannot be copied.
    plain = asdict(replace(found, subscriptions=None))
    named = {"only_current": found.only_current, "only_proposed": found.only_proposed}
    return msgspec.json.encode({**plain, **named, "subscriptions": rows}).decode()


def _show(found: Backtest, limit: int) -> None:
    from rich.table import Table
    from rich.text import Text

    from tamis.cli.shared.table_output import word

    out = console.stdout()
    for name, side in (("current", found.current), ("proposed", found.proposed)):
        console.show(out, f"{name:>8}: {_side(side)}")
    console.show(out, f"  gained: {found.gained:,}")
    console.show(out, f"    lost: {found.lost:,}")
    for name, ids in (("current", found.only_current), ("proposed", found.only_proposed)):
        if ids:
            shown = ", ".join(map(word, ids[:10])) + (", …" if len(ids) > 10 else "")
            console.show(out, f"only in {name}: {len(ids):,} ({shown})")
    changed = found.changed
    if not changed.num_rows:
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("subscription", overflow="fold")
    for heading in ("current", "proposed", "gained", "lost"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("examples", overflow="fold")
    for row in changed.slice(0, limit).to_pylist():
        examples = Text()
        for sign, style, name in (("+", "green", "gained"), ("-", "red", "lost")):
            for example in row[f"{name}_examples"]:
                examples.append(f"{' ' if examples else ''}{sign}{example}", style)
        counts = (f"{row[name]:,}" for name in ("current", "proposed", "gained", "lost"))
        table.add_row(Text(word(row["subscription"])), *counts, examples)
    out.print()
    out.print(table)
    if changed.num_rows > limit:
        console.show(out, f"and {changed.num_rows - limit:,} more")


def _side(side: Side) -> str:
    rejected = f", {format_count(side.rejected, 'rejected row')}" if side.rejected else ""
    version = f"version {side.version}, " if side.version else ""
    subscriptions = format_count(side.subscriptions, "subscription")
    return f"{version}{subscriptions}{rejected}, {side.matches:,} matches"
