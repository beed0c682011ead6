"""How verbs reach the brokers."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from tamis.broker.client.connect import ClientContext

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
PrefixOption = Annotated[
    str, typer.Option(metavar="NAME", help="What all names on NATS begin with.")
]
AuthorityOption = Annotated[
    str | None,
    typer.Option("--tls-ca", metavar="FILE", help="Certificates to trust.", envvar="TAMIS_TLS_CA"),
]


def client(
    nats: str, subscriber: str | None, prefix: str, user: str | None, authority: str | None
) -> ClientContext:
    """A client, for `with`."""
    from tamis.broker import connect

    logging.getLogger("nats").setLevel(logging.CRITICAL)  # what goes wrong we say ourselves
    options = credentials(user, authority, nats)
    # Whoever has a name on NATS is the subscriber of that name.
    return connect(nats, subscriber or user, prefix=prefix, **options)


def credentials(
    user: str | None,
    authority: str | None,
    url: str,
    *,
    token: str = "TAMIS_TOKEN",
    seed: str = "TAMIS_NKEY_SEED",
) -> dict[str, Any]:
    """What NATS is told about who we are, and whom we trust.

    Args:
        user: Who we are, or None.
        authority: A file of certificates to trust, or None.
        url: Of the server.
        token: The variable of the environment that holds the token.
        seed: That which holds the seed of a key.

    Raises:
        BrokerError: A user without a token, or certificates that cannot be read.
    """
    from tamis.broker.security.tls import tls_context
    from tamis.errors import BrokerError

    told: dict[str, Any] = {}
    # Not on the command line, where everybody on the machine could read them.
    secret, key = os.environ.get(token), os.environ.get(seed)
    if user is not None and key:
        told["nkeys_seed_str"] = key
    elif user is not None and secret:
        told |= {"user": user, "password": secret}
    elif user is not None:
        raise BrokerError(f"who is {user!r}? Set {token}, or {seed}", "auth")
    if authority is not None or url.startswith("tls://"):
        told["tls"] = tls_context(authority)
    return told
