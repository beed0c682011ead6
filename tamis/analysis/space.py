"""The events that some selectors distinguish, encoded as variables of a BDD.

Each slot (see `slots`) has as many variables as encode the number of a cell, so dependencies
between the tests of a slot are exact: `x < 5 AND x > 9` becomes the diagram of false. A test that
is free in a cell has variables of its own. So a diagram that is false is false for all events. A
diagram that is not false may still be false for all events, if a slot is not sure; then only an
event can show that it is not.
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
    """The diagram of a question is too large to build."""


_TESTS = 400
_NODES = 50_000
_FEW = 16  # with so few tests, no diagram can be too large


class Space:
    """The slots of some selectors, and the selectors as functions of them.

    Attributes:
        slots: The slots of the tests.
        sure: Whether every diagram that is not false is true for some event.
        possible: The possible combinations of cells: an attribute with a value lies in an object.
    """

    def __init__(self, selectors: Iterable[BoolExpr], domains: Domains, diagrams: Diagrams) -> None:
        """Divide what the selectors test into slots and cells.

        Raises:
            DiagramTooLarge: There are too many tests.
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
        """Return the diagram of where a selector is true.

        Raises:
            DiagramTooLarge: It is too large.
        """
        return self._true_rail(expr) if not isinstance(expr, Xor) else self._both_rails(expr)[0]

    def _true_rail(self, expr: BoolExpr) -> Any:
        """Return only the true rail, which is half of the work."""
        if isinstance(expr, And):
            return self._join(and_, [self._true_rail(operand) for operand in expr.operands])
        if isinstance(expr, Or):
            return self._join(or_, [self._true_rail(operand) for operand in expr.operands])
        if isinstance(expr, AtLeast):
            return self._at_least_k(expr.k, [self._true_rail(operand) for operand in expr.operands])
        return self._both_rails(expr)[0]

    def _both_rails(self, expr: BoolExpr) -> Rails:
        """Return the diagrams of where an expression is true and where it is false."""
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
        free_in = [position in cell.free for cell in slot.cells]
        rails = []
        for truth in (True, False):
            chosen = [
                cell.vector[position] is truth and not free
                for cell, free in zip(slot.cells, free_in, strict=True)
            ]
            rails.append(self._diagrams.cells(base, bits, chosen))
        true, false = rails
        if any(free_in):
            own, known = (
                self._diagrams.variable(self._next),
                self._diagrams.variable(self._next + 1),
            )
            self._next += 2
            text = [
                f and isinstance(c.witness, str) for c, f in zip(slot.cells, free_in, strict=True)
            ]
            on_text = self._diagrams.cells(base, bits, text)
            free = self._diagrams.cells(base, bits, free_in)
            # On a text, a test of text is true or false; a test of a list may also be unknown.
            true = true | (free & own)
            false = false | (free & ~own & (on_text | known))
        return true, false

    def _objects(self) -> Any:
        """Return the diagram of: a field is NULL, or the attribute around it is an object."""
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
        """Yield assignments that make a diagram true: a cell for each slot.

        Slots that do not matter get their first cell. That is the cell of NULL if there is one, so
        events have few attributes.
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
