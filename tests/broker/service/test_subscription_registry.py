"""A subscription that the request checks have parsed is not parsed again."""

import json
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tamis.broker.fabric.connection import Connection
from tamis.broker.protocol.names import Names
from tamis.broker.service import subscription_registry
from tamis.broker.service.subscription_registry import SubscriptionRegistry
from tamis.engines.subscription import Subscription
from tamis.matcher import Matcher


def _registry() -> SubscriptionRegistry:
    return SubscriptionRegistry(cast(Connection, None), Names(), Matcher(), ThreadPoolExecutor(1))


def _entry(revision: int, key: str, selector: str, priority: int = 0) -> Any:
    return SimpleNamespace(
        subject=f"$KV.tamis-subscriptions.{key}",
        data=json.dumps({"selector": selector, "priority": priority}).encode(),
        headers=None,
        reply=f"$JS.ACK.S.c.1.{revision}.{revision}.1700000000000000000.0",
    )


def test_an_offered_subscription_is_used_if_it_is_the_one_of_the_entry(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed: list[str] = []

    class Counting(Subscription):
        @classmethod
        def of(cls, id: Any, text: str, *rest: Any) -> Subscription:  # type: ignore[override]
            parsed.append(text)
            return Subscription.of(id, text, *rest)

    monkeypatch.setattr(subscription_registry, "Subscription", Counting)
    registry = _registry()
    registry.offer(Subscription.of("ann.a", "x = 1"))
    registry.offer(Subscription.of("ann.b", "x = 2"))
    registry._apply([_entry(1, "ann.a", "x = 1"), _entry(2, "ann.b", "x = 3")])
    registry._apply([_entry(3, "ann.c", "x = 1", priority=5)])
    assert parsed == ["x = 3", "x = 1"]
    assert registry.matcher.match({"x": 1}) == ["ann.c", "ann.a"]
    assert registry.matcher.match({"x": 3}) == ["ann.b"]


def test_what_was_offered_can_be_withdrawn() -> None:
    registry = _registry()
    registry.offer(Subscription.of("ann.a", "x = 1"))
    registry.withdraw(["ann.a", "ann.never-offered"])
    assert not registry._offered
