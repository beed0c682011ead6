"""`tamis diff`: compare two versions of a set of subscriptions by what they match."""

from __future__ import annotations

import time
from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli.shared import console, exit_codes
from tamis.cli.shared.load import format_count
from tamis.cli.shared.options import (
    QuietOption,
    SchemaOption,
    Semantics,
    SemanticsOption,
    SubscriptionsHelp,
    read_schema,
)
from tamis.cli.shared.progress import Progress

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from tamis.analysis import Change
    from tamis.matches import Id

EXAMPLES = """\
[bold]Examples[/bold]
  tamis diff old.jsonl new.jsonl
  tamis diff old.txt new.txt --schema schema.json --format jsonl
  tamis diff old.csv new.csv --fail-on narrowed --fail-on changed

[bold]Exit codes[/bold]
  0  no changes of the kinds of --fail-on
  1  there are changes
  2  a file, a selector or the schema cannot be read, or bad usage

Each change of meaning comes with an event that only one of the two versions matches.
"""


class DiffFormat(StrEnum):
    """How to print changes."""

    table = "table"
    jsonl = "jsonl"


class ChangeKind(StrEnum):
    """The kinds of change, and `never`."""

    added = "added"
    removed = "removed"
    changed = "changed"
    widened = "widened"
    narrowed = "narrowed"
    undecided = "undecided"
    reworded = "reworded"
    reprioritized = "reprioritized"
    never = "never"


_STYLES = {
    "bad": "bold red", "added": "green", "removed": "red", "changed": "bold yellow",
    "widened": "yellow", "narrowed": "yellow", "undecided": "magenta",
}  # fmt: skip


def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help=SubscriptionsHelp)],
    new: Annotated[
        str, typer.Argument(metavar="NEW", help="The new version, in any of these formats.")
    ],
    semantics: SemanticsOption = Semantics.sql,
    schema: SchemaOption = None,
    format: Annotated[
        DiffFormat | None,
        typer.Option(
            metavar="FORMAT",
            help="[cyan]table[/cyan] (for people) or [cyan]jsonl[/cyan] (a line per change). "
            "Default: a table on a terminal, otherwise jsonl.",
            show_default=False,
        ),
    ] = None,
    fail_on: Annotated[
        list[ChangeKind] | None,
        typer.Option(
            "--fail-on",
            metavar="KIND",
            help="Exit with code 1 on this kind of change; may be repeated. Default: on every "
            "kind; [cyan]never[/cyan]: on none.",
            show_default=False,
        ),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Show which subscriptions were added, removed, reworded, widened, narrowed or changed.

    Subscriptions are paired by id, and selectors compared by meaning: a selector with another
    text that matches the same events is [cyan]reworded[/cyan].
    """
    if old == new == "-":
        raise typer.BadParameter("only one of OLD and NEW can be stdin")
    from tamis.analysis import diff as compare

    began = time.perf_counter()
    chosen = format or (DiffFormat.table if console.stdout_is_terminal() else DiffFormat.jsonl)
    attributes = read_schema(schema)
    with Progress(quiet, answers_on_terminal=False) as bar:
        bar.start("subscriptions")
        before, after = _rows(old), _rows(new)
        bar.start("comparing")
        changes = compare(
            before,
            after,
            attributes,
            semantics.value,
            progress=lambda what, done, part: bar.update(done, part),
        )
    _show(changes, chosen)
    if not quiet:
        kinds = Counter(change.kind for change in changes)
        counts = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items()) or "no change"
        seconds = time.perf_counter() - began
        both = f"{len(before):,} and {format_count(len(after), 'subscription')}"
        console.note(f"{both}, {counts}, {seconds:.2f} s")
    if any(change.kind == "bad" for change in changes):
        raise typer.Exit(exit_codes.BAD_INPUT)
    failing = {kind.value for kind in fail_on or ChangeKind} - {"never"}
    if any(change.kind in failing for change in changes):
        raise typer.Exit(exit_codes.NO)


def _rows(file: str) -> list[tuple[Id, str, int]]:
    from tamis.events.subscription_files import read_subscriptions

    return [(row.id, row.selector, row.priority) for row in read_subscriptions(file)]


def _show(changes: list[Change], format: DiffFormat) -> None:
    if format is DiffFormat.table:
        if changes:
            console.stdout().print(_table(changes))
        return
    import msgspec

    for change in changes:
        typer.echo(msgspec.json.encode(change.to_dict()))


def _table(changes: list[Change]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 1, 0))
    table.add_column("change")
    table.add_column("subscription", overflow="fold")
    table.add_column("", overflow="fold")
    for change in changes:
        kind = Text(change.kind, _STYLES.get(change.kind, "cyan"))
        table.add_row(kind, Text(str(change.id)), _change_text(change))
    return table


def _change_text(change: Change) -> Text:
    import msgspec
    from rich.text import Text

    lines: list[tuple[str, str, str]] = []
    if change.old and change.old == change.new:
        lines.append(("  ", change.old, ""))
    else:
        lines += [("- ", change.old, "red")] if change.old else []
        lines += [("+ ", change.new, "green")] if change.new else []
    fields = change.to_dict()
    named = {"lost": "no longer matches", "gained": "now matches", "stream": "events"}
    for name, words in named.items():
        if name in fields:
            lines.append((f"  {words}: ", msgspec.json.encode(fields[name]).decode(), ""))
    if change.message:
        lines.append(("  ", change.message, "dim"))
    said = Text()
    for number, (before, text, style) in enumerate(lines):
        said.append("\n" if number else "").append(before, "dim").append(text, style)
    return said
