"""Add and remove parsed subscriptions one by one, and time only that."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Iterator
from itertools import islice

from tamis.engines import Engine
from tamis.engines.subscription import Subscription
from tamis.matches import Id
from tamis_lab.harness.measure import Clock

CHUNK = 20_000


def parse_in_chunks(
    texts: Iterable[str], size: int = CHUNK, first: int = 0
) -> Iterator[list[Subscription]]:
    """Yield chunks of subscriptions with ids from `first` on; chunks, because trees need memory."""
    numbered = enumerate(texts, first)
    while chunk := [Subscription.of(id, text) for id, text in islice(numbered, size)]:
        yield chunk


def seconds_to_add(
    engine: Engine, subscriptions: Iterable[Subscription], clock: Clock = time.perf_counter
) -> float:
    """Add subscriptions with the garbage collector paused, as `Matcher.add_many` does."""
    was_on = gc.isenabled()
    gc.disable()
    begun = clock()
    try:
        for subscription in subscriptions:
            engine.add(subscription)
        return clock() - begun
    finally:
        if was_on:
            gc.enable()


def seconds_to_remove(engine: Engine, ids: Iterable[Id], clock: Clock = time.perf_counter) -> float:
    """Remove subscriptions."""
    begun = clock()
    for id in ids:
        engine.remove(id)
    return clock() - begun
