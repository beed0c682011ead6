"""`tamis lint`: find problems in a set of subscriptions."""

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

    from tamis.analysis import Finding
    from tamis.analysis.lint import LintRow

EXAMPLES = """\
[bold]Examples[/bold]
  tamis lint rules.jsonl
  tamis lint rules.txt --schema schema.json --semantics strict
  tamis lint rules.jsonl --format jsonl | jq 'select(.rule == "covered")'
  tamis lint rules.txt --format sarif > rules.sarif
  tamis lint rules.csv --fail-on error

[bold]Exit codes[/bold]
  0  no findings of the level of --fail-on or above
  1  there are findings
  2  the file or the schema cannot be read, or bad usage

Every finding is proved, or comes with an event that shows it. A question that could not be decided
is reported as [cyan]undecided[/cyan]. docs/guides/lint.md explains each kind of finding.
"""


class LintFormat(StrEnum):
    """How to print findings."""

    table = "table"
    jsonl = "jsonl"
    sarif = "sarif"


class FailOn(StrEnum):
    """The lowest level of a finding that sets the exit code 1."""

    note = "note"
    warning = "warning"
    error = "error"
    never = "never"


_LEVELS = ("note", "warning", "error")
_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def lint(
    file: Annotated[str, typer.Argument(metavar="FILE", help=SubscriptionsHelp)],
    semantics: SemanticsOption = Semantics.sql,
    schema: SchemaOption = None,
    format: Annotated[
        LintFormat | None,
        typer.Option(
            metavar="FORMAT",
            help="[cyan]table[/cyan] (for people), [cyan]jsonl[/cyan] (a line per finding) or "
            "[cyan]sarif[/cyan] (SARIF 2.1.0). Default: a table on a terminal, otherwise jsonl.",
            show_default=False,
        ),
    ] = None,
    fail_on: Annotated[
        FailOn,
        typer.Option(
            "--fail-on",
            metavar="LEVEL",
            help="Exit with code 1 if there is a finding of this level or above: "
            "[cyan]note[/cyan], [cyan]warning[/cyan], [cyan]error[/cyan] or [cyan]never[/cyan].",
        ),
    ] = FailOn.note,
    quiet: QuietOption = False,
) -> None:
    """Find subscriptions that are invalid, never or always match, or duplicate others.

    Also finds subscriptions that another one covers, and parts of selectors that can be dropped.
    Selectors are compared by meaning, for all possible events: nothing is sampled.
    """
    from tamis.analysis import lint as find_problems
    from tamis.events.subscription_files import read_subscriptions

    began = time.perf_counter()
    chosen = format or (LintFormat.table if console.stdout_is_terminal() else LintFormat.jsonl)
    unreadable: list[Finding] = []

    def on_bad(line: object) -> None:
        unreadable.append(_bad_line(line))

    attributes = read_schema(schema)
    with Progress(quiet, answers_on_terminal=False) as bar:
        bar.start("subscriptions")
        rows = [_row(row) for row in read_subscriptions(file, "skip", on_bad)]
        stage = ""

        def progress(what: str, done: int, part: float) -> None:
            nonlocal stage
            if what != stage:
                stage = what
                bar.start(what)
            bar.update(done, part)

        findings = find_problems(rows, attributes, semantics.value, progress=progress)
    findings = sorted(unreadable + findings, key=lambda found: found.line)
    _show(findings, chosen, file)
    if not quiet:
        by_level = Counter(found.level for found in findings)
        counts = ", ".join(format_count(by_level[level], level) for level in reversed(_LEVELS))
        seconds = time.perf_counter() - began
        console.note(f"{format_count(len(rows), 'subscription')}, {counts}, {seconds:.2f} s")
    if fail_on is not FailOn.never:
        failing = _LEVELS[_LEVELS.index(fail_on.value) :]
        if any(found.level in failing for found in findings):
            raise typer.Exit(exit_codes.NO)


def _row(row: object) -> LintRow:
    from tamis.analysis.lint import LintRow
    from tamis.events.subscription_files import SubscriptionRow

    assert isinstance(row, SubscriptionRow)
    return LintRow(row.id, row.selector, row.line)


def _bad_line(line: object) -> Finding:
    from tamis.analysis import Finding
    from tamis.events.records import BadLine

    assert isinstance(line, BadLine)
    return Finding("bad-line", None, line.reason, line=line.line)


def _show(findings: list[Finding], format: LintFormat, file: str) -> None:
    if format is LintFormat.table:
        if findings:
            out = console.stdout()
            out.print(_table(findings, out.width))
        return
    import msgspec

    if format is LintFormat.jsonl:
        for found in findings:
            typer.echo(msgspec.json.encode(found.to_dict()))
        return
    from tamis import __version__
    from tamis.cli.shared.sarif import sarif
    from tamis.events.records import InputFile

    by_line = InputFile(file).format == ""
    report = sarif(findings, file, __version__, by_line)
    typer.echo(msgspec.json.format(msgspec.json.encode(report), indent=2))


def _table(findings: list[Finding], width: int) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_lines=False, padding=(0, 1, 1, 0))
    table.add_column("line", justify="right", style="dim")
    table.add_column("subscription", overflow="fold", max_width=max(12, width // 5))
    table.add_column("finding", overflow="fold")
    for found in findings:
        style = _STYLES[found.level]
        said = Text.assemble((found.rule, style), " ", found.message)
        _add_text(said, found, style, max(30, width - 12 - max(12, width // 5)))
        name = "" if found.id is None else str(found.id)
        table.add_row(str(found.line), Text(name), said)
    return table


def _add_text(said: object, found: Finding, style: str, width: int) -> None:
    """Append the selector with carets, the suggestion, and the event that shows the finding."""
    import msgspec
    from rich.text import Text

    from tamis.cli.shared.carets import underline_spans

    assert isinstance(said, Text)
    if found.text:
        shown, marks = underline_spans(found.text, found.spans, width - 4)
        said.append(f"\n  {shown}")
        whole = found.spans == ((0, len(found.text)),)
        if marks and not whole:
            said.append(f"\n  {marks}", style)
    fields = found.to_dict()
    if "suggestion" in fields:
        said.append("\n  instead: ", "dim").append(found.suggestion)
    if "event" in fields:
        event = msgspec.json.encode(fields["event"]).decode()
        said.append(f"\n  {_EVENTS.get(found.rule, 'event')}: ", "dim").append(event)


_EVENTS = {"covered": "only the other matches", "equivalent": "both match"}
