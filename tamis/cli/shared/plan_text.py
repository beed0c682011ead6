"""The plan of a subscription, for `tamis explain --plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tamis.engines.introspection import SubscriptionPlan
    from tamis.events.batch import EventBatch
    from tamis.matcher import Matcher
    from tamis.matches import Id


def subscription_plan(
    matcher: Matcher, id: Id, selector: str, subscriptions: str | None, events: str | None
) -> SubscriptionPlan:
    """Return the plan of one subscription, which depends on all others that are loaded.

    Args:
        matcher: An empty matcher, whose engine has plans.
        id: The id of the subscription.
        selector: Its selector.
        subscriptions: The file of all subscriptions, if any.
        events: A file of typical events, if any.
    """
    if subscriptions is not None:
        from tamis.events.subscription_files import read_subscriptions

        # Bad lines of other subscriptions do not matter here, as without --plan.
        rows = read_subscriptions(subscriptions, "skip")
        matcher.add_many([row[:3] for row in rows], bad="skip")
    if id not in matcher:
        matcher.add(id, selector)
    return matcher.plan(id, None if events is None else _typical_events(events, matcher))


def _typical_events(file: str, matcher: Matcher) -> EventBatch | None:
    """Return the first batch of events of a file."""
    from tamis.events.files import read_events

    for chunk in read_events(file, matcher.schema, matcher.semantics):
        return chunk.batch
    return None
