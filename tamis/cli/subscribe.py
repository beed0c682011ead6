"""`tamis subscribe`: subscribe and print deliveries."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli.shared import console
from tamis.cli.shared.broker_client import (
    AuthorityOption,
    NatsOption,
    PrefixOption,
    UserOption,
    client,
)
from tamis.cli.shared.options import QuietOption

if TYPE_CHECKING:
    from tamis.broker.client.sync import SyncMessage

EXAMPLES = """\
[bold]Examples[/bold]
  tamis subscribe "price > 100"
  tamis subscribe "price > 100" "city = 'Lyon'" --count 10
  tamis subscribe --durable alerts "price > 100"
  tamis subscribe --durable alerts                    missed and new deliveries

Without --durable, the subscription is removed when the command ends. With --durable it stays, and
the brokers keep its deliveries until you come back; a --user is always durable, under its own name.
A delivery is acknowledged after it was printed.
"""


class SubscribeFormat(StrEnum):
    """What to print."""

    jsonl = "jsonl"
    events = "events"
    pretty = "pretty"


def subscribe(
    selector: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SELECTOR]…", help="The selectors to subscribe to."),
    ] = None,
    durable: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Keep the subscriptions, under this subscriber name."),
    ] = None,
    priority: Annotated[
        int,
        typer.Option(
            metavar="N", help="The priority of these subscriptions; higher ones come first."
        ),
    ] = 0,
    count: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Stop after this many deliveries.")
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(min=0.01, metavar="SECONDS", help="Stop after this long without a delivery."),
    ] = None,
    format: Annotated[
        SubscribeFormat,
        typer.Option(
            metavar="FORMAT",
            help="[cyan]jsonl[/cyan], [cyan]events[/cyan] (only the events, as JSON lines) or "
            "[cyan]pretty[/cyan].",
        ),
    ] = SubscribeFormat.jsonl,
    nats: NatsOption = "nats://127.0.0.1:4222",
    user: UserOption = None,
    tls_ca: AuthorityOption = None,
    prefix: PrefixOption = "tamis",
    quiet: QuietOption = False,
) -> None:
    """Subscribe to events, and print deliveries as they arrive."""
    if not selector and durable is None and user is None:
        raise typer.BadParameter(
            "give a selector, or --durable NAME to receive what its subscriptions matched"
        )
    with client(nats, durable, prefix, user, tls_ca) as c:
        for text in selector or ():
            # The text is the id: running the same command twice makes one subscription.
            c.subscribe(text, id=text[:190] if text.isascii() else None, priority=priority)
        if not quiet:
            console.note("subscribed; Ctrl-C to stop")
        out = console.stdout()
        for message in c.messages(limit=count, timeout=timeout):
            console.show(out, _message_text(message, format))
            out.file.flush()
            message.ack()


def _message_text(message: SyncMessage, format: SubscribeFormat) -> str:
    import json

    if format is SubscribeFormat.events:
        return json.dumps(message.event, ensure_ascii=False)
    if format is SubscribeFormat.pretty:
        again = "  (again)" if message.redelivered else ""
        names = ", ".join(message.subscriptions)
        event = json.dumps(message.event, ensure_ascii=False)
        return f"event {message.sequence}: {names}{again}\n  {event}"
    delivery = {
        "event": message.event,
        "sequence": message.sequence,
        "subscriptions": message.subscriptions,
        "priority": message.priority,
        "revision": message.revision,
        "redelivered": message.redelivered,
    }
    return json.dumps(delivery, ensure_ascii=False)
