"""Run a simulation on Spark, from its sizes to lines of results."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tamis_lab.harness.measure import machine
from tamis_lab.simulation.job.event_walk import FILTERED
from tamis_lab.simulation.job.filter_layout import colliding_pairs
from tamis_lab.simulation.job.findings import Line, counter_arrays, events_line, tables_line
from tamis_lab.simulation.job.simulation_job import PreparedNetworks, prepare, route_events
from tamis_lab.simulation.peak_memory import PeakMemory
from tamis_lab.simulation.sizes import FEW, SimulationSizes
from tamis_lab.spark.workload_tables import overlay_events, overlay_subscriptions

if TYPE_CHECKING:
    from tamis.spark.session import SparkSession

Step = Callable[[str], AbstractContextManager[Any]]

# Events of a task: enough to be worth starting it, and few enough to show progress.
_TASK = 50_000


def run_simulation(
    spark: SparkSession,
    sizes: SimulationSizes,
    *,
    scale: str = "",
    scratch: Path | None = None,
    step: Step = nullcontext,
) -> list[Line]:
    """Run a simulation and return its results.

    Args:
        spark: The session.
        sizes: The size of the simulation.
        scale: The name of the sizes.
        scratch: A folder for intermediate files, which the driver and all workers can access.
        step: Called with the name of each step.

    Returns:
        A line about the run, one for each network and strategy, and those of the sweep.
    """
    seconds: dict[str, float] = {}

    @contextmanager
    def time_step(what: str) -> Iterator[None]:
        begun = time.perf_counter()
        with step(what):
            yield
        seconds[what] = round(time.perf_counter() - begun, 1)

    peak = PeakMemory()
    with peak.watch(), TemporaryDirectory(prefix="tamis-simulate-", dir=scratch) as folder:
        workload = sizes.workload
        subscriptions = overlay_subscriptions(spark, workload, partitions=4)
        prepared = prepare(subscriptions, sizes.trees, Path(folder), step=time_step)
        with time_step("events"):
            lines = _lines(spark, sizes, prepared)
        if sizes.sweep and set(FILTERED) & set(sizes.strategies):
            with time_step("sweep"):
                lines += _sweep(spark, sizes, prepared)
        about = _about(sizes, prepared)
    about |= {"seconds": seconds, "peak_bytes": peak.bytes, "machine": machine()}
    counts = f"{sizes.brokers}-{sizes.subscriptions}-{sizes.events}"
    run = scale or f"{counts}-m{sizes.shape.m}-k{sizes.shape.k}-seed{sizes.seed}"
    return [{**line, "run": run} for line in (about, *lines)]


def write(file: Path, lines: list[Line]) -> None:
    """Write lines to a file; they replace those of the same run."""
    kept = read(file) if file.exists() else []
    run = lines[0]["run"]
    file.parent.mkdir(parents=True, exist_ok=True)
    text = [json.dumps(line) for line in [*(line for line in kept if line["run"] != run), *lines]]
    file.write_text("\n".join(text) + "\n", encoding="utf-8")


def read(file: Path) -> list[Line]:
    """Read the lines of a file."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def _about(sizes: SimulationSizes, prepared: PreparedNetworks) -> Line:
    interests, wants = prepared.interests, prepared.wants
    trees = {}
    for name, tree in prepared.trees.items():
        trees[name] = {"depth": int(tree.depths().max()), "degree": int(tree.degrees().max())}
    workload = sizes.workload
    return {
        "kind": "run",
        "brokers": sizes.brokers,
        "subscriptions": sizes.subscriptions,
        "events": sizes.events,
        "seed": sizes.seed,
        "m": sizes.shape.m,
        "k": sizes.shape.k,
        "interests": len(interests.texts),
        "predicates": len(interests.predicates),
        "interest_bytes": float(interests.bytes.mean()),
        "wanted": len(wants.broker),
        "covered_pairs": prepared.pairs_covered,
        "names": workload.names_in_use,
        "networks": trees,
    }


def _lines(spark: SparkSession, sizes: SimulationSizes, prepared: PreparedNetworks) -> list[Line]:
    parts = max(2, -(-sizes.events // _TASK))
    events = overlay_events(spark, sizes.workload, sizes.events, parts)
    rows = route_events(events, prepared, [sizes.shape], sizes.strategies)
    found = counter_arrays(rows.toArrow().to_pylist(), sizes.brokers)
    predicates = len(prepared.interests.predicates)
    order = {name: place for place, name in enumerate((*sizes.topologies, *sizes.strategies))}
    return [
        {
            "kind": "strategy",
            "network": network,
            "strategy": strategy,
            "m": m,
            "k": k,
            **events_line(counted),
            **tables_line(strategy, prepared.trees[network], prepared.tables[network], predicates),
        }
        for (network, strategy, m, k), counted in sorted(
            found.items(), key=lambda item: (order[item[0][0]], order[item[0][1]])
        )
    ]


def _sweep(spark: SparkSession, sizes: SimulationSizes, prepared: PreparedNetworks) -> list[Line]:
    count = min(FEW, sizes.events)
    events = overlay_events(spark, sizes.workload, count, 8)
    strategies = [strategy for strategy in sizes.strategies if strategy in FILTERED]
    rows = route_events(events, prepared, sizes.sweep_shapes, strategies)
    found = counter_arrays(rows.toArrow().to_pylist(), sizes.brokers)
    kept = "events messages wasted checks checks_in_vain deliveries filter_bytes_per_message"
    same = {
        shape.m: colliding_pairs(prepared.interests.keys, shape) for shape in sizes.sweep_shapes
    }
    lines = []
    order = list(sizes.topologies)
    for (network, strategy, m, k), counted in sorted(
        found.items(), key=lambda item: (order.index(item[0][0]), item[0][1:])
    ):
        line = events_line(counted)
        about = {"kind": "sweep", "network": network, "strategy": strategy, "m": m, "k": k}
        lines.append({**about, "twins": same[m], **{name: line[name] for name in kept.split()}})
    return lines
