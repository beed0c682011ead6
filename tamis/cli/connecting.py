"""How verbs reach the brokers."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tamis.broker.connecting import Connecting

NatsOption = Annotated[
    str, typer.Option("--nats", metavar="URL", help="Where the NATS server is.", envvar="NATS_URL")
]


def client(nats: str, subscriber: str | None, prefix: str) -> Connecting:
    """A client, for `with`."""
    from tamis.broker import connect

    logging.getLogger("nats").setLevel(logging.CRITICAL)  # what goes wrong we say ourselves
    return connect(nats, subscriber, prefix=prefix)
