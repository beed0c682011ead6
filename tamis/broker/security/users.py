"""The file of users: who may do what, and by which token or key they are known.

Nobody can read a token from it. A token is 256 random bits, so a fast hash keeps it as well as a
slow one: SHA-256 for HTTP, and for NATS, which knows no other, bcrypt at its lowest cost. Of a key
of NATS (nkey) it holds the public half.
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
    "subscribe": "have subscriptions and read their deliveries, under its own name",
    "metrics": "read the figures of the service",
    "link": "run the link of the node of its own name, and nothing else",
    "admin": "all of that, in everybody's name",
}
FILE = "users.json"

_TOKEN_BYTES = 32
_BCRYPT_ROUNDS = 4
_PUBLIC_KEY = re.compile(r"U[A-Z2-7]{55}")


@dataclass(frozen=True, kw_only=True)
class User:
    """Somebody.

    Attributes:
        name: What they are called; also the subscriber that they are.
        roles: Names of `ROLES`.
        subscribers: More subscribers that they may be.
        sha256: Of the token, in hexadecimal; empty if there is none.
        bcrypt: Of the token; empty if there is none.
        nkey: A public key of NATS; empty if there is none.
    """

    name: str
    roles: frozenset[str]
    subscribers: tuple[str, ...] = ()
    sha256: str = ""
    bcrypt: str = ""
    nkey: str = ""

    def has_role(self, role: str) -> bool:
        """Whether they have a role; who is admin has all."""
        return role in self.roles or "admin" in self.roles

    def can_act_as(self, subscriber: str) -> bool:
        """Whether a subscriber's subscriptions and deliveries are theirs."""
        return "admin" in self.roles or subscriber in self.all_subscribers

    @property
    def all_subscribers(self) -> tuple[str, ...]:
        """Whoever they may be, for those who may subscribe."""
        if "subscribe" not in self.roles:
            return ()
        return tuple(dict.fromkeys((self.name, *self.subscribers)))


def checked_user(name: str, roles: Iterable[str], subscribers: Iterable[str] = ()) -> User:
    """A user without a token.

    Raises:
        BrokerError: A name or a role is none.
    """
    asked = frozenset(roles)
    if not asked or not asked <= ROLES.keys():
        wrong = ", ".join(sorted(asked - ROLES.keys())) or "none"
        raise BrokerError(f"the roles are {', '.join(ROLES)}, not {wrong}", "request")
    also = tuple(checked_name(each) for each in subscribers)
    if "link" in asked and (len(asked) > 1 or also):
        raise BrokerError(
            "who runs a link does nothing else: give them another user for that", "request"
        )
    return User(name=checked_name(name, "user"), roles=asked, subscribers=also)


def with_new_token(user: User) -> tuple[User, str]:
    """Give a user a new token, which can be read only now.

    Raises:
        BrokerError: The library for it is not installed.
    """
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    return replace(user, sha256=token_hash(token), bcrypt=nats_hash(token)), token


def with_nkey(user: User, public: str) -> User:
    """Give a user a public key of NATS.

    Raises:
        BrokerError: It is none.
    """
    if public.startswith("S"):
        raise BrokerError("that is a seed, which is secret; give the public key, U…", "request")
    if not _PUBLIC_KEY.fullmatch(public):
        raise BrokerError("a public key of a user is U and 55 letters and digits", "request")
    return replace(user, nkey=public)


def new_nkey() -> tuple[str, str]:
    """A new key of NATS: its public half, and its seed, which is secret.

    Raises:
        BrokerError: The library for it is not installed.
    """
    try:
        import nkeys
    except ModuleNotFoundError as error:
        raise BrokerError(f"{error}; pip install 'tamis[broker]'", "missing") from None
    seed = nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER)
    public: bytes = nkeys.from_seed(bytearray(seed)).public_key
    return public.decode(), bytes(seed).decode()


def token_hash(token: str) -> str:
    """What is kept of a token for HTTP."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def nats_hash(token: str) -> str:
    """What is kept of a token for NATS.

    Raises:
        BrokerError: The library for it is not installed.
    """
    try:
        import bcrypt
    except ModuleNotFoundError as error:
        raise BrokerError(f"{error}; pip install 'tamis[broker]'", "missing") from None
    return bcrypt.hashpw(token.encode(), bcrypt.gensalt(_BCRYPT_ROUNDS)).decode()


@dataclass
class Users:
    """All users, by name, and by what is kept of their tokens."""

    by_name: dict[str, User] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Find users by their tokens."""
        self._by_token = {user.sha256: user for user in self.by_name.values() if user.sha256}

    def with_token(self, token: str) -> User | None:
        """Whoever has this token."""
        # A look-up by the hash: how long it takes tells nothing about any token.
        return self._by_token.get(token_hash(token))


def read_users(path: Path) -> Users:
    """Read the file of users.

    Raises:
        BrokerError: It cannot be read, or holds something else.
    """
    try:
        told = json.loads(path.read_bytes())
        return Users({user.name: user for user in map(_parse_user, told["users"])})
    except OSError as error:
        raise BrokerError(f"{path}: {error.strerror or error}", "users") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BrokerError(f"{path} is no file of users: {error!r}", "users") from None


def write_users(path: Path, users: Users) -> None:
    """Write the file of users, all of it or nothing, for its owner alone.

    Raises:
        BrokerError: It cannot be written.
    """
    told = {"users": [_user_record(user) for _, user in sorted(users.by_name.items())]}
    new = path.with_name(path.name + f".{secrets.token_hex(4)}.new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(json.dumps(told, indent=2) + "\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise BrokerError(f"{path}: {error.strerror or error}", "users") from None


def _parse_user(told: dict[str, object]) -> User:
    known = checked_user(str(told["name"]), _texts(told["roles"]), _texts(told.get("subscribers")))
    given = {name: str(told.get(name) or "") for name in ("sha256", "bcrypt", "nkey")}
    user = replace(known, sha256=given["sha256"], bcrypt=given["bcrypt"])
    return with_nkey(user, given["nkey"]) if given["nkey"] else user


def _texts(told: object) -> list[str]:
    if not isinstance(told, list | None):
        raise TypeError(f"a list, not {told!r}")
    return [str(each) for each in told or ()]


def _user_record(user: User) -> dict[str, object]:
    told: dict[str, object] = {"name": user.name, "roles": sorted(user.roles)}
    if user.subscribers:
        told["subscribers"] = list(user.subscribers)
    found = {"sha256": user.sha256, "bcrypt": user.bcrypt, "nkey": user.nkey}
    return told | {name: value for name, value in found.items() if value}
