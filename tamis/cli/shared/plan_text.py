"""The plan of a subscription among others: what `tamis explain --plan` shows."""

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
    """Load the subscriptions, for a plan depends on all of them, and ask for one.

    Args:
        matcher: An empty one, whose engine has plans.
        id: The subscription.
        selector: Its selector.
        subscriptions: The file that it is from, if any.
        events: A file of typical events, if any.
    """
    if subscriptions is not None:
        from tamis.events.subscription_files import read_subscriptions

        # Bad lines elsewhere are no matter of this one, as with the event.
        rows = read_subscriptions(subscriptions, "skip")
        matcher.add_many([row[:3] for row in rows], bad="skip")
    if id not in matcher:
        matcher.add(id, selector)
    return matcher.plan(id, None if events is None else _typical_events(events, matcher))


def _typical_events(file: str, matcher: Matcher) -> EventBatch | None:
    """The first events of a file: as many as a batch of it has."""
    from tamis.events.files import read_events

    for chunk in read_events(file, matcher.schema, matcher.semantics):
        return chunk.batch
    return None
