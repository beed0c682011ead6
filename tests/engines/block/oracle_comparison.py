"""A block matcher beside the oracle: the answers for all pairs, or for some of very many."""

from __future__ import annotations

import random
from collections.abc import Iterable
from contextlib import suppress

import tamis
from tamis.engines.block import BlockEngine
from tamis.engines.subscription import satisfies
from tamis.errors import SelectorError


def filled(matcher: tamis.Matcher, selectors: Iterable[str]) -> tamis.Matcher:
    """Add selectors under numbers, but for those that a schema refuses."""
    for number, text in enumerate(selectors):
        with suppress(SelectorError):
            matcher.add(number, text, number % 3)
    return matcher


def engine_of(matcher: tamis.Matcher) -> BlockEngine:
    """The engine itself, for what only a test may ask of it."""
    engine = matcher._engine
    assert isinstance(engine, BlockEngine)
    return engine


def compared(
    matcher: tamis.Matcher, events: object, draw: random.Random | None = None, few: int = 40
) -> int:
    """Compare with the oracle; how many pairs were.

    All events are matched at once. With `draw`, few of them are compared, with all subscriptions,
    and few subscriptions, on all events.
    """
    batch = tamis.EventBatch.of(events, matcher.schema, matcher.semantics)
    found = list(matcher.match_batch(batch))
    pairs = set(found)
    assert len(found) == len(pairs), "a pair twice"
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
