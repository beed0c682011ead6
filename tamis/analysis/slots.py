"""What the tests of selectors look at, cut into cells.

A *slot* is one thing that an event decides: an attribute, a derived value such as `a + b`, how `a`
compares with `b`, or a test that looks at several things at once. The cells of a slot are all that
the tests of it can say together. Slots are taken to be independent of each other, which is true of
attributes (but for one inside the other) and else an over-approximation.
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
    """What a slot is; only of an attribute is it sure that every cell can be had."""

    ATTRIBUTE = "attribute"
    DERIVED = "derived"
    COMPARED = "compared"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class Slot:
    """One thing that an event decides.

    Attributes:
        kind: What it is.
        terms: The attribute, the derived value, the two that are compared; none of a test.
        tests: The tests of it.
        cells: What they can say together.
    """

    kind: SlotKind
    terms: tuple[ValueExpr, ...]
    tests: tuple[Predicate, ...]
    cells: tuple[Cell, ...]

    @property
    def sure(self) -> bool:
        """Whether each cell, and nothing but the cells, can be had whatever other slots are."""
        return self.kind is SlotKind.ATTRIBUTE and not any(cell.free for cell in self.cells)


def slots_of(tests: Iterable[Predicate], domains: Domains) -> list[Slot]:
    """The slots of tests; constant tests have none."""
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
    """The first is less than the other, equal, greater; or they do not compare."""
    cells: dict[tuple[bool | None, ...], Cell] = {}
    for order in (None, -1, 0, 1):
        pair = (order, None if order is None else 0)
        vector = tuple(
            [test(t.op, *(pair if t.left == terms[0] else pair[::-1])) for t in tests]  # type: ignore[union-attr]
        )
        cells.setdefault(vector, Cell(vector, order))
    return tuple(cells.values())


def null_cell(slot: Slot) -> int | None:
    """The cell of NULL, if the attribute may be NULL."""
    return _cell_of(slot, None)


def object_cell(slot: Slot) -> int | None:
    """The cell of an object, if the attribute may be one."""
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
    """Whether a function of the caller's stands in it; such are not called to reason about them."""
    return any(isinstance(part, Custom) for part in walk(expr))
