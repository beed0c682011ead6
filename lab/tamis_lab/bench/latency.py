"""Latency of single events through `Matcher.match`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np

from tamis.matcher import Matcher
from tamis_lab.harness.measure import Row

PERCENTILES = (50, 90, 99)


def latencies(
    matcher: Matcher, events: Sequence[Mapping[str, object]], most_seconds: float = 60.0
) -> Row:
    """Return percentiles in microseconds over one call per event, or as many as time allows."""
    for event in events[: max(1, len(events) // 20)]:  # to warm up
        matcher.match(event)
    taken: list[int] = []
    end = time.perf_counter() + most_seconds
    for event in events:
        begun = time.perf_counter_ns()
        matcher.match(event)
        taken.append(time.perf_counter_ns() - begun)
        if time.perf_counter() > end:
            break
    micros = np.array(taken) / 1000
    found = {f"p{p}_us": float(np.percentile(micros, p)) for p in PERCENTILES}
    return {"calls": len(taken), **found, "max_us": float(micros.max())}
