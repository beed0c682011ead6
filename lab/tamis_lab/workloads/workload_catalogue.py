"""Workloads by name: their subscriptions and events as tables of one and the same schema.

An `EventBatch` leaves out an attribute that none of its events has. A table that others go on with
cannot: all parts of it have the same columns, which are known before any of them is made.

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
        workload: It has `selectors(start, count)` and `events(count, start)`.
        schema: The columns of `table`.
        length: How many events there are; None where there is no end to them.
        drawn: What else `events` takes.
    """

    workload: Any
    schema: pa.Schema
    length: int | None = None
    drawn: Mapping[str, Any] = field(default_factory=dict)

    def table(self, start: int, count: int) -> pa.Table:
        """So many events from the one at `start`.

        Raises:
            InputError: There are none there.
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
        """How many subscriptions there are."""
        size: int = getattr(self.workload, _size_name(self.workload))
        return size

    @property
    def subscriptions_schema(self) -> pa.Schema:
        """The columns of `subscriptions`."""
        kind = pa.string() if isinstance(self.workload, Flights) else pa.int64()
        return pa.schema([("id", kind), ("selector", pa.string()), ("priority", pa.int64())])

    def subscriptions(self, start: int, count: int) -> pa.Table:
        """So many subscriptions from the one at `start`; ids count from 0, but for `flights`.

        Raises:
            InputError: There are none there.
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
    """A workload by its name, as it is or with other parameters.

    Args:
        name: One of `NAMES`.
        seed: Instead of its own.
        subscriptions: How many there are; by itself 1, for events do not depend on it.
        parameters: Others of its own.
        drawn: What else its `events` take.

    Raises:
        InputError: There is none of this name, or of a parameter's, or one is out of range.
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
    """Refuse a name that no workload has.

    Raises:
        InputError: There is none.
    """
    check_known("workload", [name], _LISTED, "workload")


def check_parameters(name: str, given: Iterable[str]) -> None:
    """Refuse parameters that the workload does not have.

    Raises:
        InputError: There is one.
    """
    known = parameters_of(name)
    for parameter in given:
        if parameter not in known:
            raise InputError(f"{name} has no such parameter; {suggest_name(parameter, known)}",
                             shorten(parameter))  # fmt: skip


def parameters_of(name: str) -> dict[str, Any]:
    """The parameters of a workload and what they are by themselves, but for seed and size."""
    workload, _ = _LISTED[name]
    return {
        f.name: getattr(workload, f.name)
        for f in fields(workload)
        if f.name not in ("seed", _size_name(workload))
    }


def description_of(name: str) -> str:
    """What a workload is, in a line."""
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


# Events do not depend on how many subscriptions there are.
_LISTED: dict[str, tuple[Any, Callable[[Any], WorkloadTables]]] = {
    "atree2004": (
        atree2004.Workload(subscriptions=1, predicates=5, shared_predicates=2),
        _atree2004,
    ),
    "bdd2001": (bdd2001.Workload(subscriptions=1), _bdd2001),
    # The fewest names of the paper: each is a column.
    "bloom2008": (bloom2008.Workload(subscriptions=1, names=1000), _bloom2008),
    "flights": (Flights(), _flights),
    "nulls": (nulls.SparseWorkload(subscriptions=1), _sparse),
    "selective": (SelectiveWorkload(subscriptions=1), _selective),
    "texts": (Requests(subscriptions=1), _requests),
}
NAMES = tuple(_LISTED)
_DESCRIPTIONS = {
    "atree2004": "the A-Tree thesis: shared expressions of AND, OR and XOR; SNPS and SMPE as asked",
    "bdd2001": "the BDD paper: any Boolean expressions over 208 atoms, broad",
    "bloom2008": "the Bloom filter paper: conjunctions over very many attribute names, sparse",
    "flights": "departures from New York in 2013, and alerts on them: real events",
    "nulls": "few of twenty attributes are there, and selectors ask which",
    "selective": "conjunctions of equalities and ranges that match little",
    "texts": "requests for articles: words, paths, agents",
}


def _schema(
    integers: Iterable[str] = (), doubles: Iterable[str] = (), strings: Iterable[str] = ()
) -> pa.Schema:
    kinds = (integers, pa.int64()), (doubles, pa.float64()), (strings, pa.string())
    return pa.schema([(name, kind) for names, kind in kinds for name in names])
