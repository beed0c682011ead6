"""How verbs reach the brokers."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from tamis.broker.connecting import Connecting

NatsOption = Annotated[
    str, typer.Option("--nats", metavar="URL", help="Where the NATS server is.", envvar="NATS_URL")
]
UserOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Who you are; the token is taken from TAMIS_TOKEN, or the seed of a key from "
        "TAMIS_NKEY_SEED.",
        envvar="TAMIS_USER",
    ),
]
AuthorityOption = Annotated[
    str | None,
    typer.Option("--tls-ca", metavar="FILE", help="Certificates to trust.", envvar="TAMIS_TLS_CA"),
]


def client(
    nats: str, subscriber: str | None, prefix: str, user: str | None, authority: str | None
) -> Connecting:
    """A client, for `with`."""
    from tamis.broker import connect

    logging.getLogger("nats").setLevel(logging.CRITICAL)  # what goes wrong we say ourselves
    options = credentials(user, authority, nats)
    # Whoever has a name on NATS is the subscriber of that name.
    return connect(nats, subscriber or user, prefix=prefix, **options)


def credentials(user: str | None, authority: str | None, url: str) -> dict[str, Any]:
    """What NATS is told about who we are, and whom we trust.

    Raises:
        BrokerError: A user without a token, or certificates that cannot be read.
    """
    from tamis.broker.encryption import trusting
    from tamis.errors import BrokerError

    told: dict[str, Any] = {}
    # Not on the command line, where everybody on the machine could read them.
    token, seed = os.environ.get("TAMIS_TOKEN"), os.environ.get("TAMIS_NKEY_SEED")
    if user is not None and seed:
        told["nkeys_seed_str"] = seed
    elif user is not None and token:
        told |= {"user": user, "password": token}
    elif user is not None:
        raise BrokerError(f"who is {user!r}? Set TAMIS_TOKEN, or TAMIS_NKEY_SEED", "auth")
    if authority is not None or url.startswith("tls://"):
        told["tls"] = trusting(authority)
    return told
