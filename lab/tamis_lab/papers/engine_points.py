"""Measure any engine on any workload: a table that no paper has."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from tamis.engines import ENGINES
from tamis.errors import UnsupportedExpression
from tamis.events.batch import EventBatch
from tamis_lab.bench.atree import conjunctions, expressions
from tamis_lab.bench.comparison import ANSWERS, answer_events
from tamis_lab.bench.insertion import parse_in_chunks, seconds_to_add
from tamis_lab.harness.footprint import settled_memory
from tamis_lab.harness.measure import Row, calibrate_count, rounds, spread
from tamis_lab.workloads import bdd2001, bloom2008
from tamis_lab.workloads.flights import Flights
from tamis_lab.workloads.nulls import SparseWorkload
from tamis_lab.workloads.selective import SelectiveWorkload
from tamis_lab.workloads.texts import Requests

ROUNDS = 3
WARM = 500
PAIRS = 10_000_000  # matches that are in memory at once


# By name: the workload for a number of subscriptions, and how its events are drawn.
WORKLOADS: Mapping[str, tuple[Callable[[int], Any], Mapping[str, float]]] = {
    "selective": (lambda size: SelectiveWorkload(subscriptions=size), {}),
    "atree2004 =": (lambda size: conjunctions(size, 10), {"matching": 1.0}),
    "atree2004 AND OR": (lambda size: expressions(size, "disjunctive"), {"scale": 20.0}),
    "atree2004 AND OR XOR": (lambda size: expressions(size, "mixed"), {"scale": 10.0}),
    "bdd2001": (lambda size: bdd2001.Workload(subscriptions=size), {}),
    "bloom2008": (lambda size: bloom2008.Workload(subscriptions=size, names=1000), {}),
    "flights": (lambda size: Flights(alerts=size), {}),
    "nulls": (lambda size: SparseWorkload(subscriptions=size), {}),
    "texts": (lambda size: Requests(subscriptions=size), {}),
}


def measure_engine(parameters: Mapping[str, Any]) -> Row:
    """Measure insertions and events per second, and memory; or report what is unsupported."""
    name, size = parameters["engine"], parameters["subscriptions"]
    make, drawn = WORKLOADS[parameters["workload"]]
    try:
        few = make(WARM)
        _use(name, few, WARM, few.events(50, **drawn), 0.0)
        workload = make(size)
        batch = workload.events(parameters["events"], **drawn)
        return _use(name, workload, size, batch, parameters["round_s"])
    except UnsupportedExpression as error:
        return {"refused": str(error)}


def _use(name: str, workload: Any, size: int, batch: EventBatch, round_s: float) -> Row:
    before = settled_memory(None)
    engine = ENGINES[name]()
    seconds = sum(
        seconds_to_add(engine, chunk, time.process_time)
        for chunk in parse_in_chunks(workload.selectors())
    )
    grown = settled_memory(engine) - before
    sample = batch.slice(0, 20)
    per_event = len(engine.match(sample)) / len(sample)
    part = batch.slice(0, max(1, min(len(batch), int(PAIRS / max(1.0, per_event)))))
    do = partial(answer_events, engine, part, ANSWERS["pairs"])
    count = calibrate_count(do, 64 * len(part), seconds=round_s, clock=time.process_time)
    if name == "block":  # it works on many events at a time, so give it many
        count = max(count, len(part))
    taken = rounds({"": partial(do, count)}, ROUNDS, time.process_time)[""]
    return {
        "inserted_per_s": size / max(seconds, 1e-9),
        "resident_bytes": grown,
        "matches_per_event": per_event,
        **spread("events_per_s", [count / max(each, 1e-9) for each in taken]),
    }
