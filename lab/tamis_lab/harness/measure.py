"""How anything here is measured: warm up, repeat, report the spread, name the machine."""

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
# By name: what runs, on how many subscriptions, and on how many with --full.
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
    """Time `work`, which handles so many items, after one run to warm up."""
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
    """Seconds per round, all kinds of work in turn, after one round to warm up.

    In turns, so that whatever else the machine is doing hits all alike.
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
    """Events per second of each kind of work: the median round, the slowest and the fastest."""
    return {
        name: {
            "events_per_s": events / statistics.median(seconds),
            "slowest": events / max(seconds),
            "fastest": events / min(seconds),
        }
        for name, seconds in rounds.items()
    }


def spread(name: str, figures: Sequence[float]) -> Row:
    """The median of several rounds under a name, and the lowest and the highest beside it.

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
    """How many items make `do` last about so long, or longer, within bounds.

    It takes four times as many until that takes twice as long, at least: from a few one cannot tell
    how long many take, where part of the work is done once for all.
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
    """What the figures depend on, beside the code."""
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
    """Keep the figures as JSON."""
    keep(file, bench, rates=[asdict(r) for r in rates])


def keep(file: Path, bench: str, **figures: object) -> None:
    """Keep any figures as JSON, with the machine they were measured on."""
    file.parent.mkdir(parents=True, exist_ok=True)
    found = {"bench": bench, "machine": machine(), **figures}
    file.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
