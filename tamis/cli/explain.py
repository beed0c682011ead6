"""`tamis explain`: explain why an event does or does not match."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli.shared import console, exit_codes
from tamis.cli.shared.options import (
    SchemaOption,
    Semantics,
    SemanticsOption,
    SubscriptionsHelp,
    read_schema,
)
from tamis.errors import InputError, UnknownSubscription

if TYPE_CHECKING:
    from tamis.engines.introspection import SubscriptionPlan
    from tamis.events.records import BadLine
    from tamis.events.subscription_files import SubscriptionRow
    from tamis.explain.explanation import Explanation

EXAMPLES = """\
[bold]Examples[/bold]
  tamis explain "price <= 1000 AND brand = 'Dell'" --event '{"price": 1200}'
  tamis explain --subscriptions rules.jsonl --id cheap-pcs --event @event.json
  sed -n 7p events.jsonl | tamis explain "price < 10" --event - --format json
  tamis explain --plan -s rules.jsonl --id cheap-pcs -e events.jsonl

Like grep, it exits with 0 if the event matches and 1 if not; without an event, with 0.
"""


class ExplainFormat(StrEnum):
    """How to print an explanation."""

    tree = "tree"
    json = "json"


def explain(
    selector: Annotated[
        str | None,
        typer.Argument(metavar="SELECTOR", help="The selector to explain.", show_default=False),
    ] = None,
    event: Annotated[
        str | None,
        typer.Option(
            metavar="JSON|@FILE|-",
            help="The event: JSON, a file, or stdin. Required without --plan.",
        ),
    ] = None,
    subscriptions: Annotated[
        str | None, typer.Option("--subscriptions", "-s", metavar="FILE", help=SubscriptionsHelp)
    ] = None,
    id: Annotated[
        str | None,
        typer.Option("--id", metavar="ID", help="The subscription to explain."),
    ] = None,
    plan: Annotated[
        bool,
        typer.Option(
            "--plan",
            metavar="",
            help="Show how the engine finds the subscription among all --subscriptions, and what "
            "that costs.",
        ),
    ] = False,
    events: Annotated[
        str | None,
        typer.Option(
            "--events", "-e", metavar="FILE", help="Typical events, to estimate costs for --plan."
        ),
    ] = None,
    format: Annotated[
        ExplainFormat,
        typer.Option(metavar="FORMAT", help="[cyan]tree[/cyan] (for people) or [cyan]json[/cyan]."),
    ] = ExplainFormat.tree,
    semantics: SemanticsOption = Semantics.sql,
    schema: SchemaOption = None,
) -> None:
    """Explain why an event does or does not match; with --plan, what matching costs.

    Shows the tree of the selector with the truth and the values at each node, and the smallest
    change that would make the event match. Give a selector, or --subscriptions and --id.
    """
    if (subscriptions is None) != (id is None) or (selector is None) == (id is None):
        raise typer.BadParameter("give a selector, or --subscriptions FILE and --id ID")
    if event is None and not plan:
        raise typer.BadParameter("give --event or --plan")
    if events is not None and not plan:
        raise typer.BadParameter("--events needs --plan; to explain one event, use --event")
    if plan and subscriptions == "-":
        raise typer.BadParameter("--plan reads the subscriptions twice, so they cannot be stdin")
    from tamis.matcher import Matcher

    if subscriptions is not None and id is not None:
        row = _find(subscriptions, id)
        named, text = row.id, row.selector
    else:
        named, text = "selector", selector or ""
    attributes = read_schema(schema)
    explanation = None
    if event is not None:
        matcher = Matcher(attributes, semantics.value)
        matcher.add(named, text)
        explanation = matcher.explain(named, _event(event))
        _show(explanation, format)
    if plan:
        from tamis.cli.shared.plan_text import subscription_plan

        matcher = Matcher(attributes, semantics.value, engine="block")
        _show(subscription_plan(matcher, named, text, subscriptions, events), format)
    if explanation is not None and not explanation.matches:
        raise typer.Exit(exit_codes.NO)


def _show(answer: Explanation | SubscriptionPlan, format: ExplainFormat) -> None:
    if format is ExplainFormat.json:
        import msgspec

        typer.echo(msgspec.json.encode(answer.to_dict()))
        return
    from rich.text import Text

    drawn = Text(str(answer))
    for mark, style in (("✓", "green"), ("✗", "red"), (r"\?", "yellow")):
        # Only the mark at the start of a node, not one inside a selector.
        drawn.highlight_regex(rf"(?m)^[│├└─ ]*{mark} ", style)
    console.show(console.stdout(), drawn)


def _find(file: str, id: str) -> SubscriptionRow:
    from tamis.events.subscription_files import read_subscriptions
    from tamis.language.lexer import spelling_hint

    others: list[str] = []
    bad: list[BadLine] = []
    # Bad lines matter only if the subscription is not found.
    for row in read_subscriptions(file, "skip", bad.append):
        if str(row.id) == id:
            return row
        others.append(str(row.id))
    raise _not_found_error(file, id, spelling_hint(id, others), bad)


_SHOWN = 5


def _not_found_error(file: str, id: str, hint: str, bad: list[BadLine]) -> InputError:
    for line in bad:
        # In a file of selectors the id is the line number; elsewhere the reason may name the id.
        if str(line.line) == id or line.reason.startswith(
            (f"subscription {id!r}", f"subscription {id} ", f"subscription {id}:")
        ):
            return line.as_error()
    missing = InputError(f"{UnknownSubscription(id)}{'; ' + hint if hint else ''}", file)
    if bad:
        missing.add_note("it may be one of the lines that cannot be read:")
        for line in bad[:_SHOWN]:
            missing.add_note(str(line))
        if len(bad) > _SHOWN:
            missing.add_note(f"and {len(bad) - _SHOWN:,} more")
    return missing


def _event(given: str) -> dict[str, object]:
    import msgspec

    from tamis.events.records import json_fault

    source = "--event"
    raw = given.encode(errors="surrogateescape")
    if given == "-":
        source, raw = "standard input", sys.stdin.buffer.read()
    elif given.startswith("@"):
        source = given[1:]
        try:
            raw = Path(source).read_bytes()
        except (OSError, ValueError) as error:  # a NUL in the name is a ValueError
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(reason, source) from None
    try:
        event: dict[str, object] = msgspec.json.decode(raw, type=dict)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        hint = "; an event is one JSON object" if raw.strip() else "; the input is empty"
        raise InputError(json_fault(error, raw) + hint, source) from None
    return event
