"""Measure peers in Python: one event at a time, or in batches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import cycle
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis_lab.harness.process_memory import peak_memory
from tamis_lab.peers.peer import Limits, Outcome

E = TypeVar("E")
R = TypeVar("R")

Ids = npt.NDArray[np.int64]
# The places of events in a table, and the ids of the rules that each satisfies.
Pairs = tuple[Ids, Ids]


def add_rules(
    rules: Iterable[R], add: Callable[[R], object], limit: float, begun: float | None = None
) -> tuple[int, float]:
    """Add as many rules as time allows; return how many, and the seconds."""
    begun = time.perf_counter() if begun is None else begun
    count, took = 0, 0.0
    for rule in rules:
        add(rule)
        count += 1
        took = time.perf_counter() - begun
        if took > limit:
            break
    return count, took


def match_one_by_one(
    match: Callable[[E], list[int]], events: Sequence[E], limits: Limits, loaded: tuple[int, float]
) -> Outcome:
    """Match the sample, then event after event until the time is up."""
    answers: list[list[int]] = []
    begun = time.perf_counter()
    for event in events[: limits.sample]:
        answers.append(match(event))
        if time.perf_counter() - begun > limits.match:
            break
    count, took = len(answers), time.perf_counter() - begun
    if took < limits.match:
        count, begun = 0, time.perf_counter()
        for event in cycle(events):
            match(event)
            count += 1
            took = time.perf_counter() - begun
            if took > limits.match:
                break
    return _outcome(loaded, count, took, answers)


def match_in_batches(
    match: Callable[[pa.Table], Pairs], table: pa.Table, limits: Limits, loaded: tuple[int, float]
) -> Outcome:
    """Match batches until the time is up; batches are as large as time allows."""
    begun = time.perf_counter()
    event, rule = match(table.slice(0, limits.sample))
    count, took = limits.sample, time.perf_counter() - begun
    answers = [np.sort(rule[event == number]).tolist() for number in range(limits.sample)]
    batch, before = count, float("inf")
    # Fixed costs make small batches look slow: grow the batch while a larger one takes hardly
    # longer.
    while batch < table.num_rows and (
        took < 2 * limits.match or (took < 2 * before and took < 5 * limits.match)
    ):
        batch, before = min(table.num_rows, 8 * batch), took
        count, took = batch, _seconds(match, table.slice(0, batch))
    if took < limits.match:
        count, begun = 0, time.perf_counter()
        while True:
            match(table.slice(0, batch))
            count += batch
            took = time.perf_counter() - begun
            if took > limits.match:
                break
    return _outcome(loaded, count, took, answers)


def _seconds(match: Callable[[pa.Table], Pairs], table: pa.Table) -> float:
    begun = time.perf_counter()
    match(table)
    return time.perf_counter() - begun


def true_cells(columns: Iterable[tuple[list[int], npt.NDArray[np.bool_]]]) -> Pairs:
    """Turn Boolean matrices, a row per rule and a column per event, into pairs."""
    events, rules = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for ids, cells in columns:
        rule, event = cells.nonzero()
        events.append(event)
        rules.append(np.asarray(ids, np.int64)[rule])
    return np.concatenate(events), np.concatenate(rules)


def _outcome(
    loaded: tuple[int, float], count: int, took: float, answers: list[list[int]]
) -> Outcome:
    return {
        "rules": loaded[0],
        "build_s": loaded[1],
        "events": count,
        "match_s": took,
        "answers": answers,
        "peak_mb": peak_memory() / 1e6,
    }
