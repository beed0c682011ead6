"""What a subscriber may ask for, and a publisher may publish: checked here and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass

from tamis.broker.config.selector_cost import cost
from tamis.broker.protocol.names import checked_id
from tamis.engines.subscription import Subscription
from tamis.errors import BrokerError, SubscriptionError
from tamis.schema import Schema
from tamis.storage.index.id_rules import check_new

KIB = 1024
# A TTL of NATS is whole seconds, and fits into 64 bits as nanoseconds.
_LONGEST = 100 * 365 * 86_400


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds.

    Attributes:
        selector: Bytes of a selector.
        cost: What a selector may cost; `tamis.broker.config.selector_cost` says what that is.
        subscriptions: Subscriptions of one subscriber; brokers count by themselves, so a burst
            through several of them may pass a little over it.
        event: Bytes of an event.
        at_once: Subscriptions in one request.
    """

    selector: int = 64 * KIB
    cost: int = 5_000
    subscriptions: int = 100_000
    event: int = 512 * KIB
    at_once: int = 10_000


@dataclass(frozen=True, slots=True)
class SubscriptionRequest:
    """A subscription that a subscriber asks for; times are in seconds."""

    id: str
    selector: str
    priority: int = 0
    ttl: float | None = None


def check_subscription(
    request: SubscriptionRequest, limits: Limits, held: int, schema: Schema | None, semantics: str
) -> Subscription:
    """See that a subscription may be had.

    Args:
        request: The subscription.
        limits: The bounds.
        held: How many others this subscriber has.
        schema: The attributes of events, or None.
        semantics: What a missing attribute means.

    Raises:
        BrokerError: It is beyond a limit, or malformed.
        SelectorError: The selector is refused.
    """
    checked_id(request.id)
    if not isinstance(request.selector, str):
        raise BrokerError("a subscription needs a selector, as text", "request")
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
    """See that a selector is one, and not beyond a limit.

    Raises:
        BrokerError: It is.
        SelectorError: It is refused.
    """
    size = len(selector.encode(errors="replace"))
    if size > limits.selector:
        raise BrokerError(
            f"a selector has at most {limits.selector:,} bytes, not {size:,}", "limit"
        )
    made = Subscription.of(id, selector, priority, schema, semantics)
    costs = cost(made.selector)
    if costs > limits.cost:
        raise BrokerError(
            f"the selector would cost {costs:,}, and the limit is {limits.cost:,}: fewer tests, "
            "or shorter regular expressions; or several subscriptions",
            "limit",
        )
    return made


def check_ttl(ttl: float | None) -> None:
    """See that a time to live is one.

    Raises:
        BrokerError: It is not.
    """
    if ttl is None:
        return
    if isinstance(ttl, bool) or not isinstance(ttl, int | float) or not 1 <= ttl <= _LONGEST:
        raise BrokerError(f"ttl is a number of seconds from 1 on, not {ttl!r}", "request")
