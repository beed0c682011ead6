"""Tests with `array_contains` and a constant, for the lists of a batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tamis.events.column import Column, values_of
from tamis.predicates.shapes import Family, Member, family_of
from tamis.predicates.term_values import TermColumn
from tamis.values import Opaque, Scalar, Type

LISTS = (Type.INT_LIST, Type.STR_LIST)


class ListTests:
    """The list tests of one term, built as a whole."""

    def __init__(self, tests: Mapping[int, Member]) -> None:
        """Build the structure from tests by predicate id."""
        # Elements are INT or STR: True does not equal 1 here, but 1.0 does.
        self._wanted: dict[Scalar, list[int]] = {}
        self._unwanted: dict[Family | None, dict[int, Scalar | Opaque]] = {}
        for id, (item, wanted) in tests.items():
            family = family_of(item)
            if not wanted:
                self._unwanted.setdefault(family, {})[id] = item
            elif family in (Family.NUMBER, Family.TEXT):
                self._wanted.setdefault(item, []).append(id)  # type: ignore[arg-type]

    def satisfied_predicates(self, column: TermColumn) -> Iterator[list[int]]:
        """Iterate over the events; yield the ids of the tests that each one's list satisfies."""
        family = Family.NUMBER if column.type is Type.INT_LIST else Family.TEXT
        for elements in values_of(Column(column.type, column.data)):
            yield self._satisfied_by(elements, family) if isinstance(elements, list) else []

    def _satisfied_by(
        self, elements: list[int | None] | list[str | None], family: Family
    ) -> list[int]:
        distinct = set(elements)
        satisfied = [id for element in distinct for id in self._wanted.get(element, ())]  # type: ignore[arg-type]
        if not self._unwanted or None in distinct:
            return satisfied  # with a NULL among the elements, nothing is certainly absent
        if not distinct:
            return satisfied + [id for tests in self._unwanted.values() for id in tests]
        absent = self._unwanted.get(family, {})
        return satisfied + [id for id, item in absent.items() if item not in distinct]
