"""`tamis parse`: parse selectors and show how Tamis reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli.shared import console, exit_codes
from tamis.cli.shared.options import SchemaOption, SubscriptionsHelp, read_schema
from tamis.errors import TamisError

if TYPE_CHECKING:
    from tamis.language.expr import Selector
    from tamis.matches import Id

EXAMPLES = """\
[bold]Examples[/bold]
  tamis parse "a=1 and not(b>2 or c like 'x%')"
  tamis parse --format tree "price * 1.2 < 120"
  tamis parse --rewrite "NOT (a <> 1 OR b IS NULL)"
  tamis parse --file rules.jsonl --schema schema.json --format json

Put [cyan]--[/cyan] before a selector that begins with a minus sign.
"""


class ParseFormat(StrEnum):
    """How to print a selector."""

    text = "text"
    tree = "tree"
    json = "json"


def parse(
    selectors: Annotated[
        list[str] | None,
        typer.Argument(metavar="SELECTOR", help="The selectors to parse.", show_default=False),
    ] = None,
    file: Annotated[
        str | None, typer.Option("--file", "-f", metavar="FILE", help=SubscriptionsHelp)
    ] = None,
    format: Annotated[
        ParseFormat,
        typer.Option(
            metavar="FORMAT",
            help="[cyan]text[/cyan] (as Tamis prints it), [cyan]tree[/cyan] or [cyan]json[/cyan] "
            "(one per line).",
        ),
    ] = ParseFormat.text,
    rewrite: Annotated[
        bool,
        typer.Option("--rewrite", metavar="", help="Rewrite the selector as engines do."),
    ] = False,
    schema: SchemaOption = None,
) -> None:
    """Parse and print selectors; with a schema, check their types.

    Every bad selector is reported with the position of the error. The exit code is then 2.
    """
    if bool(selectors) == bool(file):
        raise typer.BadParameter("give selectors, or a file with --file FILE")
    from tamis.engines.subscription import Subscription
    from tamis.language.rewrite import rewrite as apply_rules

    declared = read_schema(schema)
    faults = 0

    def fault(message: object) -> None:
        nonlocal faults
        faults += 1
        console.error(str(message))

    # Errors in a file are prefixed with file and line; one on the command line needs no prefix.
    for id, text, place in _read_selectors(selectors, file, fault):
        try:
            selector = Subscription.of(id, text, schema=declared).selector
        except TamisError as error:
            fault(f"{place}{error}")
            continue
        typer.echo(
            _format_selector(apply_rules(selector) if rewrite else selector, format, id, bool(file))
        )
    if faults:
        raise typer.Exit(exit_codes.BAD_INPUT)


def _read_selectors(
    selectors: list[str] | None, file: str | None, fault: Callable[[object], None]
) -> Iterator[tuple[Id, str, str]]:
    if file is None:
        for number, text in enumerate(selectors or (), 1):
            yield number, text, ""
        return
    from tamis.events.subscription_files import read_subscriptions

    for row in read_subscriptions(file, "skip", fault):
        yield row.id, row.selector, f"{file}:{row.line}: "


def _format_selector(selector: Selector, format: ParseFormat, id: Id, has_id: bool) -> str:
    from tamis.cli.shared import selector_tree

    if format is ParseFormat.text:
        return str(selector)
    if format is ParseFormat.tree:
        return "\n".join(selector_tree.draw_tree(selector))
    import msgspec

    about = {"id": id} if has_id else {}
    described = {**about, "selector": str(selector), "tree": selector_tree.as_dict(selector)}
    return msgspec.json.encode(described).decode()
