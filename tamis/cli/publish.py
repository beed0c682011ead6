"""`tamis publish`: publish events to the brokers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from tamis.cli.shared import console
from tamis.cli.shared.broker_client import (
    AuthorityOption,
    NatsOption,
    PrefixOption,
    UserOption,
    client,
)
from tamis.cli.shared.load import format_count
from tamis.cli.shared.options import QuietOption
from tamis.errors import InputError

EXAMPLES = """\
[bold]Examples[/bold]
  tamis publish '{"price": 120}'
  tamis publish --events events.jsonl
  generate | tamis publish --events -
  tamis publish --ttl 60 '{"price": 120}' '{"price": 7}'

The command returns when NATS has stored all events. Lines of a file are published unchecked: the
brokers set aside what is not a JSON object, and record the reason (docs/reference/protocol.md).
"""

_CHUNK = 1000


def publish(
    event: Annotated[
        list[str] | None, typer.Argument(metavar="[EVENT]…", help="Events, as JSON objects.")
    ] = None,
    events: Annotated[
        str | None,
        typer.Option(
            "--events", "-e", metavar="FILE", help="A file of JSON lines; - reads standard input."
        ),
    ] = None,
    ttl: Annotated[
        float | None,
        typer.Option(min=1, metavar="SECONDS", help="How long the events are valid."),
    ] = None,
    nats: NatsOption = "nats://127.0.0.1:4222",
    user: UserOption = None,
    tls_ca: AuthorityOption = None,
    prefix: PrefixOption = "tamis",
    quiet: QuietOption = False,
) -> None:
    """Publish events, and wait until they are stored."""
    if bool(event) is (events is not None):
        raise typer.BadParameter("give either events or --events FILE")
    count = 0
    with client(nats, None, prefix, user, tls_ca) as c:
        for some in _encode_events(event or []) if events is None else _lines(events):
            last = c.publish_many(some, ttl=ttl)[-1]
            count += len(some)
        if not quiet and count:
            console.note(f"{format_count(count, 'event')} published; the last has number {last}")


def _encode_events(events: list[str]) -> Iterator[list[bytes]]:
    import msgspec

    from tamis.events.records import json_fault

    for text in events:  # typed by hand, so report a mistake before publishing
        try:
            msgspec.json.decode(text, type=dict)
        except (msgspec.DecodeError, RecursionError) as error:
            raise InputError(json_fault(error, text.encode()), "EVENT") from None
    yield [text.encode() for text in events]


def _lines(file: str) -> Iterator[list[bytes]]:
    from tamis.events.records import InputFile

    some: list[bytes] = []
    for item in InputFile(file).lines():
        if item is not None and item[1].strip():
            some.append(item[1].strip())
        if some and (item is None or len(some) == _CHUNK):
            yield some
            some = []
    if some:
        yield some
