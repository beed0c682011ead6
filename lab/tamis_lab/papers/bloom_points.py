"""Measure routing structures on the workload of the Bloom filter paper (Figures 4 to 8).

Seconds are processor time. A structure is filled from scratch for every number of subscriptions, in
its own process.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from tamis.bloom.filter_size import best_hashes
from tamis.bloom.hashing import Shape
from tamis.engines import ENGINES
from tamis_lab.bench import bloom
from tamis_lab.bench.insertion import seconds_to_add
from tamis_lab.harness.footprint import settled_memory
from tamis_lab.harness.measure import Row, rounds, spread

ROUNDS = 3


def predicates(parameters: Mapping[str, Any]) -> Row:
    """Count the predicates that an event satisfies, bits of its filter, and bytes (Figure 4)."""
    workload = bloom.paper_workload(**_workload(parameters))
    table = bloom.BloomRoutingTable(bloom.SHAPE)
    table.extend(bloom.parse_subscriptions(workload, 0, parameters["subscriptions"]))
    events = list(workload.events_as_dicts(bloom.EVENTS))
    figures = bloom.filter_figures(table, events)
    return {**figures, "fill_percent": 100 * figures["bits_per_event"] / bloom.SHAPE.m}


def probability(parameters: Mapping[str, Any]) -> Row:
    """Measure the false positive rate of filters (Figure 5)."""
    m, trials = 1 << parameters["log2_m"], parameters["trials"]
    rng = np.random.default_rng(2008)
    row: Row = {}
    for n in parameters["elements"]:
        rates = bloom.false_positive_rates(rng, Shape(m, best_hashes(m, n)), n, trials)
        row |= spread(f"measured_{n}", rates)
        row[f"measured_{n}"] = statistics.mean(rates)
    return row


def routing(parameters: Mapping[str, Any]) -> Row:
    """Measure seconds to insert all subscriptions (Figure 6) and match 1,000 events (Figure 7)."""
    bloom.warm_up()
    workload = bloom.paper_workload(**_workload(parameters))
    events = workload.events(bloom.EVENTS)
    chunk = list(bloom.parse_subscriptions(workload, 0, parameters["subscriptions"]))
    before = settled_memory(None)
    if parameters["structure"] == bloom.ROUTED:
        table = bloom.BloomRoutingTable(bloom.SHAPE)
        begun = time.process_time()
        table.extend(chunk)
        inserted = time.process_time() - begun
        taken = rounds(table.match_tasks(events.rows()), ROUNDS, time.process_time)
        both = [sum(pair) for pair in zip(*taken.values(), strict=True)]
        parts: Row = {f"{name}_s": statistics.median(found) for name, found in taken.items()}
        return (
            {"insertion_s": inserted, "resident_bytes": settled_memory(None) - before}
            | spread("matching_s", both)
            | parts
        )
    engine = ENGINES[parameters["structure"]]()
    inserted = seconds_to_add(engine, chunk, time.process_time)
    resident = settled_memory(engine) - before
    # The posets are slow: a part of the events is enough.
    fewer = bloom.FEWER if parameters["structure"] in bloom.BASELINES else 1
    part = events.slice(0, len(events) // fewer)
    found = rounds(
        {"": bloom.match_task(engine, part)}, 1 if fewer > 1 else ROUNDS, time.process_time
    )[""]
    return {"insertion_s": inserted, "resident_bytes": resident} | spread(
        "matching_s", [fewer * seconds for seconds in found]
    )


def false_positives(parameters: Mapping[str, Any]) -> Row:
    """Count false positive deliveries, of 10,000 events (Figure 8) or another number, by k."""
    workload = bloom.notified_workload(parameters["subscriptions"])
    count, size = parameters.get("events", 10 * bloom.EVENTS), parameters["subscriptions"]
    rows = list(workload.events_as_dicts(count))
    chunk = list(bloom.parse_subscriptions(workload, 0, size))
    right = ENGINES["block"]()
    seconds_to_add(right, chunk)
    wanted = bloom.pairs_of(right, rows, size)
    found: Row = {}
    for k in (2, 4):
        table = bloom.BloomRoutingTable(Shape(1 << parameters["log2_m"], k))
        table.extend(chunk)
        counted = bloom.unwanted_deliveries(table, rows, wanted)
        found |= {f"{name}_{k}": value for name, value in counted.items()}
    return found


# -- parts ----------------------------------------------------------------------------------------


def _workload(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: parameters[name] for name in ("subscriptions", "names", "choice")}
