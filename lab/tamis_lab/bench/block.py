"""The block engine, or another one, compared with all others, on workloads of every kind."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial, wraps
from pathlib import Path

from tamis.engines import ENGINES
from tamis.matcher import Matcher
from tamis_lab.bench import cold_start
from tamis_lab.bench.atree import expressions
from tamis_lab.bench.change_rate import change_rates
from tamis_lab.bench.comparison import ANSWERS, compare_engines
from tamis_lab.bench.latency import latencies
from tamis_lab.harness import footprint
from tamis_lab.harness.fresh_process import run_in_fresh_process
from tamis_lab.harness.measure import Experiments, Report, Row
from tamis_lab.workloads import bdd2001, bloom2008
from tamis_lab.workloads.known_names import check_known
from tamis_lab.workloads.nulls import SparseWorkload
from tamis_lab.workloads.selective import SelectiveWorkload
from tamis_lab.workloads.texts import Requests

BATCH = 65_536
BROAD_BATCH = 16_384
WORDS_BATCH = 1_024  # a column for each of 5,000 names: memory grows with the square
CALLS = 20_000
CHANGED = 100_000
STARTS = 5
GENERAL = ("atree", "block")


def selective_conjunctions(engine: str, size: int, say: Report) -> Iterator[Row]:
    """Conjunctions of three to seven equalities and ranges, few matches per event."""
    workload = SelectiveWorkload(subscriptions=size)
    yield from compare_engines(engine, workload, workload.events(BATCH), say)


def broad_queries(engine: str, size: int, say: Report) -> Iterator[Row]:
    """The queries of the BDD paper, a third of which match an event; by kind of answer."""
    workload = bdd2001.Workload(subscriptions=size)
    yield from compare_engines(engine, workload, workload.events(BROAD_BATCH), say, ANSWERS)


def mixed_operators(engine: str, size: int, say: Report) -> Iterator[Row]:
    """AND, OR and XOR over ten comparisons, from the A-Tree thesis (§5.6)."""
    workload = expressions(size, "mixed")
    yield from compare_engines(
        engine, workload, workload.events(BROAD_BATCH, scale=10.0), say, ANSWERS
    )


def strings(engine: str, size: int, say: Report) -> Iterator[Row]:
    """Tests of titles, paths, agents and countries."""
    workload = Requests(subscriptions=size)
    yield from compare_engines(engine, workload, workload.events(BATCH), say)


def nulls(engine: str, size: int, say: Report) -> Iterator[Row]:
    """Events with 15 % of the attributes, and selectors that test for missing ones."""
    workload = SparseWorkload(subscriptions=size)
    yield from compare_engines(engine, workload, workload.events(BATCH), say)


def words(engine: str, size: int, say: Report) -> Iterator[Row]:
    """The Bloom filter paper's 20,000 attributes, of which an event has one to ten."""
    for choice in ("uniform", "pareto"):
        workload = bloom2008.Workload(subscriptions=size, choice=choice)
        for row in compare_engines(engine, workload, workload.events(WORDS_BATCH), say):
            yield {"names": choice, **row}


def latency(engine: str, size: int, say: Report) -> Iterator[Row]:
    """Microseconds of Matcher.match for a single event, a dict."""
    workload = SelectiveWorkload(subscriptions=size)
    events = workload.events(CALLS).rows()
    for name in _general_engines(engine):
        say(f"{size:,} subscriptions, {CALLS:,} events one by one, {name} …")
        matcher = Matcher(engine=name)
        matcher.add_many(enumerate(workload.selectors()))
        yield {"engine": name, "subscriptions": size, **latencies(matcher, events)}


def changes(engine: str, size: int, say: Report) -> Iterator[Row]:
    """Additions and removals per second, alone and while a thread matches."""
    for name in _general_engines(engine):
        # More would take the others an hour, mostly waiting for the lock.
        count = size if name == engine else min(size, CHANGED)
        say(f"{count:,} subscriptions, added and removed one by one, {name} …")
        yield from change_rates(name, count)


def memory(engine: str, size: int, say: Report) -> Iterator[Row]:
    """Growth of a fresh process, for subscriptions of five predicates."""
    for name in _general_engines(engine):
        say(f"{size:,} of {footprint.PREDICATES} predicates, {name}, in its own process …")
        yield run_in_fresh_process(footprint.memory_growth, name, size)


def start(engine: str, size: int, say: Report) -> Iterator[Row]:
    """Seconds from the import to the first answer, in a fresh process."""
    for name in _general_engines(engine):
        say(f"{STARTS} starts of {name} …")
        yield _start_row(
            name, 1, "new", partial(run_in_fresh_process, cold_start.first_match, name)
        )
    if engine == "block":  # no other engine can be saved
        say(f"{STARTS} openings of {size:,} subscriptions, {engine} …")
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "saved"))
            run_in_fresh_process(cold_start.save_matcher, engine, size, path)
            yield _start_row(
                engine,
                size,
                "open",
                partial(run_in_fresh_process, cold_start.first_match_of_saved, path),
            )


def _start_row(engine: str, size: int, way: str, begin: Callable[[], float]) -> Row:
    begin()  # so that everything is compiled
    seconds, processes = [], []
    for _ in range(STARTS):
        begun = time.perf_counter()
        seconds.append(begin())
        processes.append(time.perf_counter() - begun)
    return {
        "engine": engine,
        "subscriptions": size,
        "way": way,
        "seconds": statistics.median(seconds),
        "slowest": max(seconds),
        "fastest": min(seconds),
        "process_seconds": statistics.median(processes),
    }


def _general_engines(engine: str) -> list[str]:
    """Return the engine, and the others that take every selector and are not deliberately slow."""
    return [engine, *(name for name in GENERAL if name != engine)]


# By name: the function, its number of subscriptions, and that with --full.
_EXPERIMENTS: Mapping[str, tuple[Callable[[str, int, Report], Iterator[Row]], int, int]] = {
    "selective": (selective_conjunctions, 100_000, 1_000_000),
    "broad": (broad_queries, 100_000, 100_000),
    "mixed": (mixed_operators, 100_000, 100_000),
    "strings": (strings, 100_000, 100_000),
    "nulls": (nulls, 100_000, 100_000),
    "words": (words, 100_000, 100_000),
    "latency": (latency, 100_000, 100_000),
    "changes": (changes, 100_000, 1_000_000),
    "memory": (memory, 100_000, 1_000_000),
    "start": (start, 100_000, 1_000_000),
}


def experiments(engine: str = "block") -> Experiments:
    """The experiments on an engine.

    Raises:
        InputError: There is no such engine.
    """
    check_known("engine", [engine], sorted(ENGINES), "--engine")
    return {
        name: (_bind_engine(engine, run), usual, whole)
        for name, (run, usual, whole) in _EXPERIMENTS.items()
    }


def _bind_engine(
    engine: str, run: Callable[[str, int, Report], Iterator[Row]]
) -> Callable[[int, Report], Iterator[Row]]:
    @wraps(run)
    def run_on_engine(size: int, say: Report) -> Iterator[Row]:
        return run(engine, size, say)

    return run_on_engine
