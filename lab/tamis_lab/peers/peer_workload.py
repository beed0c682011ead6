"""The input of peers: rules as selectors, and events that all of them can read.

Events are flat tables of integers, doubles, texts and Booleans, with only those attributes that
rules use: not all peers support objects, and none should carry unused data.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tamis.events.batch import EventBatch
from tamis.language import parse
from tamis.language.expr import Attribute, BoolExpr, Node, Sequence, attributes
from tamis.values import Type
from tamis_lab.peers.peer import EVENTS, RULES, TABLE, AttributeKind, Kinds, Texts, flat_name
from tamis_lab.workloads import bdd2001
from tamis_lab.workloads.flights import Flights
from tamis_lab.workloads.flights.departures import DEPARTURES
from tamis_lab.workloads.selective import SelectiveWorkload

MOST_EVENTS = 8_192
TYPES = (Type.BOOL, Type.INT, Type.DBL, Type.STR)


@dataclass(frozen=True)
class PeerWorkload:
    """Rules and events.

    Attributes:
        name: The name of the workload.
        rules: The selectors; the place of a rule is its id.
        table: The events, with flat names.
        kinds: The kind of each attribute.
    """

    name: str
    rules: list[BoolExpr]
    table: pa.Table
    kinds: Kinds

    def dicts(self) -> list[dict[str, object]]:
        """Return the events as dicts, without NULLs."""
        rows = self.table.to_pylist()
        return [{name: v for name, v in row.items() if v is not None} for row in rows]

    def put_events(self, folder: Path) -> None:
        """Write the events, as a table and as JSON lines."""
        pq.write_table(self.table, folder / TABLE)
        lines = (json.dumps(row) + "\n" for row in self.dicts())
        (folder / EVENTS).write_text("".join(lines), encoding="utf-8")


def put_rules(folder: Path, rules: Iterable[tuple[int, Texts]]) -> None:
    """Write rules in a peer's language, one a line."""
    lines = (json.dumps({"id": number, "rules": texts}) + "\n" for number, texts in rules)
    (folder / RULES).write_text("".join(lines), encoding="utf-8")


def read_rules(folder: Path) -> list[tuple[int, Texts]]:
    """Read what `put_rules` has written."""
    with (folder / RULES).open(encoding="utf-8") as lines:
        return [(row["id"], row["rules"]) for row in map(json.loads, lines)]


def peer_workload(name: str, rules: int, events: int = MOST_EVENTS) -> PeerWorkload:
    """Return a workload with a number of rules."""
    texts, batch = WORKLOADS[name](rules, events)
    trees = [_flatten(tree) for tree in map(parse, texts) if not isinstance(tree, Sequence)]
    named = frozenset(path for tree in trees for path in attributes(tree))
    columns: dict[str, Any] = {}
    kinds: dict[str, AttributeKind] = {}
    for path, found in sorted(batch.columns.items()):
        name_of = flat_name(path)
        if (name_of,) in named and len(found) == 1 and found[0].type in TYPES:
            columns[name_of] = found[0].data
            kinds[name_of] = AttributeKind(found[0].type, found[0].data.null_count > 0)
    return PeerWorkload(name, trees, pa.table(columns), kinds)


def _flatten(expr: BoolExpr) -> BoolExpr:
    """Return the same selector over flat events."""
    if any(len(path) > 1 for path in attributes(expr)):
        return cast(BoolExpr, _flatten_names(expr))
    return expr


def _flatten_names(part: object) -> object:
    if isinstance(part, Attribute):
        return Attribute((flat_name(part.path),))
    if isinstance(part, tuple):
        return tuple(map(_flatten_names, part))
    if isinstance(part, Node):
        changed: dict[str, Any] = {
            f.name: _flatten_names(getattr(part, f.name)) for f in fields(part)
        }
        return replace(part, **changed)
    return part


def _selective(rules: int, events: int) -> tuple[Iterable[str], EventBatch]:
    """Conjunctions of three to seven tests: 60 % equalities, the rest ranges."""
    workload = SelectiveWorkload(subscriptions=rules)
    return workload.selectors(), workload.events(events)


def _equality(rules: int, events: int) -> tuple[Iterable[str], EventBatch]:
    """Conjunctions of two equalities over few values, which all peers can express."""
    workload = SelectiveWorkload(
        subscriptions=rules, equalities=1.0, predicates=2, values=100, width=50
    )
    return workload.selectors(), workload.events(events)


def _bdd2001(rules: int, events: int) -> tuple[Iterable[str], EventBatch]:
    """The queries of the BDD paper: any Boolean form, and an event matches a third of them."""
    workload = bdd2001.Workload(subscriptions=rules)
    return workload.selectors(), workload.events(events)


def _flights(rules: int, events: int) -> tuple[Iterable[str], EventBatch]:
    """Alerts on a year's departures from New York: real events, some attributes missing."""
    workload = Flights(alerts=rules)
    table = workload.table(DEPARTURES)
    spread = np.linspace(0, table.num_rows - 1, events).astype(np.int64)
    texts = (alert[1] for alert in workload.subscriptions())
    return islice(texts, rules), EventBatch.of(table.take(spread))


WORKLOADS: Mapping[str, Callable[[int, int], tuple[Iterable[str], EventBatch]]] = {
    "equality": _equality,
    "selective": _selective,
    "flights": _flights,
    "bdd2001": _bdd2001,
}
