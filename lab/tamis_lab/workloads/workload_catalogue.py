"""Workloads by name: their subscriptions and events as tables with a fixed schema.

An `EventBatch` leaves out an attribute that none of its events has. A table that is written in
parts
cannot: all parts have the same columns, and these are known before the first part is generated.

>>> listed = workload_by_name("nulls", seed=1)
>>> listed.table(start=1_000_000, count=3).select(["i0", "d9"]).num_rows
3
>>> listed = workload_by_name(
...     "selective", subscriptions=1_000_000, parameters={"predicates": 1}
... )
>>> listed.subscriptions(start=999_999, count=1).to_pylist()
[{'id': 999999, 'selector': 'a12 BETWEEN 538 AND 738', 'priority': 0}]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import pyarrow as pa

from tamis.errors import InputError, shorten
from tamis_lab.workloads import atree2004, bdd2001, bloom2008, nulls
from tamis_lab.workloads.bdd2001.atoms import DOUBLES, INTEGERS, STRINGS
from tamis_lab.workloads.flights import Flights
from tamis_lab.workloads.flights.departures import DEPARTURES
from tamis_lab.workloads.known_names import check_known, suggest_name
from tamis_lab.workloads.selective import SelectiveWorkload
from tamis_lab.workloads.texts import Requests


@dataclass(frozen=True)
class WorkloadTables:
    """The subscriptions and events of a workload.

    Attributes:
        workload: Has `selectors(start, count)` and `events(count, start)`.
        schema: The columns of `table`.
        length: Number of events; None if unlimited.
        drawn: More arguments for `events`.
    """

    workload: Any
    schema: pa.Schema
    length: int | None = None
    drawn: Mapping[str, Any] = field(default_factory=dict)

    def table(self, start: int, count: int) -> pa.Table:
        """Return `count` events from `start` on.

        Raises:
            InputError: The workload has fewer events.
        """
        if isinstance(self.workload, Flights):
            return self.workload.table(count, start)
        columns = self.workload.events(count, start, **self.drawn).columns
        arrays = [
            columns[(field.name,)][0].data
            if (field.name,) in columns
            else pa.nulls(count, field.type)
            for field in self.schema
        ]
        return pa.Table.from_arrays(arrays, schema=self.schema)

    @property
    def size(self) -> int:
        """Number of subscriptions."""
        size: int = getattr(self.workload, _size_name(self.workload))
        return size

    @property
    def subscriptions_schema(self) -> pa.Schema:
        """The columns of `subscriptions`."""
        kind = pa.string() if isinstance(self.workload, Flights) else pa.int64()
        return pa.schema([("id", kind), ("selector", pa.string()), ("priority", pa.int64())])

    def subscriptions(self, start: int, count: int) -> pa.Table:
        """Return `count` subscriptions from `start` on; ids count from 0, except for `flights`.

        Raises:
            InputError: The workload has fewer subscriptions.
        """
        if isinstance(self.workload, Flights):
            rows = list(self.workload.subscriptions(start, count))
            columns: Iterable[Any] = zip(*rows, strict=True) if rows else ((), (), ())
        else:
            texts = list(self.workload.selectors(start, count))
            columns = range(start, start + count), texts, [0] * count
        schema = self.subscriptions_schema
        arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
        return pa.Table.from_arrays(arrays, schema=schema)


def workload_by_name(
    name: str,
    seed: int | None = None,
    subscriptions: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    drawn: Mapping[str, Any] | None = None,
) -> WorkloadTables:
    """Return a workload by name, with its own or other parameters.

    Args:
        name: One of `NAMES`.
        seed: Replaces the workload's own seed.
        subscriptions: Number of subscriptions; by default 1, since events do not depend on it.
        parameters: Replaces parameters of the workload.
        drawn: More arguments for `events`.

    Raises:
        InputError: The workload or a parameter is unknown, or a parameter is out of range.
    """
    check_name(name)
    workload, listed = _LISTED[name]
    changes = dict(parameters or {})
    check_parameters(name, changes)
    if seed is not None:
        changes["seed"] = seed
    if subscriptions is not None:
        changes[_size_name(workload)] = subscriptions
    found = listed(replace(workload, **changes))
    return replace(found, drawn=dict(drawn)) if drawn else found


def check_name(name: str) -> None:
    """Check that a workload exists.

    Raises:
        InputError: No workload has this name.
    """
    check_known("workload", [name], _LISTED, "workload")


def check_parameters(name: str, given: Iterable[str]) -> None:
    """Check that a workload has these parameters.

    Raises:
        InputError: A parameter is unknown.
    """
    known = parameters_of(name)
    for parameter in given:
        if parameter not in known:
            raise InputError(f"{name} has no such parameter; {suggest_name(parameter, known)}",
                             shorten(parameter))  # fmt: skip


def parameters_of(name: str) -> dict[str, Any]:
    """Return the parameters of a workload with their defaults, without seed and size."""
    workload, _ = _LISTED[name]
    return {
        f.name: getattr(workload, f.name)
        for f in fields(workload)
        if f.name not in ("seed", _size_name(workload))
    }


def description_of(name: str) -> str:
    """Return a one-line description of a workload."""
    return _DESCRIPTIONS[name]


def _size_name(workload: object) -> str:
    return "alerts" if isinstance(workload, Flights) else "subscriptions"


def _flights(workload: Flights) -> WorkloadTables:
    return WorkloadTables(workload, workload.table(0).schema, DEPARTURES)


def _selective(workload: SelectiveWorkload) -> WorkloadTables:
    return WorkloadTables(workload, _schema(integers=[f"a{a}" for a in range(workload.attributes)]))


def _sparse(workload: nulls.SparseWorkload) -> WorkloadTables:
    return WorkloadTables(workload, _schema(integers=nulls.INTEGERS, doubles=nulls.DOUBLES))


def _requests(workload: Requests) -> WorkloadTables:
    return WorkloadTables(workload, _schema(strings=("title", "path", "country", "agent")))


def _atree2004(workload: atree2004.Workload) -> WorkloadTables:
    return WorkloadTables(workload, _schema(integers=workload.table.names))


def _bdd2001(workload: bdd2001.Workload) -> WorkloadTables:
    return WorkloadTables(workload, _schema(INTEGERS, DOUBLES, STRINGS))


def _bloom2008(workload: bloom2008.Workload) -> WorkloadTables:
    return WorkloadTables(workload, _schema(integers=workload.words))


# One subscription each: events do not depend on the number of subscriptions.
_LISTED: dict[str, tuple[Any, Callable[[Any], WorkloadTables]]] = {
    "atree2004": (
        atree2004.Workload(subscriptions=1, predicates=5, shared_predicates=2),
        _atree2004,
    ),
    "bdd2001": (bdd2001.Workload(subscriptions=1), _bdd2001),
    # The smallest number of names in the paper: each name is a column.
    "bloom2008": (bloom2008.Workload(subscriptions=1, names=1000), _bloom2008),
    "flights": (Flights(), _flights),
    "nulls": (nulls.SparseWorkload(subscriptions=1), _sparse),
    "selective": (SelectiveWorkload(subscriptions=1), _selective),
    "texts": (Requests(subscriptions=1), _requests),
}
NAMES = tuple(_LISTED)
_DESCRIPTIONS = {
    "atree2004": "the A-Tree thesis: shared expressions of AND, OR and XOR; choose SNPS and SMPE",
    "bdd2001": "the BDD paper: arbitrary Boolean expressions over 208 atoms, broad",
    "bloom2008": "the Bloom filter paper: conjunctions over very many attribute names, sparse",
    "flights": "departures from New York in 2013, and alerts on them: real events",
    "nulls": "events with few of twenty attributes, and selectors that test which are missing",
    "selective": "conjunctions of equalities and ranges that match few events",
    "texts": "requests for articles: words, paths, agents",
}


def _schema(
    integers: Iterable[str] = (), doubles: Iterable[str] = (), strings: Iterable[str] = ()
) -> pa.Schema:
    kinds = (integers, pa.int64()), (doubles, pa.float64()), (strings, pa.string())
    return pa.schema([(name, kind) for names, kind in kinds for name in names])
