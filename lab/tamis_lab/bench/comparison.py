"""Compare engines on the same subscriptions and events, in turns, and check that they agree.

A slow engine gets fewer events: as many as take about half a second. One that is slow to load is
stopped, and `brute`, `siena` and `forest` get only a few subscriptions. Their rows say how many,
and no other engine is compared with them. An engine that cannot express some selector is left out.
Answers are compared as far as they go.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Protocol

import numpy as np

from tamis.engines import ENGINES, Engine
from tamis.engines.protocol import MatchCountEngine
from tamis.errors import InputError, UnsupportedExpression
from tamis.events.batch import EventBatch
from tamis.matches import Matches
from tamis_lab.bench.insertion import parse_in_chunks, seconds_to_add
from tamis_lab.harness.measure import Report, Row, calibrate_count, event_rates, rounds

ROUNDS = 5
MANY = 1_024  # events, where each has many matches and all pairs are requested
SAMPLE = 100  # events whose answers are compared
SLOWEST_LOAD = 300.0  # seconds
# Most subscriptions of engines that visit each one, or every node of its diagram: for every event,
# or for every subscription that is added.
MOST = {"bdd": 100_000, "brute": 10_000, "siena": 5_000, "forest": 5_000}

# What is requested of the matches. All engines defer some work, so something must be requested.
Answer = Callable[[Engine, EventBatch], object]
ANSWERS: Mapping[str, Answer] = {
    "pairs": lambda engine, batch: _pairs(engine.match(batch)),
    "counts": lambda engine, batch: (
        engine.counts(batch)
        if isinstance(engine, MatchCountEngine)
        else engine.match(batch).counts()
    ),
    "bitmaps": lambda engine, batch: engine.match(batch).bitmaps(),
}


def _pairs(matches: Matches) -> tuple[object, object]:
    return matches.event, matches.subscription


class BenchWorkload(Protocol):
    """A workload to measure with; all of `tamis_lab.workloads` are."""

    @property
    def subscriptions(self) -> int:
        """Number of subscriptions."""

    def selectors(self) -> Iterator[str]:
        """Yield the subscriptions as text."""


@dataclass(slots=True)
class Contestant:
    """An engine in the comparison, and how it was loaded."""

    name: str
    threads: int
    engine: Engine
    subscriptions: int = 0
    seconds: float = 0.0

    @property
    def title(self) -> str:
        """The name to show."""
        return f"{self.name}, {self.threads} threads" if self.threads > 1 else self.name

    @property
    def room(self) -> int | None:
        """How many more subscriptions it may take; None if unlimited."""
        return MOST[self.name] - self.subscriptions if self.name in MOST else None


def compare_engines(
    engine: str,
    workload: BenchWorkload,
    batch: EventBatch,
    say: Report,
    answers: Mapping[str, Answer] | None = None,
) -> Iterator[Row]:
    """Yield events per second of the engine, with one and with two threads, and of all others."""
    say(f"loading {workload.subscriptions:,} subscriptions into each engine …")
    field = load_contestants(contestants(engine, say), workload, say)
    # One engine's objects must not cost the others time when Python's garbage collector runs.
    gc.collect()
    gc.freeze()
    try:
        for name, answer in (answers or {"pairs": ANSWERS["pairs"]}).items():
            # Where answers contain a third of all pairs, a thousand events are enough.
            part = batch.slice(0, MANY) if answers and name == "pairs" else batch
            say(f"{name} of {', '.join(contestant.title for contestant in field)} …")
            yield from _measure_rates(field, part, name, answer)
    finally:
        gc.unfreeze()


def contestants(engine: str, say: Report = lambda _: None) -> list[Contestant]:
    """Return the engine, first with one thread, and all others whose libraries are installed."""
    found = [_contestant(engine, 1)]
    if "threads" in signature(ENGINES[engine]).parameters:
        found.append(_contestant(engine, 2))
    for other in sorted({*ENGINES} - {engine}):
        try:
            found.append(_contestant(other, 1))
        except InputError as error:
            say(f"{other} takes no part: {error}")
    return found


def load_contestants(
    field: list[Contestant], workload: BenchWorkload, say: Report
) -> list[Contestant]:
    """Load the engines; return those that can express all selectors."""
    taking_part = list(field)
    # In chunks: parsed once for all engines, and soon freed.
    for chunk in parse_in_chunks(workload.selectors(), 5_000):
        for contestant in list(taking_part):  # a copy, because some may be removed
            if contestant.seconds > SLOWEST_LOAD:
                continue
            part = chunk[: contestant.room]
            try:
                contestant.seconds += seconds_to_add(contestant.engine, part)
            except UnsupportedExpression as error:
                say(f"{contestant.title} is left out: {error}")
                taking_part.remove(contestant)
            contestant.subscriptions += len(part)
    return taking_part


def _contestant(name: str, threads: int) -> Contestant:
    made = ENGINES[name]
    options = {"threads": threads} if "threads" in signature(made).parameters else {}
    return Contestant(name, threads, made(**options))


def _measure_rates(
    field: list[Contestant],
    batch: EventBatch,
    answer_name: str,
    answer: Answer,
) -> Iterator[Row]:
    first = field[0]
    matching = {c.title: partial(answer_events, c.engine, batch, answer) for c in field}
    counts = {
        name: calibrate_count(do, most=64 * len(batch), seconds=1 / 2)
        for name, do in matching.items()
    }
    for contestant in field:
        if contestant.name == first.name:  # the engine under test gets whole batches
            counts[contestant.title] = max(counts[contestant.title], len(batch))
    work = {name: partial(do, counts[name]) for name, do in matching.items()}
    seconds = rounds(work, ROUNDS)
    rates = {name: event_rates({"": seconds[name]}, counts[name])[""] for name in work}
    complete = [c for c in field if c.subscriptions == first.subscriptions]
    others = [_per_s(rates[c.title]) for c in complete if c.name != first.name]
    for contestant in field:
        events = counts[contestant.title]
        rate = rates[contestant.title]
        sample = batch.slice(0, min(SAMPLE, events))
        yield {
            "engine": contestant.name,
            "threads": contestant.threads,
            "subscriptions": contestant.subscriptions,
            "answer": answer_name,
            "batch": len(batch),
            "events": events,
            **rate,
            "times_best_other": _per_s(rate) / max(others) if others else "no other",
            "matches_per_event": len(contestant.engine.match(sample)) / len(sample),
            "equal": "yes" if has_equal_matches(first, contestant, sample) else "NO",
            "equal_on": len(sample),
            "load_s": contestant.seconds,
        }


def has_equal_matches(first: Contestant, second: Contestant, sample: EventBatch) -> bool:
    """Return whether both agree on the subscriptions that both have."""
    most = min(first.subscriptions, second.subscriptions)
    found = [_pairs_below(contestant.engine.match(sample), most) for contestant in (first, second)]
    return all(map(np.array_equal, *found))


def _pairs_below(matches: Matches, most: int) -> tuple[object, object]:
    known = matches.subscription < most
    return matches.event[known], matches.subscription[known]


def answer_events(engine: Engine, batch: EventBatch, answer: Answer, count: int) -> None:
    """Match `count` events: the batch repeatedly, and a part of it."""
    for start in range(0, count, len(batch)):
        part = batch if count - start >= len(batch) else batch.slice(0, count - start)
        answer(engine, part)


def _per_s(rate: Row) -> float:
    found = rate["events_per_s"]
    assert isinstance(found, float)
    return found
