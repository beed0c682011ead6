"""Tamis itself: its default engine on one thread, with events in three forms."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from tamis.language import to_text
from tamis.language.expr import BoolExpr
from tamis.matcher import Matcher
from tamis_lab.peers.peer import EVENTS, TABLE, Kinds, Limits, Outcome, Peer, Texts, package_version
from tamis_lab.peers.peer_rates import Pairs, match_in_batches, match_one_by_one
from tamis_lab.peers.peer_workload import read_rules
from tamis_lab.peers.python_peers import ContestFunction, process_runner

ENGINE = "block"


def _translate(expr: BoolExpr, kinds: Kinds) -> Texts:
    return [to_text(expr)]


def tables(folder: str, build: float, match: float, sample: int) -> Outcome:
    """Measure `match_batch` with Arrow tables."""
    table = pq.read_table(Path(folder, TABLE))
    matcher, loaded = _load_matcher(Path(folder), table)
    return match_in_batches(partial(_pairs, matcher), table, Limits(build, match, sample), loaded)


def lines(folder: str, build: float, match: float, sample: int) -> Outcome:
    """Measure `match_batch` with JSON lines, which are parsed each time."""
    table = pq.read_table(Path(folder, TABLE))
    matcher, loaded = _load_matcher(Path(folder), table)
    texts = Path(folder, EVENTS).read_bytes().splitlines(keepends=True)
    whole = pa.table({"line": pa.array(texts, pa.binary())})
    known: dict[int, bytes] = {}

    def read_and_match(part: pa.Table) -> Pairs:
        count = part.num_rows  # always the first rows
        if count not in known:
            known[count] = b"".join(texts[:count])
        return _pairs(matcher, msgspec.json.Decoder().decode_lines(known[count]))

    return match_in_batches(read_and_match, whole, Limits(build, match, sample), loaded)


def single_events(folder: str, build: float, match: float, sample: int) -> Outcome:
    """Measure `match` with one event at a time."""
    table = pq.read_table(Path(folder, TABLE))
    matcher, loaded = _load_matcher(Path(folder), table)
    events = msgspec.json.Decoder().decode_lines(Path(folder, EVENTS).read_bytes())
    ids = cast(Callable[[Any], list[int]], matcher.match)  # ids are numbers
    return match_one_by_one(ids, events, Limits(build, match, sample), loaded)


def _load_matcher(folder: Path, table: pa.Table) -> tuple[Matcher, tuple[int, float]]:
    """Load a matcher with all rules, laid out for these events; includes all deferred work."""
    rules = [(number, texts[0]) for number, texts in read_rules(folder)]
    warm = Matcher(engine=ENGINE, threads=1)  # loads all kernels, which is not measured here
    warm.add_many(rules[:1000])
    _settle(warm, table.slice(0, 1000))
    warm.match(table.slice(0, 1).to_pylist()[0])
    begun = time.perf_counter()
    matcher = Matcher(engine=ENGINE, threads=1)
    matcher.add_many(rules)
    _settle(matcher, table.slice(0, 1000))
    return matcher, (len(rules), time.perf_counter() - begun)


def _settle(matcher: Matcher, few: pa.Table) -> None:
    matcher.match_batch(few)
    matcher._engine.settle()  # type: ignore[attr-defined]
    matcher.match_batch(few)


def _pairs(matcher: Matcher, events: Any) -> Pairs:
    found = matcher.match_batch(events)
    return found.event, found.subscription


def _tamis(name: str, about: str, takes: str, contest: ContestFunction) -> Peer:
    return Peer(
        name=name,
        about=about,
        takes=takes,
        unavailable=lambda: None,
        version=lambda: package_version("tamis"),
        translate=_translate,
        run=process_runner(contest),
    )


TAMIS = _tamis("tamis", "Tamis, match_batch", "Arrow table", tables)
TAMIS_JSON = _tamis("tamis-json", "Tamis, match_batch of JSON lines", "JSON text", lines)
TAMIS_SINGLE = _tamis("tamis-single", "Tamis, one event a call", "dict", single_events)
