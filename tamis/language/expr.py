"""Selectors as trees.

There are two kinds of node, as in docs/guides/language.md: values (`Attribute`, `Literal`,
`Arithmetic`, …) and Booleans (`Comparison`, `And`, …). `Attribute`, `Literal` and `Custom` are
both. Nodes are immutable by convention and for mypy, not at run time: creating a frozen dataclass
costs twice as much, and parsing a million selectors creates tens of millions of nodes.

`start` and `end` are the node's position in the text it was parsed from. Equality ignores them.

Code that decides by the class of a node is listed in tests/language/test_dispatch.py, which fails
until a new class is handled everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from operator import is_
from typing import TypeVar, dataclass_transform

from tamis.values import Scalar, Type, type_of

C = TypeVar("C")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def node(cls: type[C]) -> type[C]:
    """Turn a class into a node class: slots, equality and hash by content."""
    return dataclass(slots=True, unsafe_hash=True)(cls)


@node
class Node:
    """The base of all nodes: the position in the text."""

    start: int = field(default=0, compare=False, repr=False, kw_only=True)
    end: int = field(default=0, compare=False, repr=False, kw_only=True)

    def __str__(self) -> str:
        """Return the node as selector text."""
        from tamis.language.printer import to_text

        return to_text(self)  # type: ignore[arg-type]


# -- values ---------------------------------------------------------------------------------------


@node
class Attribute(Node):
    """`a.b`: the event's value at a path. As a Boolean: the value if it is BOOL, else unknown."""

    path: tuple[str, ...]


@node
class Literal(Node):
    """A constant; NULL has no type.

    The type is a field because True == 1 == 1.0 in Python, but not in Tamis.
    """

    value: Scalar | None
    type: Type | None

    @classmethod
    def of(cls, value: Scalar | None) -> Literal:
        """Return the literal of a value, with the value's type."""
        return cls(value, type_of(value))


@node
class Arithmetic(Node):
    """`left op right`, op one of + - * / %."""

    op: str
    left: ValueExpr
    right: ValueExpr


@node
class Negate(Node):
    """`-operand`."""

    operand: ValueExpr


@node
class Call(Node):
    """`abs`, `least`, `greatest`, `sum` or `avg` of its arguments."""

    function: str
    arguments: tuple[ValueExpr, ...]


@node
class Custom(Node):
    """`name(arguments)`: a function of the caller. As a Boolean: its value if it is BOOL.

    Two are equal if name, function and arguments are. The function is called only when events are
    matched; rewriting, printing and storing a tree never call it.
    """

    name: str
    function: Callable[..., object]
    arguments: tuple[ValueExpr, ...]


# -- predicates: Booleans that test values --------------------------------------------------------


@node
class Comparison(Node):
    """`left op right`, op one of = <> < <= > >=."""

    op: str
    left: ValueExpr
    right: ValueExpr


@node
class Between(Node):
    """`operand BETWEEN low AND high`."""

    operand: ValueExpr
    low: ValueExpr
    high: ValueExpr


@node
class In(Node):
    """`operand IN (items)`."""

    operand: ValueExpr
    items: tuple[Literal, ...]


@node
class Like(Node):
    """`operand LIKE 'pattern' ESCAPE 'escape'`, or ILIKE, which ignores case."""

    operand: ValueExpr
    pattern: str
    escape: str
    ignore_case: bool


@node
class RLike(Node):
    """`operand RLIKE 'pattern'`."""

    operand: ValueExpr
    pattern: str


@node
class StringTest(Node):
    """`contains`, `startswith` or `endswith` of (text, part)."""

    function: str
    text: ValueExpr
    part: ValueExpr


@node
class ArrayContains(Node):
    """`array_contains(array, item)`."""

    array: ValueExpr
    item: ValueExpr


@node
class IsNull(Node):
    """`operand IS NULL`."""

    operand: ValueExpr


# -- structure ------------------------------------------------------------------------------------


@node
class And(Node):
    """AND of two or more operands: true if all are true."""

    operands: tuple[BoolExpr, ...]


@node
class Or(Node):
    """OR of two or more operands: true if at least one is true."""

    operands: tuple[BoolExpr, ...]


@node
class Xor(Node):
    """XOR of two or more operands: true if an odd number is true and none is unknown."""

    operands: tuple[BoolExpr, ...]


@node
class Not(Node):
    """NOT: true if the operand is false, false if it is true."""

    operand: BoolExpr


@node
class AtLeast(Node):
    """`AT LEAST k OF (operands)`."""

    k: int
    operands: tuple[BoolExpr, ...]


@node
class Sequence(Node):
    """`FIRST … THEN … WITHIN … PER …`; always the whole selector, never part of one.

    Attributes:
        steps: Two or more Booleans.
        within: The longest time from the first to the last event, in microseconds, or None.
        per: The attribute that must be equal in all events, or None.
    """

    steps: tuple[BoolExpr, ...]
    within: int | None
    per: Attribute | None


ValueExpr = Attribute | Literal | Arithmetic | Negate | Call | Custom
Predicate = (
    Comparison
    | Between
    | In
    | Like
    | RLike
    | StringTest
    | ArrayContains
    | IsNull
    | Attribute
    | Literal
    | Custom
)
BoolExpr = Predicate | And | Or | Xor | Not | AtLeast
Selector = BoolExpr | Sequence
Expr = ValueExpr | BoolExpr | Sequence

_NO_CHILDREN: Callable[[object], tuple[Expr, ...]] = lambda _: ()  # noqa: E731
_CHILDREN: dict[type, Callable[..., tuple[Expr, ...]]] = {
    Arithmetic: lambda e: (e.left, e.right),
    Negate: lambda e: (e.operand,),
    Call: lambda e: e.arguments,
    Custom: lambda e: e.arguments,
    Comparison: lambda e: (e.left, e.right),
    Between: lambda e: (e.operand, e.low, e.high),
    In: lambda e: (e.operand, *e.items),
    Like: lambda e: (e.operand,),
    RLike: lambda e: (e.operand,),
    StringTest: lambda e: (e.text, e.part),
    ArrayContains: lambda e: (e.array, e.item),
    IsNull: lambda e: (e.operand,),
    And: lambda e: e.operands,
    Or: lambda e: e.operands,
    Xor: lambda e: e.operands,
    Not: lambda e: (e.operand,),
    AtLeast: lambda e: e.operands,
    Sequence: lambda e: (*e.steps, e.per) if e.per else e.steps,
}


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the children of a node, in the order of the text."""
    return _CHILDREN.get(type(expr), _NO_CHILDREN)(expr)


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield the node and all nodes below it, each before its children."""
    pending = [expr]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(children(current)))


def attributes(expr: Expr) -> frozenset[tuple[str, ...]]:
    """Return the paths that the expression names; `strict` semantics requires all of them."""
    return frozenset(e.path for e in walk(expr) if isinstance(e, Attribute))


def is_constant(expr: Expr) -> bool:
    """Whether the value can be computed without an event: there is no attribute in it.

    An expression that calls a function of the caller is not constant: functions are called only
    when events are matched.
    """
    return not any(isinstance(e, (Attribute, Custom)) for e in walk(expr))


# Tuples, because isinstance(x, A | B) creates a new union at every call.
JUNCTION = (And, Or, Xor, AtLeast)
STRUCTURE = (*JUNCTION, Not)
Junction = And | Or | Xor | AtLeast


def predicates(expr: BoolExpr | Sequence) -> Iterator[Predicate]:
    """Yield the leaves of the Boolean structure, from left to right."""
    if isinstance(expr, (*STRUCTURE, Sequence)):
        for child in children(expr):
            if not (isinstance(expr, Sequence) and child is expr.per):
                yield from predicates(child)  # type: ignore[arg-type]
    else:
        yield expr


def map_structure(expr: BoolExpr, change: Callable[[BoolExpr], BoolExpr]) -> BoolExpr:
    """Apply a function to the Boolean operands of a node.

    Returns:
        The same node, by identity, if no operand changed: the rewriter relies on this to see that
        it is done.
    """
    if isinstance(expr, JUNCTION):
        operands = tuple([change(operand) for operand in expr.operands])
        if all(map(is_, operands, expr.operands)):
            return expr
        return with_operands(expr, operands)
    if isinstance(expr, Not):
        operand = change(expr.operand)
        if operand is not expr.operand:
            return Not(operand, start=expr.start, end=expr.end)
    return expr


def with_operands(expr: Junction, operands: tuple[BoolExpr, ...]) -> Junction:
    """Return the same junction over other operands."""
    if isinstance(expr, AtLeast):
        return AtLeast(expr.k, operands, start=expr.start, end=expr.end)
    return type(expr)(operands, start=expr.start, end=expr.end)
