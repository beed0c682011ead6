"""Settings of `tamis serve`: overlay node, users, certificate, HTTP gateway."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from tamis.errors import BrokerError

if TYPE_CHECKING:
    from tamis.broker.config.settings import NodeSettings
    from tamis.broker.security.guard import Guard
    from tamis.broker.service.broker import Broker


class Routing(StrEnum):
    """How events are routed between the nodes of an overlay."""

    edge = "edge"
    covering = "covering"
    siena = "siena"
    flooding = "flooding"


def node_settings(
    name: str | None,
    links: list[str],
    routing: str,
    filters: tuple[int, int],
    queue: int,
    authority: str | None,
) -> NodeSettings | None:
    """Return the settings of an overlay node, or None if the broker is not to be one.

    Raises:
        BrokerError: There are links but no name, or the name is not valid.
    """
    from tamis.bloom.hashing import Shape
    from tamis.broker.config.settings import NodeSettings
    from tamis.broker.protocol.names import checked_name
    from tamis.cli.shared.broker_client import credentials

    if name is None:
        if links:
            raise BrokerError("a node with links needs a name: --name paris", "request")
        return None
    user = os.environ.get("TAMIS_LINK_USER")
    secrets = {"token": "TAMIS_LINK_TOKEN", "seed": "TAMIS_LINK_NKEY_SEED"}
    return NodeSettings(
        name=checked_name(name, "node"),
        routing=routing,
        shape=Shape(*filters),
        links=tuple(links),
        queue=queue,
        options=credentials(user, authority, links[0], **secrets) if links else {},
    )


def build_guard(
    users: Path | None, data: Path, prefix: str, certificate: str | None, key: str | None
) -> Guard:
    """Return the guard: users, their permissions, and TLS.

    Raises:
        BrokerError: A file is missing.
    """
    from tamis.broker.protocol.names import Names
    from tamis.broker.security.guard import Guard, UsersFile

    if (certificate is None) != (key is None):
        raise BrokerError("give both --tls-cert and --tls-key", "tls")
    for file in (certificate, key):
        if file is not None and not Path(file).is_file():
            raise BrokerError(f"{file}: no such file", "tls")
    return Guard(
        store=data,
        names=Names(prefix),
        file=None if users is None else UsersFile(users),
        certificate=None if certificate is None else str(Path(certificate).absolute()),
        key=None if key is None else str(Path(key).absolute()),
    )


def hosts_of(http: str | None) -> list[str]:
    """Return the host that HTTP listens on, or an empty list without HTTP.

    Raises:
        BrokerError: It is not a valid address.
    """
    from tamis.broker.security.exposure import parsed_address

    return [] if http is None else [parsed_address(http)[0]]


def gateway_runner(
    http: str | None, guard: Guard, say: Callable[[str], None]
) -> Callable[[Broker], AbstractAsyncContextManager[object]] | None:
    """Return what runs the HTTP gateway beside a broker, or None without HTTP.

    Raises:
        BrokerError: The gateway is not installed, or would be open to everybody.
    """
    if http is None:
        return None
    from tamis.broker.security.exposure import check_exposed, parsed_address
    from tamis.broker.security.guard import UsersFile

    try:
        from tamis.gateway.gateway_settings import GatewaySettings
        from tamis.gateway.http_server import gateway
    except ModuleNotFoundError as error:
        raise BrokerError(f"{error}; pip install 'tamis[http]'", "missing") from None
    host, port = parsed_address(http)
    check_exposed(host, guard.file is not None, "HTTP")
    settings = GatewaySettings(host=host, port=port, certificate=guard.certificate, key=guard.key)
    # Its own UsersFile: the guard polls for changes too, and each must see them.
    file = None if guard.file is None else UsersFile(guard.file.path)

    @asynccontextmanager
    async def run(broker: Broker) -> AsyncIterator[None]:
        async with gateway(broker, settings, file) as url:
            say(f"HTTP at {url}")
            yield

    return run
