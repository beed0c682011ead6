"""`tamis subscribe`: deliveries as they come."""

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
  tamis subscribe --durable alerts                    what was missed, and what comes

Without --durable the subscription goes when the command ends. With it, it stays, and so does what
it matches meanwhile; a --user always subscribes so, under its own name. A delivery is acknowledged
when it has been printed.
"""


class SubscribeFormat(StrEnum):
    """What to print."""

    jsonl = "jsonl"
    events = "events"
    pretty = "pretty"


def subscribe(
    selector: Annotated[
        list[str] | None, typer.Argument(metavar="[SELECTOR]…", help="What to subscribe to.")
    ] = None,
    durable: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Subscribe for good, as a subscriber of that name."),
    ] = None,
    priority: Annotated[
        int, typer.Option(metavar="N", help="Of these subscriptions; the higher, the earlier.")
    ] = 0,
    count: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="End after so many deliveries.")
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(min=0.01, metavar="SECONDS", help="End when nothing has come for so long."),
    ] = None,
    format: Annotated[
        SubscribeFormat,
        typer.Option(
            metavar="FORMAT",
            help="[cyan]jsonl[/cyan], [cyan]events[/cyan] (the events alone) or "
            "[cyan]pretty[/cyan].",
        ),
    ] = SubscribeFormat.jsonl,
    nats: NatsOption = "nats://127.0.0.1:4222",
    user: UserOption = None,
    tls_ca: AuthorityOption = None,
    prefix: PrefixOption = "tamis",
    quiet: QuietOption = False,
) -> None:
    """Subscribe, and print deliveries as they come."""
    if not selector and durable is None and user is None:
        raise typer.BadParameter("give a selector, or --durable NAME to read what it has")
    with client(nats, durable, prefix, user, tls_ca) as c:
        for text in selector or ():
            # Named by its text: the same command twice makes one subscription.
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
    told = {
        "event": message.event,
        "sequence": message.sequence,
        "subscriptions": message.subscriptions,
        "priority": message.priority,
        "revision": message.revision,
        "redelivered": message.redelivered,
    }
    return json.dumps(told, ensure_ascii=False)
