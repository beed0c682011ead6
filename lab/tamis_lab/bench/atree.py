"""The A-Tree on the workload of its thesis (§5.4 to §5.6): its filters compared with each other.

Variants are measured in turns, round after round, so that other load on the machine affects all
alike. Every figure comes with its slowest and its fastest round.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice

import numpy as np

from tamis.engines.atree import AtreeEngine
from tamis.engines.atree.filters import FILTERS
from tamis.engines.subscription import Subscription
from tamis.events.batch import EventBatch
from tamis_lab.bench.atree_metrics import filter_views, smpe, tree_sizes
from tamis_lab.bench.comparison import compare_engines
from tamis_lab.bench.insertion import parse_in_chunks, seconds_to_add, seconds_to_remove
from tamis_lab.harness.measure import (
    Clock,
    Experiments,
    Report,
    Row,
    calibrate_count,
    event_rates,
    rounds,
)
from tamis_lab.harness.process_memory import resident_memory
from tamis_lab.workloads.atree2004 import Workload

EVENTS = 5_000

# By number of predicates: the length of the shared part, and the fraction of subscriptions that
# have one. This gives an SNPS (over internal nodes, as in Table 5.1) of 35 to 40 %, as in §5.4.
# Among many subscriptions some share one more predicate by chance.
SHARED = {6: (3, 0.85), 10: (4, 1.0), 14: (6, 0.9)}
SHARED_BY_MANY = {6: (2, 1.0), 10: (3, 1.0), 14: (5, 0.95)}
MANY = 300_000


def conjunctions(subscriptions: int, predicates: int) -> Workload:
    """§5.4: equalities only, SNPS 35 to 40 %, SMPE 0.1 to 1 %."""
    shared, overlap = (SHARED if subscriptions < MANY else SHARED_BY_MANY)[predicates]
    return Workload(
        subscriptions=subscriptions,
        predicates=predicates,
        shared_predicates=shared,
        values=20_000,
        pool=4,
        overlap=overlap,
        repeated=0.04,
    )


def expressions(subscriptions: int, operators: str) -> Workload:
    """§5.5 and §5.6: AND, OR and perhaps XOR over ten comparisons."""
    return Workload(
        subscriptions=subscriptions,
        predicates=10,
        shared_predicates=4,
        values=5000,
        operators=operators,
        relation=">",
        pool=50,
        repeated=0.1,
    )


# -- experiments ----------------------------------------------------------------------------------


def maintenance(size: int, say: Report) -> Iterator[Row]:
    """Insertions and deletions per second, and memory (Figures 5.1 to 5.3, 5.7 to 5.12).

    `arrays` passes conjunctions to the tree as arrays of known predicates, which is what the thesis
    measures: without parsing. `subscriptions` adds and removes parsed subscriptions one by one, as
    a matcher does, including rewriting and looking up predicates.
    """
    for predicates in SHARED:
        workload = conjunctions(size, predicates)
        say(f"{size:,} of {predicates} predicates, as arrays …")
        engine, seconds = load_engine(workload)
        row = _sizes(workload, engine) | {"way": "arrays", "inserted_per_s": size / seconds}
        codes = np.random.default_rng(1).permutation(size).astype(np.int32)
        begun = time.perf_counter()
        engine.tree.delete_many(codes)
        yield row | {
            "deleted_per_s": size / (time.perf_counter() - begun),
            "nodes_left": len(engine.tree),
        }
    workload = conjunctions(size, 10)
    say(f"{size:,} of 10 predicates, as subscriptions …")
    engine = AtreeEngine()
    chunks = parse_in_chunks(workload.selectors())
    inserted = sum(seconds_to_add(engine, chunk) for chunk in chunks)
    row = _sizes(workload, engine) | {"way": "subscriptions", "inserted_per_s": size / inserted}
    ids = np.random.default_rng(1).permutation(size).tolist()
    removed = seconds_to_remove(engine, ids)
    yield row | {"deleted_per_s": size / removed, "nodes_left": len(engine.tree)}


def memory(size: int, say: Report) -> Iterator[Row]:
    """The memory of the largest tree of the thesis: 14 predicates each (Figure 5.9).

    `bytes` are the arrays of the tree, `bytes_with_stamps` also the notes of the filter `tvp`,
    `resident_bytes` the growth of the process, including predicates and their index.
    """
    workload = conjunctions(size, 14)
    say(f"{size:,} of 14 predicates …")
    before = resident_memory()
    engine, seconds = load_engine(workload)
    events = workload.events(200, matching=1.0)
    seconds_each = rounds({"tvp": lambda: engine.match_codes(events)}, 3)
    stamps = 2 * len(engine.tree.store.nodes)
    yield (
        _sizes(workload, engine)
        | {"bytes_with_stamps": engine.tree.bytes + stamps}
        | {"resident_bytes": resident_memory() - before}
        | {"inserted_per_s": size / seconds}
        | event_rates(seconds_each, len(events))["tvp"]
        | {"smpe": smpe(engine, events, size)}
    )


def events(size: int, say: Report) -> Iterator[Row]:
    """Events per second by filter (Figures 5.4 to 5.6), both phases."""
    for subscriptions in (size // 100, size // 10, size):
        for predicates in SHARED:
            workload = conjunctions(subscriptions, predicates)
            say(f"{subscriptions:,} of {predicates} predicates, by filter …")
            engine, _ = load_engine(workload)
            batch = workload.events(EVENTS, matching=1.0)
            yield from _filter_rows(engine, batch, _sizes(workload, engine))


def sharing(size: int, say: Report) -> Iterator[Row]:
    """The effect of SNPS (§5.8): the longer the shared part, the fewer nodes."""
    for shared in (2, 5, 8):
        workload = replace(conjunctions(size, 10), shared_predicates=shared, repeated=0.02)
        say(f"{size:,} of 10 predicates, {shared} of them shared …")
        engine, seconds = load_engine(workload)
        sizes = _sizes(workload, engine) | {"inserted_per_s": size / seconds}
        yield from _filter_rows(engine, workload.events(EVENTS, matching=1.0), sizes)


def matching(size: int, say: Report) -> Iterator[Row]:
    """The effect of SMPE (§5.9): the more subscriptions an event matches, the longer it takes."""
    workload = replace(conjunctions(size, 10), repeated=0.2)
    say(f"{size:,} of 10 predicates, by how many events are made to match …")
    engine, _ = load_engine(workload)
    sizes = _sizes(workload, engine)
    for fraction in (0.0, 0.1, 0.3, 1.0):
        yield from _filter_rows(engine, workload.events(EVENTS, matching=fraction), sizes)


def baselines(size: int, say: Report) -> Iterator[Row]:
    """The conjunctive workload (§5.4) on counting, Gryphon and all other engines."""
    for predicates in SHARED:
        workload = conjunctions(size, predicates)
        for row in compare_engines("atree", workload, workload.events(EVENTS, matching=1.0), say):
            yield {"predicates": predicates, **row}


def operators(size: int, say: Report) -> Iterator[Row]:
    """AND and OR (§5.5), and XOR as well (§5.6): each filter with its own tree."""
    for kind, scale in (("disjunctive", 20.0), ("mixed", 10.0)):
        workload = expressions(size, kind)
        say(f"{size:,} of 10 predicates, {kind}, by filter …")
        subscriptions = [Subscription.of(i, text) for i, text in enumerate(workload.selectors())]
        engines = {name: _add_all(AtreeEngine(name), subscriptions) for name in FILTERS}
        batch = workload.events(EVENTS, scale=scale)
        yield from _comparison_rows(
            {name: (engine, batch) for name, engine in engines.items()},
            {name: _sizes(workload, engine) for name, engine in engines.items()},
        )


def priorities(size: int, say: Report) -> Iterator[Row]:
    """What a limit saves (§4.1): ten priorities, and the ten best subscriptions of each event."""
    workload = replace(conjunctions(size, 10), repeated=0.1)
    say(f"{size:,} of 10 predicates, with ten priorities …")
    subscriptions = [
        Subscription.of(i, text, i % 10) for i, text in enumerate(workload.selectors())
    ]
    batch = workload.events(EVENTS, matching=1.0)
    engines = {name: _add_all(AtreeEngine(name), subscriptions) for name in FILTERS}
    work = {
        f"{name}, {'no limit' if limit is None else f'limit {limit}'}": (engine, batch, limit)
        for name, engine in engines.items()
        for limit in (None, 10)
    }
    for name, found in event_rates(_seconds(work), 1).items():
        yield {"subscriptions": size, "predicates": 10, "filter": name} | found


def threads(size: int, say: Report) -> Iterator[Row]:
    """Events across threads, and both phases in parallel (§4.4)."""
    workload = conjunctions(size, 10)
    say(f"{size:,} of 10 predicates, in threads …")
    engine, _ = load_engine(workload)
    batch = workload.events(EVENTS, matching=1.0)
    pieces = [batch.slice(i, 64) for i in range(0, len(batch), 64)]
    with ThreadPoolExecutor(2) as pool:
        work: dict[str, Callable[[], object]] = {
            "one thread": lambda: [engine.match_codes(piece) for piece in pieces],
            "two threads": lambda: list(pool.map(engine.match_codes, pieces)),
            "phase 1 ahead": lambda: _match_ahead(engine, pieces, pool),
        }
        rates = event_rates(rounds(work, 5), len(batch))
    phase_1 = event_rates(
        rounds({"": lambda: [engine.index.satisfied_predicates(piece) for piece in pieces]}, 3),
        len(batch),
    )
    for name, found in rates.items():
        yield {"subscriptions": size, "predicates": 10, "way": name} | found
    yield {"subscriptions": size, "predicates": 10, "way": "phase 1 alone"} | phase_1[""]


def values(size: int, say: Report) -> Iterator[Row]:
    """Sums as nodes of the tree (§4.2.1), compared with sums as derived attributes of phase 1."""
    rng = np.random.default_rng(2004)
    say(f"{size:,} sums of three against a constant …")
    subscriptions = []
    for i in range(size):
        a, b, c = (rng.permutation(12)[:3] + 1).tolist()
        text = f"a{a} + a{b} + a{c} <= {rng.integers(100, 3000)} AND a{a} >= {rng.integers(1000)}"
        subscriptions.append(Subscription.of(i, text))
    table = rng.integers(1, 1000, (1000, 12))
    batch = EventBatch.of([{f"a{i + 1}": int(v) for i, v in enumerate(row)} for row in table])
    engines = {name: _add_all(AtreeEngine(name), subscriptions) for name in FILTERS}
    sizes: dict[str, Row] = {
        name: {"subscriptions": size, "nodes": len(engine.tree)} for name, engine in engines.items()
    }
    yield from _comparison_rows({name: (engine, batch) for name, engine in engines.items()}, sizes)


EXPERIMENTS: Experiments = {
    "maintenance": (maintenance, 100_000, 1_000_000),
    "memory": (memory, 400_000, 4_000_000),
    "events": (events, 100_000, 1_000_000),
    "sharing": (sharing, 100_000, 1_000_000),
    "matching": (matching, 100_000, 1_000_000),
    "baselines": (baselines, 100_000, 1_000_000),
    "operators": (operators, 5_000, 50_000),
    "priorities": (priorities, 20_000, 200_000),
    "threads": (threads, 100_000, 1_000_000),
    "values": (values, 200, 2_000),
}


# -- parts ----------------------------------------------------------------------------------------


def warm_up() -> None:
    """Compile everything before it is measured."""
    workload = conjunctions(1000, 10)
    engine, _ = load_engine(workload)
    _sizes(workload, engine)
    engine.tree.delete_many(np.arange(1000, dtype=np.int32))
    for name in FILTERS:
        texts = enumerate(islice(workload.selectors(), 100))
        added = _add_all(AtreeEngine(name), [Subscription.of(i, text, i % 2) for i, text in texts])
        for limit in (None, 1):
            added.match_codes(workload.events(10), limit)
        added.remove(0)


def load_engine(workload: Workload, clock: Clock = time.perf_counter) -> tuple[AtreeEngine, float]:
    """Load an engine with a conjunctive workload; return it and the seconds of the insertion."""
    engine = AtreeEngine()
    used = np.zeros(len(workload.table), np.bool_)
    for chunk in workload.conjunction_chunks():
        used[chunk] = True
    leaf_of = np.full(len(workload.table), -1, np.int32)
    engine.tree.reserve_leaves(int(used.sum()))
    for number in np.flatnonzero(used).tolist():
        predicate = engine.index.intern(workload.table.predicate(number))
        leaf_of[number] = engine.tree.leaf(predicate)
    first, seconds = 0, 0.0
    for chunk in workload.conjunction_chunks():
        leaves = leaf_of[chunk]
        begun = clock()
        engine.tree.insert_conjunctions(leaves, first)
        seconds += clock() - begun
        first += len(chunk)
    return engine, seconds


def _add_all(engine: AtreeEngine, subscriptions: Iterable[Subscription]) -> AtreeEngine:
    for subscription in subscriptions:
        engine.add(subscription)
    return engine


def _sizes(workload: Workload, engine: AtreeEngine) -> Row:
    return {
        "subscriptions": workload.subscriptions,
        "predicates": workload.predicates,
        **tree_sizes(engine, workload.subscriptions),
    }


def _filter_rows(engine: AtreeEngine, batch: EventBatch, sizes: Row) -> Iterator[Row]:
    """Yield a row per filter, all on one tree, which must have AND and OR only."""
    views = filter_views(engine)
    yield from _comparison_rows(
        {name: (view, batch) for name, view in views.items()}, dict.fromkeys(views, sizes)
    )


def _comparison_rows(
    work: Mapping[str, tuple[AtreeEngine, EventBatch]], sizes: Mapping[str, Row]
) -> Iterator[Row]:
    seconds = _seconds({name: (*both, None) for name, both in work.items()})
    *_, (engine, batch) = work.values()
    size = int(sizes[next(iter(sizes))]["subscriptions"])  # type: ignore[call-overload]
    fraction = smpe(engine, batch.slice(0, 500), size)
    general = statistics.median(seconds["general"])
    for name, found in event_rates(seconds, 1).items():
        times_general = general / statistics.median(seconds[name])
        yield (
            sizes[name]
            | {"smpe": fraction, "filter": name}
            | found
            | {"times_general": times_general}
        )


def _seconds(
    work: Mapping[str, tuple[AtreeEngine, EventBatch, int | None]],
) -> dict[str, list[float]]:
    """Return seconds per event in each of five rounds, given engines, their events, and a limit."""
    few = {name: _shorten_batch(*parts) for name, parts in work.items()}
    taken = rounds({name: _match_task(*parts) for name, parts in few.items()}, 5)
    return {
        name: [second / len(few[name][1]) for second in seconds] for name, seconds in taken.items()
    }


def _match_task(engine: AtreeEngine, batch: EventBatch, limit: int | None) -> Callable[[], object]:
    return lambda: engine.match_codes(batch, limit)


def _match_ahead(engine: AtreeEngine, pieces: list[EventBatch], pool: ThreadPoolExecutor) -> None:
    """Run phase 1 of the next piece in one thread, while phase 2 of this one runs in another."""
    coming = pool.submit(engine.index.satisfied_predicates, pieces[0])
    for i in range(len(pieces)):
        satisfied = coming.result()
        if i + 1 < len(pieces):
            coming = pool.submit(engine.index.satisfied_predicates, pieces[i + 1])
        engine.climb(pieces[i], satisfied)


def _shorten_batch(
    engine: AtreeEngine, batch: EventBatch, limit: int | None
) -> tuple[AtreeEngine, EventBatch, int | None]:
    """Take as many events as make a round last about a third of a second, but at least five."""
    count = calibrate_count(
        lambda n: engine.match_codes(batch.slice(0, n), limit), len(batch), least=5
    )
    return engine, batch.slice(0, count), limit
