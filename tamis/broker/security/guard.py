"""Write users and TLS into the configuration of our NATS server, also while it runs."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tamis.broker.fabric.connection import log
from tamis.broker.protocol.names import Names
from tamis.broker.security.accounts import BROKER, accounts, tls
from tamis.broker.security.tls import pinned_tls_context
from tamis.broker.security.users import Users, nats_hash, read_users
from tamis.errors import BrokerError

_SECRET = "broker.secret"
_PAUSE = 0.5


@dataclass
class UsersFile:
    """The users file, read again when it changes.

    Attributes:
        path: The path of the file.
        users: The users of the last valid version of the file.
    """

    path: Path
    users: Users = field(default_factory=Users)
    _seen: tuple[int, int, int] | None = None

    def __post_init__(self) -> None:
        """Read the file.

        Raises:
            BrokerError: The file cannot be read.
        """
        self._seen = self._stamp()
        self.users = read_users(self.path)

    def refresh(self) -> bool:
        """Read the file if it has changed; return whether there are new users."""
        stamp = self._stamp()
        if stamp == self._seen:
            return False
        self._seen = stamp
        try:
            self.users = read_users(self.path)
        except BrokerError as error:
            # The old users stay valid, so that a typing error locks nobody out.
            log.warning("%s; keeping the previous users", error)
            return False
        return True

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


@dataclass(kw_only=True)
class Guard:
    """Users and TLS for the configuration of our NATS server, and the credentials of the broker.

    Attributes:
        store: The folder of the server; brokers that share it find their password there.
        names: The names of the system.
        file: The users, or None for a server without authentication.
        certificate: The certificate file, or None for no TLS.
        key: The key file of the certificate.
    """

    store: Path
    names: Names
    file: UsersFile | None = None
    certificate: str | None = None
    key: str | None = None
    _hash: str = ""

    def sections(self) -> tuple[str, ...]:
        """Return the sections for the configuration of the server.

        Raises:
            BrokerError: The folder is not writable.
        """
        sections = []
        if self.file is not None:
            # Keep the same hash: a new one looks like a new password to NATS, which then closes the
            # connection of the broker.
            self._hash = self._hash or nats_hash(self._password())
            sections.append(accounts(self.file.users, self.names, self._hash))
        if self.certificate is not None and self.key is not None:
            sections.append(tls(self.certificate, self.key))
        return tuple(sections)

    def options(self) -> dict[str, Any]:
        """Return the connection options of the broker.

        Raises:
            BrokerError: The folder is not writable, or the certificate cannot be read.
        """
        options: dict[str, Any] = {}
        if self.file is not None:
            options |= {"user": BROKER, "password": self._password()}
        if self.certificate is not None:
            options["tls"] = pinned_tls_context(self.certificate)
        return options

    async def watch(self, changed: Callable[[tuple[str, ...]], Awaitable[None]]) -> None:
        """Call `changed` with new sections whenever the users file changes, until cancelled."""
        while self.file is not None:
            await asyncio.sleep(_PAUSE)
            if self.file.refresh():
                await changed(self.sections())
                log.info("users reloaded")

    def _password(self) -> str:
        """Return the password of the brokers, created on first use."""
        path = self.store / _SECRET
        try:
            self.store.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not path.exists():
                # The link is atomic: if several brokers start at once, one of them wins.
                new = path.with_name(f"{_SECRET}.{secrets.token_hex(4)}")
                new.touch(mode=0o600)
                new.write_text(secrets.token_urlsafe(32), encoding="ascii")
                with suppress(FileExistsError):
                    os.link(new, path)
                new.unlink()
            return path.read_text(encoding="ascii").strip()
        except OSError as error:
            raise BrokerError(f"{path}: {error.strerror or error}", "storage") from None
