"""The memory of many subscriptions, by what the process has grown."""

from __future__ import annotations

import ctypes
import gc

from tamis.bench.measure import Row, resident
from tamis.matcher import Matcher
from tamis.workloads.selective import Selective

PREDICATES = 5


def grown(engine: str, size: int) -> Row:
    """Bytes that the process grows by; to be called in a fresh one."""
    workload = Selective(subscriptions=size, predicates=PREDICATES)
    events = workload.events(1000)
    few = Matcher(engine=engine)
    few.add("compiled", next(workload.selectors()))  # this also makes the texts of all tests
    few.match_batch(events)
    before = _settled()
    matcher = Matcher(engine=engine)
    matcher.add_many((f"s{number:07}", text) for number, text in enumerate(workload.selectors()))
    added = _settled() - before
    matcher.match_batch(events)
    matched = _settled() - before
    return {
        "engine": engine,
        "subscriptions": len(matcher),
        "predicates": PREDICATES,
        "bytes": added,
        "bytes_per_predicate": added / len(matcher) / PREDICATES,
        "bytes_after_matching": matched,
        "bytes_per_predicate_after_matching": matched / len(matcher) / PREDICATES,
    }


def _settled() -> int:
    """The memory, once what is free has been given back."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc's
    if trim is not None:
        trim(0)
    return resident()
