"""Compare a block matcher with the oracle, on all pairs or on a sample of them."""

from __future__ import annotations

import random
from collections.abc import Iterable
from contextlib import suppress

import tamis
from tamis.engines.block import BlockEngine
from tamis.engines.subscription import satisfies
from tamis.errors import SelectorError


def filled(matcher: tamis.Matcher, selectors: Iterable[str]) -> tamis.Matcher:
    """Add selectors with numbers as ids, without those that the schema rejects."""
    for number, text in enumerate(selectors):
        with suppress(SelectorError):
            matcher.add(number, text, number % 3)
    return matcher


def engine_of(matcher: tamis.Matcher) -> BlockEngine:
    """Return the engine, for tests of its internals."""
    engine = matcher._engine
    assert isinstance(engine, BlockEngine)
    return engine


def compared(
    matcher: tamis.Matcher, events: object, draw: random.Random | None = None, few: int = 40
) -> int:
    """Compare with the oracle; return the number of pairs compared.

    All events are matched at once. With `draw`, a few events are compared on all subscriptions, and
    a few subscriptions on all events.
    """
    batch = tamis.EventBatch.of(events, matcher.schema, matcher.semantics)
    found = list(matcher.match_batch(batch))
    pairs = set(found)
    assert len(found) == len(pairs), "a pair was found twice"
    rows = batch.rows()
    subscriptions = [matcher[id] for id in matcher]
    some, chosen = set(range(len(rows))), set(matcher)
    if draw is not None:
        some = set(draw.sample(sorted(some), min(few, len(some))))
        chosen = set(draw.sample(sorted(chosen), min(few, len(chosen))))
    checked = 0
    for event, row in enumerate(rows):
        for subscription in subscriptions:
            if event in some or subscription.id in chosen:
                checked += 1
                got = (event, subscription.id) in pairs
                assert satisfies(row, subscription) is got, f"{got}: {subscription.text} on {row}"
    assert all(id in matcher for _, id in found)
    return checked
