"""Options and credentials for verbs that connect to the brokers."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from tamis.broker.client.connect import ClientContext

NatsOption = Annotated[
    str, typer.Option("--nats", metavar="URL", help="The NATS server.", envvar="NATS_URL")
]
UserOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The user to connect as. The token is read from TAMIS_TOKEN, or the seed of an NKey "
        "from TAMIS_NKEY_SEED.",
        envvar="TAMIS_USER",
    ),
]
PrefixOption = Annotated[
    str,
    typer.Option(metavar="NAME", help="The prefix of all subjects, streams and buckets on NATS."),
]
AuthorityOption = Annotated[
    str | None,
    typer.Option(
        "--tls-ca", metavar="FILE", help="The CA certificates to trust.", envvar="TAMIS_TLS_CA"
    ),
]


def client(
    nats: str, subscriber: str | None, prefix: str, user: str | None, authority: str | None
) -> ClientContext:
    """Return a client, to be used in a `with` statement."""
    from tamis.broker import connect

    logging.getLogger("nats").setLevel(logging.CRITICAL)  # we report errors ourselves
    options = credentials(user, authority, nats)
    # A user of NATS is the subscriber of the same name.
    return connect(nats, subscriber or user, prefix=prefix, **options)


def credentials(
    user: str | None,
    authority: str | None,
    url: str,
    *,
    token: str = "TAMIS_TOKEN",
    seed: str = "TAMIS_NKEY_SEED",
) -> dict[str, Any]:
    """Return the options for a NATS connection that concern credentials and TLS.

    Args:
        user: The user, or None.
        authority: A file of CA certificates to trust, or None.
        url: The URL of the server.
        token: The environment variable that holds the token.
        seed: The environment variable that holds the seed of an NKey.

    Raises:
        BrokerError: The user has no token, or the certificates cannot be read.
    """
    from tamis.broker.security.tls import tls_context
    from tamis.errors import BrokerError

    options: dict[str, Any] = {}
    # Not options: everybody on the machine could read them in the list of processes.
    secret, key = os.environ.get(token), os.environ.get(seed)
    if user is not None and key:
        options["nkeys_seed_str"] = key
    elif user is not None and secret:
        options |= {"user": user, "password": secret}
    elif user is not None:
        raise BrokerError(f"no credentials for user {user!r}: set {token} or {seed}", "auth")
    if authority is not None or url.startswith("tls://"):
        options["tls"] = tls_context(authority)
    return options
