"""The users file: names, roles and credentials.

The file holds only hashes of tokens. A token is 256 random bits, so a fast hash protects it as well
as a slow one: SHA-256 for HTTP, and bcrypt at its lowest cost for NATS, which accepts no other. Of
a NATS key (nkey) the file holds the public half.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from tamis.broker.protocol.names import checked_name
from tamis.errors import BrokerError

ROLES = {
    "publish": "publish events",
    "subscribe": "manage subscriptions and read deliveries, under the user's name",
    "metrics": "read the metrics of the service",
    "link": "run the link of the node with the user's name, and nothing else",
    "admin": "everything, on behalf of every user",
}
FILE = "users.json"

_TOKEN_BYTES = 32
_BCRYPT_ROUNDS = 4
_PUBLIC_KEY = re.compile(r"U[A-Z2-7]{55}")


@dataclass(frozen=True, kw_only=True)
class User:
    """A user.

    Attributes:
        name: The name, also as a subscriber.
        roles: The roles, keys of `ROLES`.
        subscribers: Other subscribers as which the user may act.
        sha256: The SHA-256 hash of the token in hexadecimal; empty without a token.
        bcrypt: The bcrypt hash of the token; empty without a token.
        nkey: The public NATS key; empty without one.
    """

    name: str
    roles: frozenset[str]
    subscribers: tuple[str, ...] = ()
    sha256: str = ""
    bcrypt: str = ""
    nkey: str = ""

    def has_role(self, role: str) -> bool:
        """Return whether the user has a role; an admin has all roles."""
        return role in self.roles or "admin" in self.roles

    def can_act_as(self, subscriber: str) -> bool:
        """Return whether the user may act as a subscriber."""
        return "admin" in self.roles or subscriber in self.all_subscribers

    @property
    def all_subscribers(self) -> tuple[str, ...]:
        """The subscribers as which the user may act; none without the role `subscribe`."""
        if "subscribe" not in self.roles:
            return ()
        return tuple(dict.fromkeys((self.name, *self.subscribers)))


def checked_user(name: str, roles: Iterable[str], subscribers: Iterable[str] = ()) -> User:
    """Return a user without credentials.

    Raises:
        BrokerError: A name or a role is invalid.
    """
    given = frozenset(roles)
    if not given or not given <= ROLES.keys():
        wrong = ", ".join(sorted(given - ROLES.keys())) or "none"
        raise BrokerError(f"the roles are {', '.join(ROLES)}, not {wrong}", "request")
    also = tuple(checked_name(each) for each in subscribers)
    if "link" in given and (len(given) > 1 or also):
        raise BrokerError(
            "a user with the role link cannot have other roles or subscribers; add another user "
            "for them",
            "request",
        )
    return User(name=checked_name(name, "user"), roles=given, subscribers=also)


def with_new_token(user: User) -> tuple[User, str]:
    """Return the user with a new token, and the token, which is not stored in readable form.

    Raises:
        BrokerError: The bcrypt library is not installed.
    """
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    return replace(user, sha256=token_hash(token), bcrypt=nats_hash(token)), token


def with_nkey(user: User, public: str) -> User:
    """Return the user with a public NATS key.

    Raises:
        BrokerError: It is not the public key of a user.
    """
    if public.startswith("S"):
        raise BrokerError(
            "that is a seed, which is secret; give the public key, which starts with U", "request"
        )
    if not _PUBLIC_KEY.fullmatch(public):
        raise BrokerError(
            "a public key of a user is U followed by 55 letters and digits", "request"
        )
    return replace(user, nkey=public)


def new_nkey() -> tuple[str, str]:
    """Return a new NATS key: its public half, and its seed, which is secret.

    Raises:
        BrokerError: The nkeys library is not installed.
    """
    try:
        import nkeys
    except ModuleNotFoundError as error:
        raise BrokerError(f"{error}; pip install 'tamis[broker]'", "missing") from None
    seed = nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER)
    public: bytes = nkeys.from_seed(bytearray(seed)).public_key
    return public.decode(), bytes(seed).decode()


def token_hash(token: str) -> str:
    """Return the hash of a token that is stored for HTTP."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def nats_hash(token: str) -> str:
    """Return the hash of a token that is stored for NATS.

    Raises:
        BrokerError: The bcrypt library is not installed.
    """
    try:
        import bcrypt
    except ModuleNotFoundError as error:
        raise BrokerError(f"{error}; pip install 'tamis[broker]'", "missing") from None
    return bcrypt.hashpw(token.encode(), bcrypt.gensalt(_BCRYPT_ROUNDS)).decode()


@dataclass
class Users:
    """All users, by name and by the hash of their token."""

    by_name: dict[str, User] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Index the users by token."""
        self._by_token = {user.sha256: user for user in self.by_name.values() if user.sha256}

    def with_token(self, token: str) -> User | None:
        """Return the user with a token, or None."""
        # A look-up by hash: its duration reveals nothing about any token.
        return self._by_token.get(token_hash(token))


def read_users(path: Path) -> Users:
    """Read the users file.

    Raises:
        BrokerError: It cannot be read, or is not a users file.
    """
    try:
        content = json.loads(path.read_bytes())
        return Users({user.name: user for user in map(_parse_user, content["users"])})
    except OSError as error:
        raise BrokerError(f"{path}: {error.strerror or error}", "users") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BrokerError(f"{path} is not a users file: {error!r}", "users") from None


def write_users(path: Path, users: Users) -> None:
    """Write the users file atomically, readable by its owner only.

    Raises:
        BrokerError: It cannot be written.
    """
    content = {"users": [_user_record(user) for _, user in sorted(users.by_name.items())]}
    new = path.with_name(path.name + f".{secrets.token_hex(4)}.new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(json.dumps(content, indent=2) + "\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise BrokerError(f"{path}: {error.strerror or error}", "users") from None


def _parse_user(record: dict[str, object]) -> User:
    known = checked_user(
        str(record["name"]), _texts(record["roles"]), _texts(record.get("subscribers"))
    )
    given = {name: str(record.get(name) or "") for name in ("sha256", "bcrypt", "nkey")}
    user = replace(known, sha256=given["sha256"], bcrypt=given["bcrypt"])
    return with_nkey(user, given["nkey"]) if given["nkey"] else user


def _texts(value: object) -> list[str]:
    if not isinstance(value, list | None):
        raise TypeError(f"expected a list, not {value!r}")
    return [str(each) for each in value or ()]


def _user_record(user: User) -> dict[str, object]:
    record: dict[str, object] = {"name": user.name, "roles": sorted(user.roles)}
    if user.subscribers:
        record["subscribers"] = list(user.subscribers)
    credentials = {"sha256": user.sha256, "bcrypt": user.bcrypt, "nkey": user.nkey}
    return record | {name: value for name, value in credentials.items() if value}
