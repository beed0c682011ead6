"""Time and memory of `tamis lint` on the subscriptions of the workloads."""

from __future__ import annotations

import json
import os
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec

from tamis.analysis import lint
from tamis.analysis.lint import LintRow as Subscribed
from tamis.events.subscription_files import read_subscriptions
from tamis_lab.harness.fresh_process import run_in_fresh_process
from tamis_lab.harness.measure import Experiments, Report, Row
from tamis_lab.workloads import atree2004, bdd2001
from tamis_lab.workloads.flights import Flights
from tamis_lab.workloads.selective import SelectiveWorkload

_SELECTORS: dict[str, Callable[[int], Iterator[str]]] = {
    "selective": lambda size: SelectiveWorkload(subscriptions=size).selectors(),
    "atree2004": lambda size: atree2004.Workload(
        subscriptions=size, predicates=5, shared_predicates=2
    ).selectors(),
    "flights": lambda size: Flights(alerts=size).selectors(),
    "bdd2001": lambda size: bdd2001.Workload(subscriptions=size).selectors(),
}
RULES = ("never-matches", "always-matches", "equivalent", "covered", "redundant", "undecided")


def lint_workload(name: str, size: int) -> Row:
    """Read a file of subscriptions and lint it; call this in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rules.jsonl")
        with file.open("w", encoding="utf-8") as out:
            for id, selector in enumerate(_SELECTORS[name](size)):
                out.write(json.dumps({"id": id, "selector": selector}) + "\n")
        lint([(0, "x > 1"), (1, "x > 2")])  # loads the kernels
        began, worked = time.perf_counter(), time.process_time()
        rows = [Subscribed(row.id, row.selector, row.line) for row in read_subscriptions(file)]
        findings = lint(rows)
        for finding in findings:
            msgspec.json.encode(finding.to_dict())
        seconds, processor = time.perf_counter() - began, time.process_time() - worked
    counts = Counter(finding.rule for finding in findings)
    return {
        "workload": name,
        "subscriptions": len(rows),
        "seconds": seconds,
        "processor_seconds": processor,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "load": os.getloadavg()[0],
        **{rule: counts[rule] for rule in RULES},
    }


def _run(name: str, size: int, report: Report) -> Iterator[Row]:
    report(f"{name}: {size:,} subscriptions …")
    yield run_in_fresh_process(lint_workload, name, size)


def _experiment(name: str, about: str) -> Callable[[int, Report], Iterator[Row]]:
    run = partial(_run, name)
    run.__doc__ = about
    return run


# The queries of the BDD paper are the hardest: nearly all need a diagram, and every second one has
# redundant parts.
EXPERIMENTS: Experiments = {
    "selective": (_experiment("selective", "Conjunctions of 3 to 7 tests."), 5_000, 100_000),
    "atree2004": (_experiment("atree2004", "Conjunctions with common parts."), 5_000, 100_000),
    "flights": (_experiment("flights", "Alerts on departures, many covered."), 5_000, 100_000),
    "bdd2001": (_experiment("bdd2001", "The queries of the BDD paper."), 300, 5_000),
}
