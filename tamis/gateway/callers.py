"""Who asks, and whether they may."""

from __future__ import annotations

from starlette.requests import Request

from tamis.broker.security.exposure import is_loopback
from tamis.broker.security.users import User, Users
from tamis.errors import BrokerError

# Where nobody is asked who they are, everybody may do everything: on the loopback only.
ANYBODY = User(name="anybody", roles=frozenset({"admin"}))
ANY_ROLE = "any"


def caller_of(request: Request, users: Users | None) -> User:
    """Whoever asks.

    Raises:
        BrokerError: They do not say who they are, or what they say is not true.
    """
    if users is None:
        # A page of some site, whose name was made to point here, must not be let in either.
        host = request.url.hostname or ""
        if not is_loopback(host):
            raise BrokerError(f"this is not {host}: ask for 127.0.0.1 or localhost", "host")
        return ANYBODY
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token.strip():
        raise BrokerError("who are you? Send the header `Authorization: Bearer TOKEN`", "auth")
    user = users.with_token(token.strip())
    if user is None:
        raise BrokerError("nobody has this token; `tamis user add` makes one", "auth")
    return user


def check_role(user: User, role: str) -> None:
    """See that a user may do something.

    Raises:
        BrokerError: They may not.
    """
    if role != ANY_ROLE and not user.has_role(role):
        raise BrokerError(f"{user.name} has not the role {role}", "permission")


def check_subscriber(user: User, subscriber: str) -> None:
    """See that a subscriber's things are the user's.

    Raises:
        BrokerError: They are not.
    """
    if not user.can_act_as(subscriber):
        # The same whether there is such a subscriber or not.
        raise BrokerError(f"{user.name} may not act as the subscriber {subscriber}", "permission")
