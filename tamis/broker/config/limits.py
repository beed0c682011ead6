"""Limits on subscriptions and events. All requests are checked here and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass

from tamis.broker.config.selector_cost import cost
from tamis.broker.protocol.names import checked_id
from tamis.engines.subscription import Subscription
from tamis.errors import BrokerError, SubscriptionError
from tamis.schema import Schema
from tamis.storage.index.id_rules import check_new

KIB = 1024
# NATS takes a TTL in whole seconds that fits into 64 bits as nanoseconds.
_LONGEST = 100 * 365 * 86_400


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of a broker.

    Attributes:
        selector: The largest selector, in bytes.
        cost: The highest cost of a selector, as `tamis.broker.config.selector_cost` computes it.
        subscriptions: The most subscriptions of one subscriber. Each broker counts on its own, so
            a burst through several brokers may exceed it a little.
        event: The largest event, in bytes.
        at_once: The most subscriptions in one request.
    """

    selector: int = 64 * KIB
    cost: int = 5_000
    subscriptions: int = 100_000
    event: int = 512 * KIB
    at_once: int = 10_000


@dataclass(frozen=True, slots=True)
class SubscriptionRequest:
    """A subscription as a subscriber requests it; times are in seconds."""

    id: str
    selector: str
    priority: int = 0
    ttl: float | None = None


def check_subscription(
    request: SubscriptionRequest, limits: Limits, held: int, schema: Schema | None, semantics: str
) -> Subscription:
    """Check and parse a requested subscription.

    Args:
        request: The subscription.
        limits: The limits.
        held: How many other subscriptions this subscriber has.
        schema: The attributes of events, or None.
        semantics: What a missing attribute means.

    Returns:
        The parsed subscription.

    Raises:
        BrokerError: The request is malformed or exceeds a limit.
        SelectorError: The selector is invalid.
    """
    checked_id(request.id)
    if not isinstance(request.selector, str):
        raise BrokerError("a subscription needs a selector, which is a string", "request")
    if held >= limits.subscriptions:
        raise BrokerError(
            f"a subscriber has at most {limits.subscriptions:,} subscriptions; remove some", "limit"
        )
    check_ttl(request.ttl)
    try:
        check_new(request.id, request.priority, None)
    except SubscriptionError as error:
        raise BrokerError(str(error), "request") from None
    return check_selector(request.selector, limits, schema, semantics, request.id, request.priority)


def check_selector(
    selector: str,
    limits: Limits,
    schema: Schema | None,
    semantics: str,
    id: str = "",
    priority: int = 0,
) -> Subscription:
    """Check and parse a selector.

    Raises:
        BrokerError: It exceeds a limit.
        SelectorError: It is invalid.
    """
    size = len(selector.encode(errors="replace"))
    if size > limits.selector:
        raise BrokerError(
            f"the selector has {size:,} bytes; the limit is {limits.selector:,} bytes", "limit"
        )
    subscription = Subscription.of(id, selector, priority, schema, semantics)
    costs = cost(subscription.selector)
    if costs > limits.cost:
        raise BrokerError(
            f"the selector costs {costs:,}; the limit is {limits.cost:,}. Use fewer tests or "
            "shorter regular expressions, or split it into several subscriptions",
            "limit",
        )
    return subscription


def check_ttl(ttl: float | None) -> None:
    """Check a time to live; None is valid.

    Raises:
        BrokerError: It is not a number of seconds in the range that NATS takes.
    """
    if ttl is None:
        return
    if isinstance(ttl, bool) or not isinstance(ttl, int | float) or not 1 <= ttl <= _LONGEST:
        raise BrokerError(f"ttl must be a number of seconds, 1 or more, not {ttl!r}", "request")
