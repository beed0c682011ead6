"""Regions: every combination of truths that tests of one value can have together.

`x < 5` and `x > 9` are never true of one value, and `x = 10` implies `x > 8`. `regions` divides the
values of all types into *cells* in which no test changes its truth, and returns the truths of each
cell with a value that has them. The truths of these values are computed with `evaluate`, so every
cell is real. It only remains to argue that no cell is missing, which each source of values does.

Where that cannot be argued (RLIKE, or too many patterns at once), the cell lists its `free` tests,
which may have another truth than the one shown. The cells are then still an upper bound of what can
occur, and the truths shown still occur.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from tamis.covering.text_regions import texts
from tamis.covering.value_regions import instants, lists, numbers
from tamis.language.evaluate import Truth, evaluate, value_of
from tamis.language.expr import (
    ArrayContains,
    Attribute,
    Between,
    Comparison,
    Custom,
    In,
    IsNull,
    Like,
    Literal,
    Predicate,
    RLike,
    StringTest,
    ValueExpr,
    children,
    is_constant,
)
from tamis.predicates.shapes import Family, family_of
from tamis.values import OPAQUE, Opaque, Scalar, Timestamp, Type, Value

ALL_TYPES = frozenset(Type)
NUMBERS = frozenset((Type.INT, Type.DBL))
_LISTS = frozenset((Type.INT_LIST, Type.STR_LIST))

_SAMPLES: dict[Type, Value] = {
    Type.OPAQUE: OPAQUE,
    Type.BOOL: False,
    Type.INT: 0,
    Type.DBL: 0.0,
    Type.STR: "",
    Type.TIMESTAMP: Timestamp(0),
    Type.INT_LIST: [],
    Type.STR_LIST: [],
}
_UNSEEN_FIRST = (Type.BOOL, Type.INT, Type.DBL, Type.STR, Type.TIMESTAMP, *_LISTS, Type.OPAQUE)

_SHORT_LIST = 8

# The tested value, in tests detached from their term.
_VALUE = Attribute(("value",))


class Cell(NamedTuple):
    """Values that no test distinguishes.

    Attributes:
        vector: The truth of each test, in the given order.
        witness: One of the values; None is NULL.
        free: The positions of the tests whose truth is only that of the witness: other values with
            the same truths in all other tests may have another truth there.
    """

    vector: tuple[Truth, ...]
    witness: Value
    free: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Regions:
    """All combinations of truths that tests of one value can have.

    Attributes:
        cells: The cells, with distinct vectors. The cell of NULL, if allowed, is the first.
    """

    cells: tuple[Cell, ...]

    @property
    def complete(self) -> bool:
        """Whether the cells have all possible vectors; otherwise see `Cell.free`."""
        return not any(cell.free for cell in self.cells)


def term_of(predicate: Predicate) -> ValueExpr | None:
    """Return what a predicate tests: its only part that depends on the event.

    Returns:
        None if there is no such part (a constant), or several (`a < b`).
    """
    kind = type(predicate)
    if kind is Attribute or kind is Custom:
        return predicate  # type: ignore[return-value]
    if kind is Comparison:  # fast path: most are `attribute op literal`
        if type(predicate.left) is Attribute and type(predicate.right) is Literal:  # type: ignore[union-attr]
            return predicate.left  # type: ignore[union-attr]
    elif kind is In and type(predicate.operand) is Attribute:  # type: ignore[union-attr]
        return predicate.operand  # type: ignore[union-attr]
    decided = {part for part in children(predicate) if not is_constant(part)}
    return decided.pop() if len(decided) == 1 else None  # type: ignore[return-value]


def regions(
    predicates: Sequence[Predicate], types: Collection[Type] = ALL_TYPES, nullable: bool = True
) -> Regions:
    """Divide the values of one term into cells.

    >>> from tamis.language import parse
    >>> [cell.vector for cell in regions([parse("x < 5"), parse("x > 9")], {Type.INT}).cells]
    [(None, None), (False, False), (True, False), (False, True)]

    Args:
        predicates: Tests of the same term (see `term_of`); a NOT is the FALSE of its test.
        types: The types that the value may have; all, if nothing is known.
        nullable: Whether the value may be NULL.

    Raises:
        ValueError: They are tests of different terms, or of none.
    """
    terms = {term_of(predicate) for predicate in predicates}
    if len(terms) != 1 or None in terms:
        raise ValueError("all tests must be of the same term")
    (term,) = terms
    return regions_of(term, predicates, types, nullable)  # type: ignore[arg-type]


def regions_of(
    term: ValueExpr, predicates: Sequence[Predicate], types: Collection[Type], nullable: bool
) -> Regions:
    """Return the regions of predicates that are known to be tests of the term."""
    bare = tuple([_detach_from_term(predicate, term) for predicate in predicates])
    return _regions(bare, frozenset(types), nullable)


@lru_cache(maxsize=20_000)
def _regions(tests: tuple[Predicate, ...], types: frozenset[Type], nullable: bool) -> Regions:
    cells: dict[tuple[Truth, ...], Cell] = {}

    truths = [_truth_of(test) for test in tests]

    def add_cells(values: Iterable[Value], free: tuple[int, ...] = ()) -> None:
        for value in values:
            vector = tuple([truth(value) for truth in truths])
            if vector not in cells:
                cells[vector] = Cell(vector, value, free)
            elif free and not cells[vector].free:
                cells[vector] = cells[vector]._replace(free=free)

    constants = [constant for test in tests for constant in _constants(test)]
    seen = frozenset[Type]().union(*map(_tested_types, tests)) & types
    if nullable:
        add_cells([None])
    if seen & NUMBERS:
        add_cells(
            numbers(
                _constants_of_type(constants, (int, float)), Type.INT in types, Type.DBL in types
            )
        )
    if Type.STR in seen:
        strings, free = texts(tests, _constants_of_type(constants, str))
        add_cells(strings, free)
    if Type.BOOL in seen:
        add_cells([True, False])
    if Type.TIMESTAMP in seen:
        add_cells(instants(_constants_of_type(constants, Timestamp)))
    if seen & _LISTS:
        items = [_item(test) for test in tests]
        list_values, all_lists = lists(
            [item for item in items if item is not None],
            Type.INT_LIST in types,
            Type.STR_LIST in types,
        )
        loose = () if all_lists else tuple(i for i, item in enumerate(items) if item is not None)
        add_cells(list_values, loose)
    # All values that no test examines behave alike: they are present, and nothing more.
    add_cells([_SAMPLES[kind] for kind in _UNSEEN_FIRST if kind in types and kind not in seen][:1])
    return Regions(tuple(cells.values()))


def _truth_of(test: Predicate) -> Callable[[Value], Truth]:
    """Return the truth of a test by value: `evaluate`, but without scanning long IN lists."""
    if not isinstance(test, In) or len(test.items) <= _SHORT_LIST:
        return lambda value: evaluate(test, {"value": value})
    items: dict[Family | None, set[object]] = {}
    for item in test.items:
        items.setdefault(family_of(item.value), set()).add(item.value)

    def truth(value: Value) -> Truth:
        family = family_of(value)
        if family is None:
            return None
        if value in items.get(family, ()):
            return True
        return False if items.keys() == {family} else None

    return truth


def _constants_of_type(constants: list[Value], kind: type | tuple[type, ...]) -> list:  # type: ignore[type-arg]
    return [c for c in constants if isinstance(c, kind) and not isinstance(c, bool)]


# -- tests, detached from their term --------------------------------------------------------------


def _detach_from_term(test: Predicate, term: ValueExpr) -> Predicate:
    """Return the same test of an attribute called `value`, with its constants computed."""
    return _REBUILD[type(test)](
        test, lambda part: _VALUE if part == term else _compute_constant(part)
    )


def _compute_constant(part: ValueExpr) -> ValueExpr:
    if isinstance(part, Literal):
        return Literal(part.value, part.type)
    return Literal.of(value_of(part, {}))  # type: ignore[arg-type]


_REBUILD: dict[type, Callable[..., Predicate]] = {
    Comparison: lambda e, put: Comparison(e.op, put(e.left), put(e.right)),
    Between: lambda e, put: Between(put(e.operand), put(e.low), put(e.high)),
    In: lambda e, put: In(put(e.operand), e.items),
    Like: lambda e, put: Like(put(e.operand), e.pattern, e.escape, e.ignore_case),
    RLike: lambda e, put: RLike(put(e.operand), e.pattern),
    StringTest: lambda e, put: StringTest(e.function, put(e.text), put(e.part)),
    ArrayContains: lambda e, put: ArrayContains(put(e.array), put(e.item)),
    IsNull: lambda e, put: IsNull(put(e.operand)),
    Attribute: lambda e, put: _VALUE,
    Custom: lambda e, put: _VALUE,
}


def _constants(test: Predicate) -> list[Value]:
    """Return the constants that the test compares with."""
    if isinstance(test, (Comparison, Between, In)):
        return [part.value for part in children(test) if isinstance(part, Literal)]
    return []


_KINDS: dict[type, frozenset[Type]] = {
    bool: frozenset((Type.BOOL,)),
    int: NUMBERS,
    float: NUMBERS,
    str: frozenset((Type.STR,)),
    Timestamp: frozenset((Type.TIMESTAMP,)),
}
_TESTED_TYPES: dict[type, frozenset[Type]] = {
    Like: _KINDS[str],
    RLike: _KINDS[str],
    StringTest: _KINDS[str],
    ArrayContains: _LISTS,
    Attribute: _KINDS[bool],
    IsNull: frozenset(),
}


def _tested_types(test: Predicate) -> frozenset[Type]:
    """Return the types whose values the test may distinguish; for all others it is unknown.

    (IS NULL is false for all of them.)
    """
    types = _TESTED_TYPES.get(type(test))
    if types is not None:
        return types
    if sum(part == _VALUE for part in children(test)) > 1:  # `a <= a`
        return ALL_TYPES - {Type.OPAQUE}
    return frozenset[Type]().union(*(_KINDS.get(type(c), ()) for c in _constants(test)))


def _item(test: Predicate) -> Scalar | Opaque | None:
    """Return the item that the test searches for in a list, if it does."""
    if isinstance(test, ArrayContains) and isinstance(test.item, Literal):
        return test.item.value
    return None
