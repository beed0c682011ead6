"""The memory of many subscriptions, measured as the growth of the process."""

from __future__ import annotations

import ctypes
import gc
from itertools import islice

from tamis.matcher import Matcher
from tamis_lab.harness.measure import Row
from tamis_lab.harness.process_memory import resident_memory
from tamis_lab.workloads.selective import SelectiveWorkload

PREDICATES = 5
# After this many, all kernels are loaded, those for maintenance too: their code is not counted.
_WARM = 10_000


def memory_growth(engine: str, size: int) -> Row:
    """Return the bytes that the process grows by; call this in a fresh process."""
    workload = SelectiveWorkload(subscriptions=size, predicates=PREDICATES)
    events = workload.events(1000)
    few = Matcher(engine=engine)
    few.add_many(enumerate(islice(workload.selectors(), _WARM)))  # and caches texts
    few.match_batch(events)
    settled_memory(few._engine)
    few = Matcher(engine=engine)
    before = settled_memory(few._engine)
    matcher = Matcher(engine=engine)
    matcher.add_many((f"s{number:07}", text) for number, text in enumerate(workload.selectors()))
    added = settled_memory(matcher._engine) - before
    matcher.match_batch(events)
    matched = settled_memory(matcher._engine) - before
    return {
        "engine": engine,
        "subscriptions": len(matcher),
        "predicates": PREDICATES,
        "bytes": added,
        "bytes_per_predicate": added / len(matcher) / PREDICATES,
        "bytes_after_matching": matched,
        "bytes_per_predicate_after_matching": matched / len(matcher) / PREDICATES,
    }


def settled_memory(engine: object) -> int:
    """Return the memory of the process, after maintenance, with free memory released."""
    settle = getattr(engine, "settle", None)
    if settle is not None:
        settle()
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc
    if trim is not None:
        trim(0)
    return resident_memory()
