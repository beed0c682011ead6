"""Authenticate callers, and check their permissions."""

from __future__ import annotations

from starlette.requests import Request

from tamis.broker.security.exposure import is_loopback
from tamis.broker.security.users import User, Users
from tamis.errors import BrokerError

# Without authentication every caller may do everything. That is allowed on the loopback interface
# only.
ANYBODY = User(name="anybody", roles=frozenset({"admin"}))
ANY_ROLE = "any"


def caller_of(request: Request, users: Users | None) -> User:
    """Return the user who makes a request.

    Raises:
        BrokerError: The token is missing or invalid.
    """
    if users is None:
        # Against DNS rebinding: a web page whose host name resolves to this machine has no access.
        host = request.url.hostname or ""
        if not is_loopback(host):
            raise BrokerError(
                f"the host {host} is not served here; use 127.0.0.1 or localhost", "host"
            )
        return ANYBODY
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not token.strip():
        raise BrokerError("no token; send the header `Authorization: Bearer TOKEN`", "auth")
    user = users.with_token(token.strip())
    if user is None:
        raise BrokerError("the token is invalid; create one with `tamis user add`", "auth")
    return user


def check_role(user: User, role: str) -> None:
    """Check that a user has a role.

    Raises:
        BrokerError: The user does not have the role.
    """
    if role != ANY_ROLE and not user.has_role(role):
        raise BrokerError(f"{user.name} does not have the role {role}", "permission")


def check_subscriber(user: User, subscriber: str) -> None:
    """Check that a user may act as a subscriber.

    Raises:
        BrokerError: The user may not.
    """
    if not user.can_act_as(subscriber):
        # The same message whether or not the subscriber exists.
        raise BrokerError(f"{user.name} may not act as the subscriber {subscriber}", "permission")
