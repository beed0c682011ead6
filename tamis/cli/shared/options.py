"""Options that several verbs share."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tamis.schema import Schema


# Repeated here because importing tamis.schema would import Arrow; a test compares the two.
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
    help="What a missing attribute means: [cyan]sql[/cyan] (NULL; the default), "
    "[cyan]strict[/cyan] (no match), [cyan]default[/cyan] (the schema's default value) or "
    "[cyan]total[/cyan] (an error).",
)
SemanticsOption = Annotated[Semantics, SEMANTICS]
BadOption = Annotated[
    BadLinePolicy,
    typer.Option(
        metavar="WHAT",
        help="What to do with a bad line: [cyan]fail[/cyan], or [cyan]skip[/cyan] and report it.",
    ),
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", metavar="", help="Show no progress bar and no summary.")
]
SchemaOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help='The attributes and their types, as JSON: [cyan]{"price": "DBL", "city": {"type": '
        '"STR", "default": ""}}[/cyan]. Selectors may use no other attributes, unless the schema '
        'is open: [cyan]{"open": true, "attributes": {"price": "DBL"}}[/cyan].',
    ),
]
SubscriptionsHelp = (
    "The subscriptions: JSON lines, CSV or Parquet with [cyan]id[/cyan], [cyan]selector[/cyan] and "
    "optionally [cyan]priority[/cyan]; in any other file, one selector per line."
)


def read_schema(file: str | None) -> Schema | None:
    """Return the schema in a file, or None without a file."""
    from tamis.schema import Schema

    return None if file is None else Schema.read(file)
