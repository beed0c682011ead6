"""All tests of one term, for example of `price` or of `a + b`.

Adding and removing a test are dictionary operations. The arrays for the kernels are built on the
next use.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from tamis.predicates.ladder import BuiltLadder
from tamis.predicates.layers import Layers
from tamis.predicates.list_tests import LISTS, ListTests
from tamis.predicates.partial_results import CodedPart, Part, table_of
from tamis.predicates.shapes import Except, Family, Member, Null, Test, Text, Within
from tamis.predicates.term_values import Sheet, TermColumn
from tamis.predicates.text_tests import TextTests
from tamis.values import Type


class TermIndex:
    """The tests of one term, by predicate id."""

    def __init__(self) -> None:
        """Create an empty index."""
        self._ordered: dict[Family, Layers[Within | Except, BuiltLadder]] = {}
        self._texts: Layers[Text, TextTests] = Layers(TextTests)
        self._members: dict[int, Member] = {}
        self._list_tests: ListTests | None = None
        self._nulls: dict[int, Null] = {}

    def __bool__(self) -> bool:
        """Return whether there are any tests."""
        return bool(self._ordered or self._texts or self._members or self._nulls)

    def add(self, id: int, test: Test) -> None:
        """Add a test; a predicate has at most one of each kind and family."""
        if isinstance(test, Within | Except):
            layers = self._ordered.get(test.family)
            if layers is None:
                layers = Layers(partial(BuiltLadder.of, test.family))
                self._ordered[test.family] = layers
            layers.add(id, test)
        elif isinstance(test, Text):
            self._texts.add(id, test)
        elif isinstance(test, Member):
            self._members[id] = test
            self._list_tests = None
        else:
            self._nulls[id] = test

    def remove(self, id: int, test: Test) -> None:
        """Remove a test that was added."""
        if isinstance(test, Within | Except):
            layers = self._ordered[test.family]
            layers.remove(id)
            if not layers:
                del self._ordered[test.family]
        elif isinstance(test, Text):
            self._texts.remove(id)
        elif isinstance(test, Member):
            del self._members[id]
            self._list_tests = None
        else:
            del self._nulls[id]

    def parts(self, columns: list[TermColumn], sheet: Sheet) -> Iterator[Part]:
        """Iterate over the partial results of a batch, given the term's values in it."""
        size = len(sheet)
        if self._nulls:
            yield self._null_part(columns, size)
        kinds = {column.type for column in columns}
        for family, layers in self._ordered.items():
            if kinds & _TYPES[family]:
                for ladder in layers.built_layers():
                    yield ladder.part(columns, size)
        for column in columns:
            if self._texts and column.type is Type.STR:
                values, codes = column.data
                for tests in self._texts.built_layers():
                    yield CodedPart(
                        table_of([tests.satisfied_predicates(value) for value in values]), codes
                    )
            elif self._members and column.type in LISTS:
                yield self._list_part(column)

    def _null_part(self, columns: list[TermColumn], size: int) -> Part:
        present = np.zeros(size, np.int32)
        for column in columns:
            present[slice(None) if column.valid is None else column.valid] = 1
        rows = [[id for id, null in self._nulls.items() if null.wanted is w] for w in (True, False)]
        return CodedPart(table_of(rows), present)

    def _list_part(self, column: TermColumn) -> Part:
        if self._list_tests is None:
            self._list_tests = ListTests(self._members)
        table = table_of(list(self._list_tests.satisfied_predicates(column)))
        return CodedPart(table, np.arange(len(table.offsets) - 1, dtype=np.int32))


_TYPES: dict[Family, frozenset[Type]] = {
    Family.NUMBER: frozenset({Type.INT, Type.DBL}),
    Family.TEXT: frozenset({Type.STR}),
    Family.INSTANT: frozenset({Type.TIMESTAMP}),
    Family.TRUTH: frozenset({Type.BOOL}),
}
