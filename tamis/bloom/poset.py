"""The poset of the constraints on one attribute (DEBS 2008, §4.3), divided into parts for speed.

Each part holds one kind of constraint. Equalities and sets of values are found by the value: only
constraints with no other value are below them. Half-lines form chains (`chain.py`). Other ranges
are linked to those that they cover (`hasse_diagram.py`); between two neighbouring ends all numbers
satisfy the same ranges, which are computed once (`number_cells.py`). The remaining constraints
(`<>`, patterns, lists) are evaluated for every value: few of them cover each other, and finding
those would take longer than it saves.

There are no links between the parts: the constraints that a value satisfies are found in each part
separately. `diagram` builds all links, for drawing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from tamis.bloom.chain import Bits, Chain
from tamis.bloom.hasse_diagram import HasseDiagram
from tamis.bloom.number_cells import Cells
from tamis.bloom.poset_predicate import StoredPredicate
from tamis.predicates.shapes import Family, Interval, Null, Within, family_of
from tamis.values import Scalar, Value

Point = tuple[Family, Scalar]

_NAN = math.nan  # one object, so that a dict finds it
_MAX_CACHED = 1024  # maximum number of values with cached bits
_MAX_CACHED_LENGTH = 64  # longer texts are not cached
_NO_BITS: Bits = np.zeros(0, np.int32)


class Poset:
    """Constraints on one term.

    Attributes:
        null: The constraints that hold if there is no value.
    """

    def __init__(self) -> None:
        """Create an empty poset."""
        self.null: dict[StoredPredicate, None] = {}
        self._points: dict[Point, dict[StoredPredicate, None]] = {}
        self._chains: dict[tuple[Family, bool], Chain] = {}
        self._ranges = HasseDiagram()
        self._loose: dict[StoredPredicate, None] = {}
        self._size = 0
        self._cache: dict[Point, list[Bits]] = {}
        self._cells: Cells | None = None

    def __len__(self) -> int:
        """Return the number of constraints."""
        return self._size

    def add(self, stored: StoredPredicate) -> None:
        """Add a constraint."""
        self._clear_cache()
        self._size += 1
        if _is_null(stored):
            self.null[stored] = None
        elif points := _points(stored):
            for point in points:
                self._points.setdefault(point, {})[stored] = None
        elif (half := _half_line(stored)) is not None:
            family, interval = half
            upper = interval.low is None
            chain = self._chains.get((family, upper))
            if chain is None:
                chain = self._chains[family, upper] = Chain(upper)
            chain.add(interval, stored)
        elif _is_range(stored):
            self._ranges.add(stored)
        else:
            self._loose[stored] = None

    def remove(self, stored: StoredPredicate) -> None:
        """Remove a constraint."""
        self._clear_cache()
        self._size -= 1
        if _is_null(stored):
            del self.null[stored]
        elif points := _points(stored):
            for point in points:
                del self._points[point][stored]
                if not self._points[point]:
                    del self._points[point]
        elif (half := _half_line(stored)) is not None:
            family, interval = half
            chain = self._chains[family, interval.low is None]
            chain.remove(interval, stored)
            if not chain:
                del self._chains[family, interval.low is None]
        elif _is_range(stored):
            self._ranges.remove(stored)
        else:
            del self._loose[stored]

    def satisfied_predicates(
        self, value: Value, holds: Callable[[StoredPredicate], bool]
    ) -> Iterator[StoredPredicate]:
        """Iterate over the constraints that a value satisfies; `holds` evaluates unindexed ones."""
        if value is None:
            yield from self.null
            return
        family = family_of(value)
        if family is not None:
            yield from self._points.get(_point(family, value), ())  # type: ignore[arg-type]
            for upper in (False, True):
                chain = self._chains.get((family, upper))
                if chain is not None:
                    yield from chain.widest_predicates(chain.end(value))  # type: ignore[arg-type]
        yield from self._satisfied_by_evaluation(holds)

    def _satisfied_by_evaluation(
        self, holds: Callable[[StoredPredicate], bool]
    ) -> Iterator[StoredPredicate]:
        yield from self._ranges.satisfied_predicates(holds)
        yield from filter(holds, self._loose)

    def bits(self, value: Value, holds: Callable[[StoredPredicate], bool]) -> list[Bits]:
        """Return the bits of all constraints that a value satisfies, as arrays to concatenate."""
        family = None if value is None else family_of(value)
        if value is None or family is None:
            return [_bits_of_predicates(self.satisfied_predicates(value, holds))]
        point = _point(family, value)  # type: ignore[arg-type]
        arrays = self._cache.get(point)
        if arrays is None:
            arrays = self._bits(point, holds)
            if family is not Family.TEXT or len(value) <= _MAX_CACHED_LENGTH:  # type: ignore[arg-type]
                if len(self._cache) >= _MAX_CACHED:
                    self._cache.clear()
                self._cache[point] = arrays
        return arrays

    def _bits(self, point: Point, holds: Callable[[StoredPredicate], bool]) -> list[Bits]:
        """Compute the bits of a value.

        If there is an equality with the value, its filter with all its covers has all bits.
        Otherwise, each chain contributes the filter of its narrowest half-line, including the wider
        ones.
        """
        family, value = point
        if point in self._points:
            return [_bits_of_predicates(self.satisfied_predicates(value, holds))]
        arrays = []
        for upper in (False, True):
            chain = self._chains.get((family, upper))
            if chain is not None:
                arrays.append(chain.bits(chain.end(value)))
        if len(self._ranges):
            arrays.append(self._range_bits(value, holds))
        if self._loose:
            arrays.append(_bits_of_predicates(filter(holds, self._loose)))
        return arrays

    def _range_bits(self, value: Value, holds: Callable[[StoredPredicate], bool]) -> Bits:
        if self._cells is None:
            self._cells = Cells(stored for group in self._ranges for stored in group.members)

        def find() -> Bits:
            return _bits_of_predicates(self._ranges.satisfied_predicates(holds))

        cell = self._cells.cell(value)
        return find() if cell is None else self._cells.bits(cell, find)

    def _clear_cache(self) -> None:
        self._cache.clear()
        self._cells = None

    def __iter__(self) -> Iterator[StoredPredicate]:
        """Iterate over all constraints."""
        yield from self.null
        yield from dict.fromkeys(stored for group in self._points.values() for stored in group)
        for chain in self._chains.values():
            yield from chain.widest_predicates(len(chain))
        for group in self._ranges:
            yield from group.members
        yield from self._loose

    def diagram(self) -> HasseDiagram:
        """Build the diagram of all constraints with all links, as in Figure 1."""
        diagram = HasseDiagram()
        for stored in sorted(self, key=lambda stored: stored.text):
            diagram.add(stored)
        return diagram


def _bits_of_predicates(predicates: Iterable[StoredPredicate]) -> Bits:
    places = {place for stored in predicates for place in stored.places}
    return np.fromiter(places, np.int32, len(places)) if places else _NO_BITS


def _is_null(stored: StoredPredicate) -> bool:
    return stored.place.tests == (Null(True),)


def _is_range(stored: StoredPredicate) -> bool:
    return all(isinstance(test, Within) or test == Null(False) for test in stored.place.tests)


def _points(stored: StoredPredicate) -> list[Point]:
    """Return the values that satisfy it, if they can be listed."""
    points = []
    for test in stored.place.tests:
        if not isinstance(test, Within):
            return []
        for low, low_closed, high, high_closed in test.intervals:
            if low is None or not (low_closed and high_closed) or (low is not high and low != high):
                return []
            points.append(_point(test.family, low))
    return points


def _point(family: Family, value: Scalar) -> Point:
    return family, _NAN if isinstance(value, float) and math.isnan(value) else value


def _half_line(stored: StoredPredicate) -> tuple[Family, Interval] | None:
    if len(stored.place.tests) != 1:
        return None
    (test,) = stored.place.tests
    if not isinstance(test, Within) or len(test.intervals) != 1:
        return None
    (interval,) = test.intervals
    return (test.family, interval) if (interval.low is None) != (interval.high is None) else None
