"""The events that some selectors can tell apart, as variables of a BDD.

Each slot (see `slots`) has as many variables as it takes to spell the number of a cell, so the
tests of one slot depend on each other as they really do: `x < 5 AND x > 9` is the diagram of false.
A test that is free in a cell has variables of its own. What is false here is therefore false for
all events; what is not may still be, where a slot is not sure, and only an event can show that it
is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import chain
from operator import and_, or_
from typing import Any

from tamis.analysis.cell_diagrams import Diagrams
from tamis.analysis.slots import Slot, SlotKind, null_cell, object_cell, slots_of
from tamis.covering.domains import Domains
from tamis.covering.regions import Cell
from tamis.language.evaluate import evaluate
from tamis.language.expr import (
    And,
    AtLeast,
    BoolExpr,
    Literal,
    Not,
    Or,
    Predicate,
    Xor,
    predicates,
)

Rails = tuple[Any, Any]


class DiagramTooLarge(Exception):
    """The diagrams of a question grow beyond what is worth it."""


_TESTS = 400
_NODES = 50_000
_FEW = 16  # tests: so few cannot make a diagram that is too large


class Space:
    """The slots of some selectors, and the selectors as functions of them.

    Attributes:
        slots: What the tests look at.
        sure: Whether every function that is not false is true for some event.
        possible: Which combinations of cells can be had: an attribute that lies in an object.
    """

    def __init__(self, selectors: Iterable[BoolExpr], domains: Domains, diagrams: Diagrams) -> None:
        """Cut what the selectors look at into cells.

        Raises:
            TooLarge: There are too many tests.
        """
        self._diagrams = diagrams
        tests = dict.fromkeys(chain.from_iterable(predicates(s) for s in selectors))
        if len(tests) > _TESTS:
            raise DiagramTooLarge
        self.slots = slots_of(tests, domains)
        self.sure = all(slot.sure for slot in self.slots)
        self._bases: list[int] = []
        self._tests: dict[Predicate, tuple[int, int]] = {}  # the slot, and the position in it
        self._rails: dict[Predicate, Rails] = {}
        self._next = 0
        for number, slot in enumerate(self.slots):
            self._bases.append(self._next)
            self._next += _bits(slot)
            for position, test in enumerate(slot.tests):
                self._tests[test] = number, position
        self.possible = self._objects()

    # -- selectors as functions -------------------------------------------------------------------

    def function(self, expr: BoolExpr) -> Any:
        """Where a selector is certainly true.

        Raises:
            TooLarge: Its diagram is.
        """
        return self._true_rail(expr) if not isinstance(expr, Xor) else self._both_rails(expr)[0]

    def _true_rail(self, expr: BoolExpr) -> Any:
        """One rail where one is enough, which is half of the work."""
        if isinstance(expr, And):
            return self._join(and_, [self._true_rail(operand) for operand in expr.operands])
        if isinstance(expr, Or):
            return self._join(or_, [self._true_rail(operand) for operand in expr.operands])
        if isinstance(expr, AtLeast):
            return self._at_least_k(expr.k, [self._true_rail(operand) for operand in expr.operands])
        return self._both_rails(expr)[0]

    def _both_rails(self, expr: BoolExpr) -> Rails:
        """Where it is certainly true, and where it is certainly false."""
        rails = _RAILS.get(type(expr))
        found = rails(self, expr) if rails else self._test(expr)  # type: ignore[arg-type]
        return found

    def _all(self, expr: And) -> Rails:
        parts = [self._both_rails(operand) for operand in expr.operands]
        return self._join(and_, [t for t, _ in parts]), self._join(or_, [f for _, f in parts])

    def _any(self, expr: Or) -> Rails:
        parts = [self._both_rails(operand) for operand in expr.operands]
        return self._join(or_, [t for t, _ in parts]), self._join(and_, [f for _, f in parts])

    def _parity(self, expr: Xor) -> Rails:
        true, false = self._both_rails(expr.operands[0])
        for operand in expr.operands[1:]:
            t, f = self._both_rails(operand)
            true, false = (true & f) | (false & t), (true & t) | (false & f)
        return true, false

    def _at_least(self, expr: AtLeast) -> Rails:
        parts = [self._both_rails(operand) for operand in expr.operands]
        needed = len(parts) - expr.k + 1
        return (
            self._at_least_k(expr.k, [t for t, _ in parts]),
            self._at_least_k(needed, [f for _, f in parts]),
        )

    def _join(self, operator: Callable[[Any, Any], Any], parts: list[Any]) -> Any:
        if len(self._tests) <= _FEW:
            return reduce(operator, parts)
        found = parts[0]
        for part in parts[1:]:
            found = operator(found, part)
            if found.dag_size > _NODES:
                raise DiagramTooLarge
        return found

    def _at_least_k(self, k: int, parts: list[Any]) -> Any:
        # reached[j]: at least j of the parts so far.
        true, false = self._diagrams.true, self._diagrams.false
        reached = [true] + [false] * k
        for part in parts:
            for j in range(k, 0, -1):
                reached[j] = reached[j] | (reached[j - 1] & part)
            if len(parts) > _FEW and reached[k].dag_size > _NODES:
                raise DiagramTooLarge
        return reached[k]

    def _test(self, test: Predicate) -> Rails:
        found = self._rails.get(test)
        if found is None:
            found = self._rails[test] = self._build_rails(test)
        return found

    def _build_rails(self, test: Predicate) -> Rails:
        place = self._tests.get(test)
        if place is None:
            truth = test.value if isinstance(test, Literal) else evaluate(test, {})
            true, false = self._diagrams.true, self._diagrams.false
            return (true if truth is True else false), (true if truth is False else false)
        number, position = place
        slot, base = self.slots[number], self._bases[number]
        bits = _bits(slot)
        loose = [position in cell.free for cell in slot.cells]
        rails = []
        for wanted in (True, False):
            chosen = [
                cell.vector[position] is wanted and not free
                for cell, free in zip(slot.cells, loose, strict=True)
            ]
            rails.append(self._diagrams.cells(base, bits, chosen))
        true, false = rails
        if any(loose):
            own, known = (
                self._diagrams.variable(self._next),
                self._diagrams.variable(self._next + 1),
            )
            self._next += 2
            text = [
                f and isinstance(c.witness, str) for c, f in zip(slot.cells, loose, strict=True)
            ]
            on_text = self._diagrams.cells(base, bits, text)
            free = self._diagrams.cells(base, bits, loose)
            # A test of text is true or false of a text; one of a list may be unknown as well.
            true = true | (free & own)
            false = false | (free & ~own & (on_text | known))
        return true, false

    def _objects(self) -> Any:
        """What lies in an attribute is NULL, or the attribute is an object."""
        possible = self._diagrams.true
        plain = {
            slot.terms[0].path: n  # type: ignore[union-attr]
            for n, slot in enumerate(self.slots)
            if slot.kind is SlotKind.ATTRIBUTE
        }
        for path, inner in plain.items():
            for length in range(1, len(path)):
                outer = plain.get(path[:length])
                if outer is not None:
                    possible = possible & (
                        self._cell(inner, null_cell(self.slots[inner]))
                        | self._cell(outer, object_cell(self.slots[outer]))
                    )
        return possible

    def _cell(self, number: int, cell: int | None) -> Any:
        if cell is None:
            return self._diagrams.false
        slot = self.slots[number]
        chosen = [n == cell for n in range(len(slot.cells))]
        return self._diagrams.cells(self._bases[number], _bits(slot), chosen)

    # -- functions as events ----------------------------------------------------------------------

    def choices(self, function: Any) -> Iterator[list[Cell]]:
        """Ways to make a function true: a cell for each slot; the first one where it is the same.

        The first cell is that of NULL where there is one, so events have little in them.
        """
        for assignment in self._diagrams.assignments(function):
            chosen = []
            for base, slot in zip(self._bases, self.slots, strict=True):
                number = 0
                for bit in range(_bits(slot)):
                    number = number << 1 | assignment.get(base + bit, False)
                chosen.append(slot.cells[min(number, len(slot.cells) - 1)])
            yield chosen


_RAILS: dict[type, Callable[..., Rails]] = {
    And: Space._all,
    Or: Space._any,
    Xor: Space._parity,
    AtLeast: Space._at_least,
    Not: lambda space, expr: space._both_rails(expr.operand)[::-1],
}


def _bits(slot: Slot) -> int:
    return (len(slot.cells) - 1).bit_length()
