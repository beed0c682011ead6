"""The tables of the BDD paper (ICSE 2001, §8), with the paper's figures beside ours.

The paper's machine was a Pentium Pro with 200 MHz: compare how seconds grow, not the seconds. Its
figures are averages of seven runs; ours are medians of a few rounds over one set of queries.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from tamis.engines import Engine
from tamis.engines.bdd import BddEngine
from tamis.engines.bdd.variables import ORDERS
from tamis.engines.subscription import Subscription
from tamis.events.batch import EventBatch
from tamis.schema import Schema
from tamis_lab.bench.growth import exponent
from tamis_lab.bench.insertion import seconds_to_add
from tamis_lab.harness.measure import Experiments, Report, Row
from tamis_lab.harness.plots import load_pyplot
from tamis_lab.workloads.bdd2001 import Workload
from tamis_lab.workloads.bdd2001.atoms import DOUBLES, INTEGERS, STRINGS
from tamis_lab.workloads.bdd2001.grammar import CONJUNCTIVE

MESSAGES = 1_000
ROUNDS = 3
STEPS = 4  # sizes: a quarter of all queries, a half, …
_PIECE = 200  # messages at a time, because each matches a third of the queries

SCHEMA = Schema(
    {**dict.fromkeys(INTEGERS, "INT"), **dict.fromkeys(DOUBLES, "DBL")}
    | dict.fromkeys(STRINGS, "STR")
)

DENSITIES = (0.077, 0.154, 0.231, 0.308, 1.0)
# By number of queries: nodes before and after restriction.
PAPER_NODES = {
    25_000: (180_226, 108_889),
    50_000: (351_616, 206_848),
    75_000: (543_677, 299_942),
    100_000: (708_969, 376_992),
}
# By number of queries: seconds for 1,000 messages under StSL, by density as above; then under SiSL.
PAPER_SECONDS = {
    25_000: (1.56, 3.81, 5.86, 8.23, 27.64, 20.12),
    50_000: (3.56, 7.63, 10.92, 14.74, 55.66, 41.58),
    75_000: (6.65, 12.49, 18.11, 22.56, 89.93, 61.75),
    100_000: (9.01, 15.57, 21.4, 30.83, 121.32, 81.64),
}


def queries(size: int, density: float = 1.0) -> Workload:
    """Return the paper's queries, as closely as we know them."""
    return Workload(subscriptions=size, form="grammar", conjunctive=CONJUNCTIVE, density=density)


def add_in_steps(size: int, semantics: str, *engines: Engine) -> Iterator[tuple[int, list[float]]]:
    """Add queries to engines in steps; yield how many there are, and the seconds of each engine."""
    texts = enumerate(queries(size).selectors())
    for step in range(1, STEPS + 1):
        until, before = size * step // STEPS, size * (step - 1) // STEPS
        some = [
            Subscription.of(id, text, schema=SCHEMA, semantics=semantics)
            for id, text in islice(texts, until - before)
        ]
        yield until, [seconds_to_add(engine, some) for engine in engines]


# -- experiments ----------------------------------------------------------------------------------


def nodes(size: int, say: Report) -> Iterator[Row]:
    """Nodes before and after restriction, by queries (first table)."""
    plain, restricted = (
        BddEngine(restrict=restrict, schema=SCHEMA, semantics="total") for restrict in (False, True)
    )
    took = np.zeros(2)
    for count, seconds in add_in_steps(size, "total", plain, restricted):
        say(f"{count:,} queries …")
        took += seconds
        before, after = (int(engine.stats()["nodes"]) for engine in (plain, restricted))  # type: ignore[call-overload]
        yield {
            "queries": count,
            "nodes_before": before,
            "nodes_after": after,
            "factor": before / after,
            **_paper_nodes(count),
            "added_per_s": count / float(took[0]),
            "added_restricted_per_s": count / float(took[1]),
        }


def _paper_nodes(count: int) -> Row:
    if count not in PAPER_NODES:
        return {}
    before, after = PAPER_NODES[count]
    return {"paper_before": before, "paper_after": after, "paper_factor": before / after}


def messages(size: int, say: Report) -> Iterator[Row]:
    """Seconds for 1,000 messages, by density and semantics (second table).

    `one_by_one_s` is MVEvalBDD under StSL and EvalBDD under SiSL. `blocks_s` is the same for 512
    messages at a time, as in any batch of more than a few. Both include finding the predicates and
    all matches. Seconds are processor time of one thread, so that other load matters little; all
    cases run in turns.
    """
    strict = BddEngine(schema=SCHEMA, semantics="strict")
    simple = BddEngine(schema=SCHEMA, semantics="total")
    # Two iterations over the same queries, each with its own semantics.
    steps = zip(
        add_in_steps(size, "strict", strict), add_in_steps(size, "total", simple), strict=True
    )
    for (count, _), _ in steps:
        say(f"{count:,} queries …")
        cases = [Case("StSL", strict, density) for density in DENSITIES]
        cases.append(Case("SiSL", simple, 1.0))
        for _ in range(ROUNDS):
            for case in cases:
                case.run()
        for place, case in enumerate(cases):
            yield {
                "queries": count,
                "language": case.language,
                "density": case.density,
                "one_by_one_s": statistics.median(case.seconds[True]),
                "blocks_s": statistics.median(case.seconds[False]),
                **({"paper_s": PAPER_SECONDS[count][place]} if count in PAPER_SECONDS else {}),
                "matches_per_message": case.matches[True] / MESSAGES,
            }


class Case:
    """Messages of one density under one semantics, and their seconds, keyed by one_by_one."""

    def __init__(self, language: str, engine: BddEngine, density: float) -> None:
        """Draw the messages."""
        self.language = language
        self.density = density
        self._engine = engine
        semantics = "strict" if language == "StSL" else "total"
        self._batch = EventBatch.of(queries(1, density).events(MESSAGES), SCHEMA, semantics)
        self.seconds: dict[bool, list[float]] = {True: [], False: []}
        self.matches: dict[bool, int] = {}

    def run(self) -> None:
        """Match all messages in both ways, and record how long each took."""
        for one_by_one, took in self.seconds.items():
            size = _PIECE if one_by_one else MESSAGES
            begun = time.process_time()
            self.matches[one_by_one] = sum(
                len(self._engine.evaluate(self._batch.slice(first, size), one_by_one))
                for first in range(0, MESSAGES, size)
            )
            took.append(time.process_time() - begun)
        assert self.matches[True] == self.matches[False], "the two ways find different matches"


def orders(size: int, say: Report) -> Iterator[Row]:
    """Nodes by the order of variables, which hardly matters (§7)."""
    least: int | None = None
    for order in ORDERS:
        say(f"{size:,} queries, ordered by {order} …")
        engines = [
            BddEngine(order=order, restrict=restrict, schema=SCHEMA, semantics="total")
            for restrict in (False, True)
        ]
        took = sum(
            (np.array(seconds) for _, seconds in add_in_steps(size, "total", *engines)), np.zeros(2)
        )
        before, after = (int(engine.stats()["nodes"]) for engine in engines)  # type: ignore[call-overload]
        least = after if least is None else least
        yield {
            "order": order,
            "queries": size,
            "nodes_before": before,
            "nodes_after": after,
            "factor": before / after,
            "against_attribute": after / least,
            "added_restricted_per_s": size / float(took[1]),
        }


EXPERIMENTS: Experiments = {
    "nodes": (nodes, 8_000, 100_000),
    "messages": (messages, 8_000, 100_000),
    "orders": (orders, 4_000, 25_000),
}


def warm_up() -> None:
    """Compile the kernels before anything is timed."""
    for _ in messages(8, lambda _: None):
        pass


# -- shapes ---------------------------------------------------------------------------------------


def growth_lines(found: dict[str, list[Row]]) -> list[str]:
    """Return sentences on how our figures grow, with what the paper says."""
    lines = []
    rows = found.get("nodes", [])
    if len(rows) > 1:
        for name in ("nodes_before", "nodes_after"):
            power = exponent(_column(rows, "queries"), _column(rows, name))
            lines.append(f"{name} grow as queries^{power:.2f} (paper: almost linearly)")
        factors = _column(rows, "factor")
        lines.append(
            f"restriction divides them by {min(factors):.2f} to {max(factors):.2f} "
            "(paper: 1.66 to 1.88)"
        )
    timed = found.get("messages", [])
    for count in sorted({int(row["queries"]) for row in timed}):  # type: ignore[call-overload]
        strict = [row for row in timed if row["queries"] == count and row["language"] == "StSL"]
        density, seconds = _column(strict, "density"), _column(strict, "one_by_one_s")
        printed = PAPER_SECONDS.get(count)
        paper = f" (paper: {printed[4] / printed[0]:.1f})" if printed else ""
        lines.append(
            f"{count:,} queries, StSL: {density[-1] / density[0]:.1f} times the density takes "
            f"{seconds[-1] / seconds[0]:.1f} times as long{paper}"
        )
    ordered = found.get("orders", [])
    if ordered:
        spread = _column(ordered, "nodes_after")
        lines.append(
            f"orders of variables: the largest diagram has {max(spread) / min(spread):.2f} times "
            "the nodes of the smallest (paper: no significant difference)"
        )
    return lines


def _column(rows: Sequence[Row], name: str) -> list[float]:
    return [float(row[name]) for row in rows]  # type: ignore[arg-type]


def draw(found: dict[str, list[Row]], folder: Path) -> Path:
    """Plot nodes against queries, and time against density, ours beside the paper's.

    Raises:
        ImportError: Matplotlib is not installed.
    """
    pyplot = load_pyplot()
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    rows = found.get("nodes", [])
    for name, label in (("before", "before restriction"), ("after", "after restriction")):
        if rows:
            ours = _column(rows, f"nodes_{name}")
            left.plot(_column(rows, "queries"), ours, marker="o", label=f"ours, {label}")
        paper = [PAPER_NODES[count][name == "after"] for count in PAPER_NODES]
        left.plot(list(PAPER_NODES), paper, "--", marker="x", label=f"paper, {label}")
    left.set(xlabel="queries", ylabel="nodes", title="size of the shared diagram")
    timed = [row for row in found.get("messages", []) if row["language"] == "StSL"]
    for count in sorted({int(row["queries"]) for row in timed}):  # type: ignore[call-overload]
        same = [row for row in timed if row["queries"] == count]
        density = _column(same, "density")
        for name, style in (("one_by_one_s", "-"), ("blocks_s", ":")):
            way = "one by one" if style == "-" else "in blocks"
            seconds = _column(same, name)
            right.plot(density, seconds, style, marker="o", label=f"{count:,}, {way}")
    most = max(PAPER_SECONDS)
    paper_seconds = PAPER_SECONDS[most][: len(DENSITIES)]
    right.loglog(DENSITIES, paper_seconds, "--", marker="x", label=f"{most:,}, paper")
    right.set(xlabel="message density", ylabel="seconds for 1,000 messages", title="StSL")
    for plot in (left, right):
        plot.grid(visible=True, alpha=0.3)
        plot.legend(fontsize=7)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "bdd.svg"
    figure.savefig(file)
    pyplot.close(figure)
    return file
