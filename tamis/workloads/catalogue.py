"""Workloads by name: their events as tables of one and the same schema.

An `EventBatch` leaves out an attribute that none of its events has. A table that others go on with
cannot: all parts of it have the same columns, which are known before any of them is made.

>>> listed = named("nulls", seed=1)
>>> listed.table(start=1_000_000, count=3).select(["i0", "d9"]).num_rows
3
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from tamis.errors import InputError, shortened
from tamis.workloads import atree2004, bdd2001, bloom2008, nulls
from tamis.workloads.bdd2001.atoms import DOUBLES, INTEGERS, STRINGS
from tamis.workloads.flights import Flights
from tamis.workloads.flights.data import DEPARTURES
from tamis.workloads.selective import Selective
from tamis.workloads.texts import Requests


@dataclass(frozen=True)
class Listed:
    """The events of a workload.

    Attributes:
        workload: It has `events(count, start)`.
        schema: The columns of `table`.
        length: How many events there are; None where there is no end to them.
    """

    workload: Any
    schema: pa.Schema
    length: int | None = None

    def table(self, start: int, count: int) -> pa.Table:
        """So many events from the one at `start`.

        Raises:
            InputError: There are none there.
        """
        if isinstance(self.workload, Flights):
            return self.workload.table(count, start)
        columns = self.workload.events(count, start).columns
        arrays = [
            columns[(field.name,)][0].data
            if (field.name,) in columns
            else pa.nulls(count, field.type)
            for field in self.schema
        ]
        return pa.Table.from_arrays(arrays, schema=self.schema)


def named(name: str, seed: int | None = None) -> Listed:
    """A workload by its name, with its own seed or another.

    Raises:
        InputError: There is none of this name, or the seed is negative.
    """
    if name not in _LISTED:
        close = difflib.get_close_matches(name, _LISTED, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(_LISTED)}"
        raise InputError(f"unknown workload {shortened(name)!r}; {hint}", "workload")
    workload, listed = _LISTED[name]
    return listed(workload if seed is None else replace(workload, seed=seed))


def _flights(workload: Flights) -> Listed:
    return Listed(workload, workload.table(0).schema, DEPARTURES)


def _selective(workload: Selective) -> Listed:
    return Listed(workload, _schema(integers=[f"a{a}" for a in range(workload.attributes)]))


def _sparse(workload: nulls.Sparse) -> Listed:
    return Listed(workload, _schema(integers=nulls.INTEGERS, doubles=nulls.DOUBLES))


def _requests(workload: Requests) -> Listed:
    return Listed(workload, _schema(strings=("title", "path", "country", "agent")))


def _atree2004(workload: atree2004.Workload) -> Listed:
    return Listed(workload, _schema(integers=workload.table.names))


def _bdd2001(workload: bdd2001.Workload) -> Listed:
    return Listed(workload, _schema(INTEGERS, DOUBLES, STRINGS))


def _bloom2008(workload: bloom2008.Workload) -> Listed:
    return Listed(workload, _schema(integers=workload.words))


# Events do not depend on how many subscriptions there are.
_LISTED: dict[str, tuple[Any, Callable[[Any], Listed]]] = {
    "atree2004": (
        atree2004.Workload(subscriptions=1, predicates=5, shared_predicates=2),
        _atree2004,
    ),
    "bdd2001": (bdd2001.Workload(subscriptions=1), _bdd2001),
    # The fewest names of the paper: each is a column.
    "bloom2008": (bloom2008.Workload(subscriptions=1, names=1000), _bloom2008),
    "flights": (Flights(), _flights),
    "nulls": (nulls.Sparse(subscriptions=1), _sparse),
    "selective": (Selective(subscriptions=1), _selective),
    "texts": (Requests(subscriptions=1), _requests),
}
NAMES = tuple(_LISTED)


def _schema(
    integers: Iterable[str] = (), doubles: Iterable[str] = (), strings: Iterable[str] = ()
) -> pa.Schema:
    kinds = (integers, pa.int64()), (doubles, pa.float64()), (strings, pa.string())
    return pa.schema([(name, kind) for names, kind in kinds for name in names])
