"""Selectors as trees.

Two kinds of node, as docs/guides/language.md has it: values (`Attribute`, `Literal`, `Arithmetic`,
…) and Booleans (`Comparison`, `And`, …); `Attribute`, `Literal` and `Custom` are both. Nodes are
immutable by agreement and by mypy, not at run time: a frozen dataclass costs twice as much to make,
and parsing a million selectors makes tens of millions of nodes.

`start` and `end` say where a node stands in the text it came from; they take no part in equality.
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
    """Make a class of nodes: slots, equality and hash by content."""
    return dataclass(slots=True, unsafe_hash=True)(cls)


@node
class Node:
    """What all nodes have: their place in the text."""

    start: int = field(default=0, compare=False, repr=False, kw_only=True)
    end: int = field(default=0, compare=False, repr=False, kw_only=True)

    def __str__(self) -> str:
        """The node as a selector."""
        from tamis.language.printer import to_text

        return to_text(self)  # type: ignore[arg-type]


# -- values ---------------------------------------------------------------------------------------


@node
class Attribute(Node):
    """`a.b`: a value of the event, by its path. As a Boolean: the value, if it is a BOOL."""

    path: tuple[str, ...]


@node
class Literal(Node):
    """A constant; NULL has no type.

    The type is a field because Python holds that True == 1 == 1.0, and Tamis does not.
    """

    value: Scalar | None
    type: Type | None

    @classmethod
    def of(cls, value: Scalar | None) -> Literal:
        """Make a literal of a value, with its type."""
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
    """`name(arguments)`: a function of the caller's. As a Boolean: its value, if it is a BOOL.

    Two are equal if name, function and arguments are. The function is called when events are
    matched and at no other time: a tree may be rewritten, printed and stored without it.
    """

    name: str
    function: Callable[..., object]
    arguments: tuple[ValueExpr, ...]


# -- predicates: Booleans that look at values -----------------------------------------------------


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
    """`operand LIKE 'pattern' ESCAPE 'escape'`, or ILIKE where case does not count."""

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
    """True when all are; two or more operands."""

    operands: tuple[BoolExpr, ...]


@node
class Or(Node):
    """True when one is; two or more operands."""

    operands: tuple[BoolExpr, ...]


@node
class Xor(Node):
    """True when an odd number is, and none is unknown; two or more operands."""

    operands: tuple[BoolExpr, ...]


@node
class Not(Node):
    """The other of true and false."""

    operand: BoolExpr


@node
class AtLeast(Node):
    """`AT LEAST k OF (operands)`."""

    k: int
    operands: tuple[BoolExpr, ...]


@node
class Sequence(Node):
    """`FIRST … THEN … WITHIN … PER …`: only ever the whole selector.

    Attributes:
        steps: Two or more Booleans.
        within: The time for all of it, in microseconds, or None.
        per: The attribute that all events must agree on, or None.
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
    """The direct parts of a node, in the order of the text."""
    return _CHILDREN.get(type(expr), _NO_CHILDREN)(expr)


def walk(expr: Expr) -> Iterator[Expr]:
    """The node and everything below it, each before its parts."""
    pending = [expr]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(children(current)))


def attributes(expr: Expr) -> frozenset[tuple[str, ...]]:
    """The paths that the text names: what `strict` wants to see in an event."""
    return frozenset(e.path for e in walk(expr) if isinstance(e, Attribute))


def is_constant(expr: Expr) -> bool:
    """Whether its value may be computed without an event: it names no attribute.

    What calls a function of the caller's does not count: that is for the time of matching.
    """
    return not any(isinstance(e, (Attribute, Custom)) for e in walk(expr))


# As tuples, because isinstance(x, A | B) makes a new union at every call.
JUNCTION = (And, Or, Xor, AtLeast)
STRUCTURE = (*JUNCTION, Not)
Junction = And | Or | Xor | AtLeast


def predicates(expr: BoolExpr | Sequence) -> Iterator[Predicate]:
    """The leaves of the Boolean structure, from left to right."""
    if isinstance(expr, (*STRUCTURE, Sequence)):
        for child in children(expr):
            if not (isinstance(expr, Sequence) and child is expr.per):
                yield from predicates(child)  # type: ignore[arg-type]
    else:
        yield expr


def map_structure(expr: BoolExpr, change: Callable[[BoolExpr], BoolExpr]) -> BoolExpr:
    """Change the Boolean operands of a node; the same node if none of them changed.

    Identity is how the rewriter learns that there is nothing to do, so it is kept with care.
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
    """The same junction over other operands."""
    if isinstance(expr, AtLeast):
        return AtLeast(expr.k, operands, start=expr.start, end=expr.end)
    return type(expr)(operands, start=expr.start, end=expr.end)
