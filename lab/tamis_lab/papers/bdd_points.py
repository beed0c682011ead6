"""Measure the BDD engine on the queries of its paper: nodes, and seconds for 1,000 messages."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from tamis.engines.bdd import BddEngine
from tamis.engines.block import BlockEngine
from tamis.events.batch import EventBatch
from tamis_lab.bench import bdd
from tamis_lab.harness.footprint import settled_memory
from tamis_lab.harness.measure import Row, rounds, spread


def nodes(parameters: Mapping[str, Any]) -> Row:
    """Count the nodes of the shared diagram with and without restriction, by variable order."""
    before = settled_memory(None)
    row: Row = {}
    for restrict, name in ((False, "before"), (True, "after")):
        engine = BddEngine(
            order=parameters["order"], restrict=restrict, schema=bdd.SCHEMA, semantics="total"
        )
        seconds = 0.0
        for _, (took,) in bdd.add_in_steps(parameters["queries"], "total", engine):
            seconds += took
        row[f"nodes_{name}"] = engine.stats()["nodes"]
        row[f"{name}_added_per_s"] = parameters["queries"] / seconds
    row["factor"] = row["nodes_before"] / row["nodes_after"]  # type: ignore[operator]
    return row | {"resident_bytes": settled_memory(None) - before}


def messages(parameters: Mapping[str, Any]) -> Row:
    """Measure processor seconds for 1,000 messages: one by one as in the paper, and in blocks."""
    bdd.warm_up()
    language = parameters["language"]
    semantics = "strict" if language == "StSL" else "total"
    engine = BddEngine(schema=bdd.SCHEMA, semantics=semantics)
    for _ in bdd.add_in_steps(parameters["queries"], semantics, engine):
        pass
    densities = bdd.DENSITIES if language == "StSL" else (1.0,)
    cases = [bdd.Case(language, engine, density) for density in densities]
    for _ in range(bdd.ROUNDS):
        for case in cases:
            case.run()
    row: Row = {}
    for case in cases:
        for one_by_one, name in ((True, "one_by_one"), (False, "blocks")):
            density = f"{100 * case.density:g}"
            row |= spread(f"{name}_s_{density}", case.seconds[one_by_one])
            row[f"matches_per_message_{density}"] = case.matches[one_by_one] / bdd.MESSAGES
    return row


def block_messages(parameters: Mapping[str, Any]) -> Row:
    """Measure the same queries and messages, under StSL, on the block engine, for counts."""
    row: Row = {}
    for queries in (500, parameters["queries"]):  # the first round compiles everything
        engine = BlockEngine()
        for _ in bdd.add_in_steps(queries, "strict", engine):
            pass
        settled_memory(engine)
        for density in bdd.DENSITIES:
            events = bdd.queries(1, density).events(bdd.MESSAGES)
            batch = EventBatch.of(events, bdd.SCHEMA, "strict")
            taken = rounds({"": partial(engine.counts, batch)}, 3, time.process_time)[""]
            row |= spread(f"counts_s_{100 * density:g}", taken)
    return row
