"""Routing with Bloom filters on the workload of the paper (DEBS 2008, §6): Figures 4 to 8.

The paper prints few numbers; those that it does are in the columns `paper_…`, beside ours. It does
not describe its predicates. `VALUES` and `EQUALITIES` are chosen to reproduce two numbers that it
prints: 13 matches per event, with 1,000 subscriptions of one predicate over 2,000 names (§6.3), and
200 bits set in the filter of an event, with 30,000 over 20,000 names (§6.2), both Pareto.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
import numpy.typing as npt

from tamis.bloom.bfposet import BFPoset
from tamis.bloom.filter import Bloom
from tamis.bloom.filter_codec import encoded_size
from tamis.bloom.filter_size import best_hashes, false_positive_rate
from tamis.bloom.hashing import Shape
from tamis.bloom.poset_predicate import Leaf
from tamis.bloom.sbstree import SbsTree
from tamis.engines import ENGINES, Engine
from tamis.engines.subscription import Subscription
from tamis.events.batch import EventBatch
from tamis.language.disjuncts import disjuncts
from tamis.language.evaluate import Event
from tamis_lab.bench.insertion import seconds_to_add
from tamis_lab.harness.measure import Experiments, Report, Row, rounds
from tamis_lab.workloads.bloom2008 import Workload

EVENTS = 1_000
VALUES, EQUALITIES = 40, 0.992
SHAPE = Shape(1 << 14, 2)  # as in Figure 1
ROUNDS = 2
FEWER = 4  # the baselines are slow, and get one in so many events
SLOWEST = 1_200.0  # seconds: an engine that takes longer gets no more subscriptions
BASELINES = ("siena", "forest")
# What the paper draws: finding the predicates of an event, then the brokers for its filter.
ROUTED = "bfposet + sbstree"


def paper_workload(subscriptions: int, names: int, choice: str) -> Workload:
    """§6.1: one of 1,000 names in each subscription, or two to five of 20,000."""
    predicates = (2, 5) if names > 2_000 else (1, 1)
    return Workload(
        subscriptions=subscriptions,
        names=names,
        choice=choice,
        predicates=predicates,
        values=VALUES,
        equalities=EQUALITIES,
    )


def notified_workload(subscriptions: int) -> Workload:
    """§6.3: one predicate each over 2,000 names, so that many are notified of each event."""
    return replace(paper_workload(subscriptions, 2_000, "pareto"), predicates=(1, 1))


SETTINGS = ((1_000, "uniform"), (20_000, "uniform"), (20_000, "pareto"))


# -- experiments ----------------------------------------------------------------------------------


def predicates(size: int, say: Report) -> Iterator[Row]:
    """Predicates that an event satisfies, and the size of its filter (Figure 4, §6.2).

    `bytes_16` is the paper's sparse bit set, with 16 bits for each that is set; `wire_bytes` is
    what brokers exchange, everything included. In our default workload half of the predicates are
    equalities, over 100 values, and an event satisfies many more: see the rows with `values` 100.
    """
    for names, choice in SETTINGS:
        for values, equalities in ((VALUES, EQUALITIES), (100, 0.5)):
            say(f"{size:,} subscriptions over {names:,} names, {choice}, {values} values …")
            workload = paper_workload(size, names, choice)
            workload = replace(workload, values=values, equalities=equalities)
            table = BloomRoutingTable(SHAPE)
            events = list(workload.events_as_dicts(EVENTS))
            for subscriptions in _steps(size):
                table.extend(parse_subscriptions(workload, len(table), subscriptions))
                row = filter_figures(table, events)
                bits = row["bits_per_event"]
                worst = choice == "pareto" and subscriptions == 30_000 and values == VALUES
                yield {
                    "names": names,
                    "choice": choice,
                    "values": values,
                    "equalities": equalities,
                    "subscriptions": subscriptions,
                    "predicates_per_event": row["predicates_per_event"],
                    "bits_per_event": bits,
                    "fill_ratio": bits / SHAPE.m,
                    "bytes_16": 2 * bits,
                    "wire_bytes": row["wire_bytes"],
                    "paper_bits": 200 if worst else "",
                    "paper_bytes": 400 if worst else "",
                }


def filter_figures(table: BloomRoutingTable, events: Sequence[Event]) -> dict[str, float]:
    """Return means over events: predicates satisfied, bits of the filter, and its encoded bytes."""
    filters = table.poset.match_many(events)
    return {
        "predicates_per_event": statistics.mean(
            sum(1 for _ in table.poset.satisfied_predicates(event)) for event in events
        ),
        "bits_per_event": statistics.mean(map(len, filters)),
        "wire_bytes": statistics.mean(encoded_size(SHAPE, bloom.bits) for bloom in filters),
    }


def probability(size: int, say: Report) -> Iterator[Row]:
    """False positive rate of a filter, by its size (Figure 5), with the best k."""
    rng = np.random.default_rng(2008)
    for logarithm in (10, 12, 14, 16, 18):
        say(f"filters of 2 ** {logarithm} bits …")
        for n in (10, 100, 1_000, 5_000, 10_000, 30_000):
            m = 1 << logarithm
            k = best_hashes(m, n)
            rates = false_positive_rates(rng, Shape(m, k), n, size)
            yield {
                "log2_m": logarithm,
                "n": n,
                "k": k,
                "equation_10": false_positive_rate(m, k, n),
                "measured": statistics.mean(rates),
                "deviation": statistics.stdev(rates) / len(rates) ** 0.5,
            }


def false_positive_rates(
    rng: np.random.Generator, shape: Shape, elements: int, trials: int
) -> list[float]:
    """Measure how often a filter reports a key that it does not hold, with ten random filters."""
    rates = []
    for _ in range(10):
        keys = rng.integers(0, 2**64 - 1, elements + trials, dtype=np.uint64)
        bloom = Bloom.of(shape, keys[:elements])
        rates.append(float(bloom.may_have(keys[elements:]).mean()))
    return rates


def routing(size: int, say: Report) -> Iterator[Row]:
    """Seconds to insert subscriptions (Figure 6), and to match 1,000 events (Figure 7).

    `bfposet + sbstree` is what the paper draws; `bloom` is the engine, with the check that makes it
    exact; `siena` and `forest` are engines too, which get a part of the events, and their seconds
    are scaled up. `…_times` is the ratio to `bfposet + sbstree`.
    """
    for names, choice in SETTINGS:
        workload = paper_workload(size, names, choice)
        events = workload.events(EVENTS)
        rows = events.rows()
        table = BloomRoutingTable(SHAPE)
        engines = {name: ENGINES[name]() for name in (*BASELINES, "bloom") if name in ENGINES}
        taken = dict.fromkeys(engines, 0.0)
        for subscriptions in _steps(size):
            say(f"{subscriptions:,} subscriptions over {names:,} names, {choice} …")
            chunk = list(parse_subscriptions(workload, len(table), subscriptions))
            table.extend(chunk)
            for name, engine in engines.items():
                if taken[name] <= SLOWEST:
                    taken[name] += seconds_to_add(engine, chunk)
            current = {name: e for name, e in engines.items() if taken[name] <= SLOWEST}
            yield from _comparison_rows(table, current, taken, events, rows, names, choice)


def _comparison_rows(
    table: BloomRoutingTable,
    engines: dict[str, Engine],
    taken: dict[str, float],
    events: EventBatch,
    rows: list[dict[str, object]],
    names: int,
    choice: str,
) -> Iterator[Row]:
    gc.collect()
    gc.freeze()
    few = events.slice(0, len(events) // FEWER)
    work: dict[str, Callable[[], object]] = {
        **table.match_tasks(rows),
        **{
            name: match_task(engine, few if name in BASELINES else events)
            for name, engine in engines.items()
        },
    }
    found = {name: statistics.median(times) for name, times in rounds(work, ROUNDS).items()}
    for name in set(found) & set(BASELINES):
        found[name] *= len(events) / len(few)
    gc.unfreeze()
    inserted = {"bfposet": table.poset_seconds, "sbstree": table.tree_seconds, **taken}
    inserted[ROUTED] = table.poset_seconds + table.tree_seconds
    found[ROUTED] = found["bfposet"] + found["sbstree"]
    for name in (ROUTED, "bfposet", "sbstree", *engines):
        yield {
            "names": names,
            "choice": choice,
            "subscriptions": len(table),
            "structure": name,
            "insertion_s": inserted[name],
            "insertion_times": inserted[name] / inserted[ROUTED],
            "matching_s": found[name],
            "matching_times": found[name] / found[ROUTED],
        }


def false_positives(size: int, say: Report) -> Iterator[Row]:
    """False positive deliveries, by the size of filters and of the table (Figure 8).

    Subscriptions have one predicate over 2,000 names (Pareto), each from another subscriber; an
    event has from one to ten pairs. `expected` is Equation 10 for each event, with as many elements
    as predicates it satisfies, times the subscriptions that it does not match.
    """
    workload = notified_workload(size)
    count = 10 * EVENTS
    rows = list(workload.events_as_dicts(count))
    right = ENGINES["block"]()
    tables = {(m, k): BloomRoutingTable(Shape(1 << m, k)) for m in (10, 12, 14) for k in (2, 4)}
    for subscriptions in _steps(size, 5):
        say(f"{subscriptions:,} subscriptions, {count:,} events, by filter …")
        first = len(next(iter(tables.values())))
        chunk = list(parse_subscriptions(workload, first, subscriptions))
        seconds_to_add(right, chunk)
        wanted = pairs_of(right, rows, subscriptions)
        for (logarithm, k), table in tables.items():
            table.extend(chunk)
            noted = (subscriptions, logarithm, k) == (5_000, 12, 4)
            yield {
                "log2_m": logarithm,
                "k": k,
                "subscriptions": subscriptions,
                **unwanted_deliveries(table, rows, wanted),
                "paper_events_with_one": 4_695 if noted else "",
                "paper_notified": 130_000 if subscriptions == 1_000 else "",
            }


def unwanted_deliveries(
    table: BloomRoutingTable, rows: Sequence[dict[str, object]], wanted: npt.NDArray[np.int64]
) -> Row:
    """Count the false positives of a table over all events; `wanted` is as in `pairs_of`."""
    size, shape = len(table), table.tree.shape
    begins, codes = table.tree.publish_many(*table.filters(rows))
    events = np.repeat(np.arange(len(rows)), np.diff(begins))
    addresses = np.array([table.tree.address(code) for code in codes.tolist()], np.int64)
    found = events * size + addresses
    wrong = np.setdiff1d(found, wanted)
    elements = [len(list(table.poset.satisfied_predicates(row))) for row in rows]
    others = size - np.bincount(wanted // size, minlength=len(rows))
    rates = [false_positive_rate(shape.m, shape.k, n) for n in elements]
    return {
        "notified": len(found),
        "false_positives": len(wrong),
        "expected": float(np.dot(rates, others)),
        "events_with_one": len(np.unique(wrong // size)),
        "percent": 100 * len(wrong) / max(1, len(found)),
        "false_negatives": len(np.setdiff1d(wanted, found)),
    }


EXPERIMENTS: Experiments = {
    "predicates": (predicates, 6_000, 30_000),
    "probability": (probability, 20_000, 200_000),
    "routing": (routing, 3_000, 30_000),
    "false-positives": (false_positives, 1_000, 5_000),
}


# -- parts ----------------------------------------------------------------------------------------


class BloomRoutingTable:
    """A bfposet and an sbstree, as in a broker, with the time to fill each.

    Attributes:
        poset: The predicates.
        tree: The filters; the address of a subscription is its id.
        poset_seconds: Time for predicates: to split selectors, and to store the predicates.
        tree_seconds: Time for filters: to build and to insert them.
    """

    def __init__(self, shape: Shape) -> None:
        """Start with no subscriptions."""
        self.poset = BFPoset(shape)
        self.tree = SbsTree(shape)
        self.poset_seconds = 0.0
        self.tree_seconds = 0.0
        self._size = 0

    def __len__(self) -> int:
        """Return the number of subscriptions."""
        return self._size

    def extend(self, subscriptions: Sequence[Subscription] | Iterator[Subscription]) -> None:
        """Add conjunctions, with the garbage collector paused, as for the other engines."""
        parsed = list(subscriptions)
        gc.disable()
        begun = time.perf_counter()
        held = [self.poset.hold(_conjunction(subscription)) for subscription in parsed]
        half = time.perf_counter()
        for subscription, predicates in zip(parsed, held, strict=True):
            self.tree.insert(self.poset.filter_of_stored(predicates), subscription.id)
        self.tree_seconds += time.perf_counter() - half
        self.poset_seconds += half - begun
        gc.enable()
        self._size += len(parsed)

    def filters(self, rows: Sequence[Event]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """Return the filters of events, as `publish_many` takes them."""
        return self.poset.match_bits(rows)

    def match_tasks(self, rows: Sequence[Event]) -> dict[str, Callable[[], object]]:
        """Return the two steps of matching events, by structure, to be timed."""
        filters = self.filters(rows)
        return {
            "bfposet": lambda: self.filters(rows),
            "sbstree": lambda: self.tree.publish_many(*filters),
        }


def warm_up() -> None:
    """Compile everything before it is measured."""
    workload = paper_workload(200, 1_000, "uniform")
    chunk = list(parse_subscriptions(workload, 0, 200))
    for name in (*BASELINES, "bloom", "block"):
        if name in ENGINES:
            engine = ENGINES[name]()
            seconds_to_add(engine, chunk)
            engine.match(workload.events(20))
    table = BloomRoutingTable(SHAPE)
    table.extend(chunk)
    table.tree.publish_many(*table.filters(workload.events(20).rows()))


def _conjunction(subscription: Subscription) -> tuple[Leaf, ...]:
    found = disjuncts(subscription.condition, 1)  # type: ignore[arg-type]
    assert found is not None
    return found[0]


def parse_subscriptions(workload: Workload, first: int, end: int) -> Iterator[Subscription]:
    """Yield the subscriptions from number `first` up to `end`."""
    for id, text in islice(enumerate(workload.selectors()), first, end):
        yield Subscription.of(id, text)


def _steps(size: int, count: int = 6) -> list[int]:
    return [size * step // count for step in range(1, count + 1)]


def match_task(engine: Engine, events: EventBatch) -> Callable[[], object]:
    """Return the matching of events with an engine, to be timed; it computes all pairs."""
    return lambda: engine.match(events).event


def pairs_of(
    engine: Engine, rows: Sequence[dict[str, object]], subscriptions: int
) -> npt.NDArray[np.int64]:
    """Return the matches of an exact engine, each pair of event and subscription as a number."""
    found = []
    for start in range(0, len(rows), EVENTS):
        matches = engine.match(EventBatch.of(rows[start : start + EVENTS]))
        found.append((matches.event + start) * subscriptions + matches.subscription)
    return np.concatenate(found)
