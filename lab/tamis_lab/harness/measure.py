"""How benchmarks measure: warm up, repeat, report the spread, record the machine."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

Row = dict[str, object]
Report = Callable[[str], None]
Clock = Callable[[], float]
# By name: the function, its number of subscriptions, and that with --full.
Experiments = Mapping[str, tuple[Callable[[int, Report], Iterator[Row]], int, int]]

_PACKAGES = ("numpy", "numba", "pyarrow", "google-re2", "tamis")


@dataclass(frozen=True, slots=True)
class Rate:
    """Items per second over several runs of the same work, in one process."""

    name: str
    items: int
    median: float
    slowest: float
    fastest: float
    runs: int


def rate(name: str, items: int, work: Callable[[], object], runs: int = 5) -> Rate:
    """Time `work`, which handles `items` items, after one run to warm up."""
    work()
    rates = []
    for _ in range(runs):
        begun = time.perf_counter()
        work()
        rates.append(items / (time.perf_counter() - begun))
    return Rate(name, items, statistics.median(rates), min(rates), max(rates), runs)


def rounds(
    work: Mapping[str, Callable[[], object]], count: int, clock: Clock = time.perf_counter
) -> dict[str, list[float]]:
    """Return the seconds of each round, for all kinds of work in turn, after a warm-up round.

    In turns, so that other load on the machine affects all alike.
    """
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for number in range(count + 1):
        for name, do in work.items():
            begun = clock()
            do()
            if number:
                seconds[name].append(clock() - begun)
    return seconds


def event_rates(rounds: Mapping[str, list[float]], events: float) -> dict[str, Row]:
    """Return events per second of each kind of work: the median, slowest and fastest round."""
    return {
        name: {
            "events_per_s": events / statistics.median(seconds),
            "slowest": events / max(seconds),
            "fastest": events / min(seconds),
        }
        for name, seconds in rounds.items()
    }


def spread(name: str, figures: Sequence[float]) -> Row:
    """Return the median of several rounds under a name, and the lowest and the highest.

    >>> spread("seconds", [3, 1, 2])
    {'seconds': 2, 'seconds low': 1, 'seconds high': 3}
    """
    return {
        name: statistics.median(figures),
        f"{name} low": min(figures),
        f"{name} high": max(figures),
    }


def calibrate_count(
    do: Callable[[int], object],
    most: int,
    least: int = 1,
    seconds: float = 1 / 3,
    clock: Clock = time.perf_counter,
) -> int:
    """Return how many items make `do` last about `seconds`, or longer, within bounds.

    The count grows fourfold until the time at least doubles: where part of the work is a fixed
    cost, a few items do not show how long many take.
    """
    count, before = least, float("inf")
    do(count)  # to warm up
    while True:
        begun = clock()
        do(count)
        took = max(clock() - begun, 1e-9)
        settled = took >= seconds / 2 and took >= 2 * before
        if settled or count >= most or took >= 10 * seconds:
            return max(count, min(most, int(count * seconds / took)))
        count, before = min(most, 4 * count), took


def machine() -> dict[str, object]:
    """Return what the figures depend on, beside the code."""
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return {
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "machine": platform.machine(),
        "python": platform.python_version(),
        "versions": versions,
    }


def write(file: Path, bench: str, rates: list[Rate]) -> None:
    """Write rates to a file as JSON."""
    keep(file, bench, rates=[asdict(r) for r in rates])


def keep(file: Path, bench: str, **figures: object) -> None:
    """Write any figures to a file as JSON, with the machine they were measured on."""
    file.parent.mkdir(parents=True, exist_ok=True)
    found = {"bench": bench, "machine": machine(), **figures}
    file.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
