"""The guard of a server of ours: users and TLS become its configuration, also while it runs."""

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
    """The file of users, as it is now.

    Attributes:
        path: Where it is.
        users: What was in it when it was last read, and was whole.
    """

    path: Path
    users: Users = field(default_factory=Users)
    _seen: tuple[int, int, int] | None = None

    def __post_init__(self) -> None:
        """Read it.

        Raises:
            BrokerError: It cannot be read.
        """
        self._seen = self._stamp()
        self.users = read_users(self.path)

    def refresh(self) -> bool:
        """Read it again if it has changed; whether it has."""
        stamp = self._stamp()
        if stamp == self._seen:
            return False
        self._seen = stamp
        try:
            self.users = read_users(self.path)
        except BrokerError as error:
            # Whoever was let in yesterday still is: a slip of the pen locks nobody out.
            log.warning("%s; the users stay as they were", error)
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
    """What a server of ours is told about users and TLS, and how the broker gets in.

    Attributes:
        store: The folder of the server; brokers with the same one find their password there.
        names: All names.
        file: The users, or None for a server that asks nobody.
        certificate: A file, or None for no TLS.
        key: Its key.
    """

    store: Path
    names: Names
    file: UsersFile | None = None
    certificate: str | None = None
    key: str | None = None
    _hash: str = ""

    def sections(self) -> tuple[str, ...]:
        """For the configuration of the server.

        Raises:
            BrokerError: The folder cannot be written.
        """
        told = []
        if self.file is not None:
            # The same text as before, or NATS would take it for a new password and hang up.
            self._hash = self._hash or nats_hash(self._password())
            told.append(accounts(self.file.users, self.names, self._hash))
        if self.certificate is not None and self.key is not None:
            told.append(tls(self.certificate, self.key))
        return tuple(told)

    def options(self) -> dict[str, Any]:
        """For the connection of the broker.

        Raises:
            BrokerError: The folder cannot be written, or the certificate not be read.
        """
        told: dict[str, Any] = {}
        if self.file is not None:
            told |= {"user": BROKER, "password": self._password()}
        if self.certificate is not None:
            told["tls"] = pinned_tls_context(self.certificate)
        return told

    async def watch(self, changed: Callable[[tuple[str, ...]], Awaitable[None]]) -> None:
        """Tell of new sections whenever the file of users has changed; for ever."""
        while self.file is not None:
            await asyncio.sleep(_PAUSE)
            if self.file.refresh():
                await changed(self.sections())
                log.info("the users have changed")

    def _password(self) -> str:
        """The password of brokers, made once."""
        path = self.store / _SECRET
        try:
            self.store.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not path.exists():
                # Whole or not at all, and by one broker only if several start at once.
                new = path.with_name(f"{_SECRET}.{secrets.token_hex(4)}")
                new.touch(mode=0o600)
                new.write_text(secrets.token_urlsafe(32), encoding="ascii")
                with suppress(FileExistsError):
                    os.link(new, path)
                new.unlink()
            return path.read_text(encoding="ascii").strip()
        except OSError as error:
            raise BrokerError(f"{path}: {error.strerror or error}", "storage") from None
