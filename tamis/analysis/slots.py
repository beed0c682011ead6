"""Slots: what the tests of selectors depend on, divided into cells.

A *slot* is one property of an event: the value of an attribute, a derived value such as `a + b`,
the order of `a` and `b`, or the truth of a test of several things. The cells of a slot are the
combinations of truths that its tests can have. Slots are treated as independent of each other. That
is exact for attributes, unless one lies inside the other, and an over-approximation otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from tamis.analysis.nested_events import nested_event
from tamis.covering.domains import Domains
from tamis.covering.regions import Cell, regions_of, term_of
from tamis.language.evaluate import evaluate, test
from tamis.language.expr import (
    Attribute,
    Comparison,
    Custom,
    Expr,
    Literal,
    Predicate,
    ValueExpr,
    is_constant,
    walk,
)
from tamis.values import OPAQUE


class SlotKind(Enum):
    """The kind of a slot; only for an attribute is every cell known to be possible."""

    ATTRIBUTE = "attribute"
    DERIVED = "derived"
    COMPARED = "compared"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class Slot:
    """One property of an event that tests depend on.

    Attributes:
        kind: The kind of the slot.
        terms: The attribute, the derived value, or the two values compared; empty for a test.
        tests: The tests that depend on it.
        cells: The combinations of truths that the tests can have.
    """

    kind: SlotKind
    terms: tuple[ValueExpr, ...]
    tests: tuple[Predicate, ...]
    cells: tuple[Cell, ...]

    @property
    def sure(self) -> bool:
        """Whether exactly these cells are possible, whatever the other slots are."""
        return self.kind is SlotKind.ATTRIBUTE and not any(cell.free for cell in self.cells)


def slots_of(tests: Iterable[Predicate], domains: Domains) -> list[Slot]:
    """Return the slots of tests; constant tests have none."""
    by_term: dict[tuple[ValueExpr, ...], dict[Predicate, None]] = {}
    alone: dict[Predicate, None] = {}
    for each in tests:
        term = term_of(each)
        if term is not None:
            by_term.setdefault((term,), {})[each] = None
        elif isinstance(each, Comparison) and not is_constant(each):
            pair = (each.left, each.right)
            by_term.setdefault(pair if pair[::-1] not in by_term else pair[::-1], {})[each] = None
        elif not isinstance(each, Literal) and not is_constant(each):
            alone[each] = None
    found = [_slot(terms, tuple(held), domains) for terms, held in by_term.items()]
    return found + [Slot(SlotKind.TEST, (), (each,), _ANY) for each in alone]


_ANY = tuple(Cell((truth,), None) for truth in (None, True, False))


def _slot(terms: tuple[ValueExpr, ...], tests: tuple[Predicate, ...], domains: Domains) -> Slot:
    if len(terms) == 2:
        return Slot(SlotKind.COMPARED, terms, tests, _comparison_cells(terms, tests))
    types, nullable = domains.of(terms[0])
    kind = SlotKind.ATTRIBUTE if isinstance(terms[0], Attribute) else SlotKind.DERIVED
    return Slot(kind, terms, tests, regions_of(terms[0], tests, types, nullable).cells)


def _comparison_cells(
    terms: tuple[ValueExpr, ...], tests: tuple[Predicate, ...]
) -> tuple[Cell, ...]:
    """Return the cells of a comparison: less, equal, greater, or not comparable."""
    cells: dict[tuple[bool | None, ...], Cell] = {}
    for order in (None, -1, 0, 1):
        pair = (order, None if order is None else 0)
        vector = tuple(
            [test(t.op, *(pair if t.left == terms[0] else pair[::-1])) for t in tests]  # type: ignore[union-attr]
        )
        cells.setdefault(vector, Cell(vector, order))
    return tuple(cells.values())


def null_cell(slot: Slot) -> int | None:
    """Return the number of the cell of NULL, if the attribute may be NULL."""
    return _cell_of(slot, None)


def object_cell(slot: Slot) -> int | None:
    """Return the number of the cell of an object, if the attribute may be one."""
    return _cell_of(slot, OPAQUE)


def _cell_of(slot: Slot, value: object) -> int | None:
    (attribute,) = slot.terms
    assert isinstance(attribute, Attribute)
    event = nested_event(attribute.path, value)
    vector = tuple([evaluate(each, event) for each in slot.tests])
    for number, cell in enumerate(slot.cells):
        if cell.vector == vector:
            return number
    return None


def calls_functions(expr: Expr) -> bool:
    """Whether an expression calls a function of the caller; analysis never calls functions."""
    return any(isinstance(part, Custom) for part in walk(expr))
