"""The options that several verbs share."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tamis.schema import Schema


# Written out rather than taken from tamis.schema, which would import Arrow; a test compares them.
class Semantics(StrEnum):
    """What a missing attribute means."""

    sql = "sql"
    strict = "strict"
    default = "default"
    total = "total"


class BadLinePolicy(StrEnum):
    """What to do with a bad line."""

    skip = "skip"
    fail = "fail"


SEMANTICS = typer.Option(
    metavar="NAME",
    help="What a missing attribute means: [cyan]sql[/cyan] (NULL, as by default), "
    "[cyan]strict[/cyan] (no match), [cyan]default[/cyan] (the schema's default) or "
    "[cyan]total[/cyan] (an error).",
)
SemanticsOption = Annotated[Semantics, SEMANTICS]
BadOption = Annotated[
    BadLinePolicy,
    typer.Option(
        metavar="WHAT",
        help="At a bad line, [cyan]fail[/cyan], or [cyan]skip[/cyan] it, report it and go on.",
    ),
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", metavar="", help="No progress bar and no summary.")
]
SchemaOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help='The attributes, as JSON: [cyan]{"price": "DBL", "city": {"type": "STR", '
        '"default": ""}}[/cyan]. Selectors may then name no other attribute, unless it is open: '
        '[cyan]{"open": true, "attributes": {"price": "DBL"}}[/cyan].',
    ),
]
SubscriptionsHelp = (
    "JSON lines, CSV or Parquet with [cyan]id[/cyan], [cyan]selector[/cyan] and, if you like, "
    "[cyan]priority[/cyan]; any other file: a selector a line."
)


def read_schema(file: str | None) -> Schema | None:
    """Read the schema, if there is one."""
    from tamis.schema import Schema

    return None if file is None else Schema.read(file)
