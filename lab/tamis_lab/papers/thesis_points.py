"""Measure engines on a workload of the A-Tree thesis: one workload, one engine, all its metrics.

Seconds are processor time, user and system, as in the thesis (§5.3.1), without parsing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from tamis.engines import ENGINES, Engine
from tamis.engines.atree import AtreeEngine
from tamis.engines.atree.filters import FILTERS
from tamis.engines.block import BlockEngine
from tamis.engines.subscription import Subscription
from tamis.events.batch import EventBatch
from tamis.language.expr import And, BoolExpr
from tamis_lab.bench.atree import load_engine
from tamis_lab.bench.atree_metrics import filter_views, smpe, tree_sizes
from tamis_lab.bench.comparison import ANSWERS
from tamis_lab.bench.insertion import CHUNK, seconds_to_add, seconds_to_remove
from tamis_lab.harness.footprint import settled_memory
from tamis_lab.harness.measure import Row, calibrate_count, rounds, spread
from tamis_lab.workloads.atree2004 import Workload
from tamis_lab.workloads.atree2004.calibration import SteeredWorkload, steer_workload

ROUNDS = 3
# As many events as in the thesis, or as many as have this many matches, which all fit in memory.
EVENTS, PAIRS = 2_000, 10_000_000
DELETED = 50_000  # subscriptions; enough to measure the time of a deletion
WARM = 500  # subscriptions for the run that compiles everything

# `atree` is filled with arrays of known predicates, `added` with subscriptions one by one, like all
# other engines.
ADDED = "added"
TREES = ("atree", ADDED)


def prepare_workload(asked: Mapping[str, Any]) -> Row:
    """Return the workload with the requested SNPS and SMPE, as plain values."""
    return steer_workload(**asked).knobs()


def measure_engine(parameters: Mapping[str, Any], found: Mapping[str, Any]) -> Row:
    """Measure an engine on a workload: insertions, events and deletions per second, memory.

    Args:
        parameters: `engine`, the requested workload, `round_s` (the seconds of matching in a round,
            if there are enough events), and, for an A-Tree, the `filters`; by default all.
        found: What `prepare_workload` returned.
    """
    given = SteeredWorkload.of(found)
    name, workload = parameters["engine"], given.workload
    few = replace(given, workload=replace(workload, subscriptions=WARM))
    filters = parameters.get("filters", list(FILTERS))
    _use(name, few.workload, few.events(50), 0.0, filters)  # compiles everything
    most = max(1, min(EVENTS, int(PAIRS / max(1.0, given.smpe * workload.subscriptions))))
    row = _use(name, workload, given.events(most), parameters["round_s"], filters)
    return row | {"snps_steered": given.snps, "smpe_steered": given.smpe}


def _use(
    name: str, workload: Workload, batch: EventBatch, round_s: float, filters: Sequence[str]
) -> Row:
    before = settled_memory(None)
    engine: Engine
    if name == "atree" and workload.operators == "conjunctive":
        engine, seconds = load_engine(workload, time.process_time)
    else:
        engine, seconds = _fill_engine(name, workload)
    row: Row = {
        "subscriptions": workload.subscriptions,
        "inserted_per_s": workload.subscriptions / max(seconds, 1e-9),
        "resident_bytes": settled_memory(engine) - before,
        **_sizes(engine, workload.subscriptions),
    }
    if name != ADDED:
        for way, view in _views(engine, workload, filters).items():
            name_of_rate = f"events_per_s {way}" if way else "events_per_s"
            row |= spread(name_of_rate, _rates(view, batch, round_s))
            if way:
                boards = int(view.stats()["board_bytes"])  # type: ignore[call-overload]
                row[f"bytes {way}"] = int(row["bytes"]) + boards  # type: ignore[call-overload]
    if name not in ("brute", ADDED):
        part = batch.slice(0, min(len(batch), 200))
        row["smpe"] = smpe(engine, part, workload.subscriptions)
    if name != "brute":
        row["deleted_per_s"] = _deletion_rate(engine, workload.subscriptions)
    return row


def _fill_engine(name: str, workload: Workload) -> tuple[Engine, float]:
    """Return an engine filled with the workload, and the seconds for that."""
    engine: Engine
    if name == ADDED or name == "atree":
        # With XOR, only the filters with queues have nodes for it; they share a tree.
        engine = AtreeEngine("zero-suppression" if workload.operators == "mixed" else None)
    else:
        engine = ENGINES[name]()
    seconds = 0.0
    numbered = enumerate(_expressions(workload))
    while chunk := [
        Subscription(id, "", 0, expression)  # engines do not use the text
        for id, expression in islice(numbered, CHUNK)
    ]:
        seconds += seconds_to_add(engine, chunk, time.process_time)
    return engine, seconds


def _expressions(workload: Workload) -> Iterator[BoolExpr]:
    """Yield the workload's expressions, but with equal predicates as one object: much faster."""
    if workload.operators != "conjunctive":
        yield from workload.expressions()
        return
    known: dict[int, Any] = {}
    make = workload.table.predicate
    for rows in workload.conjunction_chunks():
        for numbers in rows.tolist():
            yield And(tuple(known.get(n) or known.setdefault(n, make(n)) for n in numbers))


def _views(engine: Engine, workload: Workload, filters: Sequence[str]) -> Mapping[str, Engine]:
    """Return an A-Tree behind each of the filters that can use it; any other engine as it is."""
    if not isinstance(engine, AtreeEngine):
        return {"": engine}
    mixed = workload.operators == "mixed"
    return filter_views(engine, [name for name in filters if not (mixed and FILTERS[name].paths)])


def _rates(engine: Engine, batch: EventBatch, round_s: float) -> list[float]:
    """Measure events per second, round by round."""
    do: Callable[[int], object] = lambda count: _pairs(engine, batch.slice(0, count))  # noqa: E731
    # The block engine works on many events at a time, so give it many.
    least = len(batch) if isinstance(engine, BlockEngine) else 1
    count = calibrate_count(do, len(batch), least, round_s, time.process_time)
    taken = rounds({"": partial(do, count)}, ROUNDS, time.process_time)[""]
    return [count / max(seconds, 1e-9) for seconds in taken]


def _pairs(engine: Engine, batch: EventBatch) -> object:
    # A tree that was filled with arrays has no ids: its subscriptions are numbers.
    if not isinstance(engine, AtreeEngine):
        return ANSWERS["pairs"](engine, batch)
    codes, ends = engine.match_codes(batch)
    return np.repeat(np.arange(len(batch)), np.diff(ends, prepend=0)), codes


def _sizes(engine: Engine, subscriptions: int) -> Row:
    if isinstance(engine, AtreeEngine):
        return tree_sizes(engine, subscriptions)
    stats = engine.stats()
    size = stats.get("bytes")
    row: Row = {"nodes": stats["nodes"]} if "nodes" in stats else {}
    if size is not None:
        row["bytes"] = size["all"] if isinstance(size, dict) else size
    return row


def _deletion_rate(engine: Engine, subscriptions: int) -> float:
    """Measure deletions per second, of some random subscriptions."""
    chosen = np.random.default_rng(1).permutation(subscriptions)[:DELETED]
    if isinstance(engine, AtreeEngine) and not engine._codes:  # filled with arrays
        begun = time.process_time()
        engine.tree.delete_many(chosen.astype(np.int32))
        seconds = time.process_time() - begun
    else:
        seconds = seconds_to_remove(engine, chosen.tolist(), time.process_time)
    return len(chosen) / max(seconds, 1e-9)
