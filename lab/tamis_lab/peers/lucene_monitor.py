"""Java's Lucene Monitor: stored queries; each event is a document that they are run on.

A rule is a tree in JSON that the driver turns into a query: ["and", …], ["or", …], ["without", a,
b] (a but not b), ["present", field], ["any", ""], ["term", field, text], ["prefix", field, text],
["wildcard", field, pattern], ["long", field, low, high] and ["double", field, low, high].
"""

from __future__ import annotations

import json
import math

from tamis.errors import UnsupportedExpression
from tamis.language.expr import (
    And,
    Attribute,
    Between,
    BoolExpr,
    Comparison,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    StringTest,
)
from tamis.values import INT_MAX, INT_MIN, Type
from tamis_lab.peers.drivers import JAVA, driver_runner
from tamis_lab.peers.event_ruler import java_version
from tamis_lab.peers.forms import push_not_to_leaves, text_test
from tamis_lab.peers.peer import Kinds, Peer, Texts, attribute_kind

NAME = "lucene-monitor"
Tree = list[object]


def translate(expr: BoolExpr, kinds: Kinds) -> Texts:
    """Translate a selector to a tree of queries.

    Raises:
        UnsupportedExpression: The language cannot express it.
    """
    return [json.dumps(_QueryWriter(kinds).query(push_not_to_leaves(expr)))]


class _QueryWriter:
    def __init__(self, kinds: Kinds) -> None:
        self.kinds = kinds

    def query(self, e: BoolExpr) -> Tree:
        if isinstance(e, (And, Or)):
            word = "and" if isinstance(e, And) else "or"
            return [word, *map(self.query, e.operands)]
        if isinstance(e, Not):
            if isinstance(e.operand, IsNull):
                return ["present", self.field(e.operand.operand)[0]]
            return self.negate(self.leaf(e.operand))
        return self.leaf(e)

    def leaf(self, e: BoolExpr) -> Tree:
        if isinstance(e, Like):
            e = text_test(e, NAME)
        if isinstance(e, IsNull):
            return ["without", ["any", ""], ["present", self.field(e.operand)[0]]]
        if isinstance(e, Attribute) and self.field(e)[1] is Type.BOOL:
            return ["term", self.field(e)[0], "true"]
        if isinstance(e, Comparison):
            if e.op == "<>":
                return self.negate(self.equal(e.left, e.right))
            return self.equal(e.left, e.right) if e.op == "=" else self.range_query(e)
        if isinstance(e, Between):
            low = self.bounds(e.operand, ">=", e.low)
            high = self.bounds(e.operand, "<=", e.high)
            return [low[0], low[1], low[2], high[3]]
        if isinstance(e, In):
            found = [self.equal(e.operand, item) for item in e.items]
            return found[0] if len(found) == 1 else ["or", *found]
        if isinstance(e, StringTest) and isinstance(e.part, Literal):
            return self.text(e, str(e.part.value))
        raise UnsupportedExpression(str(e), NAME)

    def negate(self, tree: Tree) -> Tree:
        """Return a query for a value other than this, but not for a missing one."""
        field = tree[1][1] if tree[0] == "or" else tree[1]  # type: ignore[index]
        return ["without", ["present", field], tree]

    def field(self, e: Expr) -> tuple[str, Type]:
        if not isinstance(e, Attribute):
            raise UnsupportedExpression(str(e), NAME)
        name, kind = attribute_kind(e, self.kinds, NAME)
        return name, kind.type

    def equal(self, operand: Expr, constant: Expr) -> Tree:
        name, kind = self.field(operand)
        if kind is Type.DBL:
            low = self.bounds(operand, ">=", constant)
            return [low[0], low[1], low[2], low[2]]
        if not isinstance(constant, Literal) or constant.type is not kind:
            raise UnsupportedExpression(f"a comparison of {operand} with {constant}", NAME)
        value = constant.value
        return ["term", name, str(value).lower() if isinstance(value, bool) else str(value)]

    def range_query(self, e: Comparison) -> Tree:
        return self.bounds(e.left, e.op, e.right)

    def bounds(self, operand: Expr, op: str, constant: Expr) -> Tree:
        """Return a range on one side of a number, which may be included."""
        name, kind = self.field(operand)
        value = constant.value if isinstance(constant, Literal) else None
        if kind not in (Type.INT, Type.DBL) or isinstance(value, bool):
            raise UnsupportedExpression(f"the order of {operand}", NAME)
        if kind is Type.INT and isinstance(value, int):
            low, high = (INT_MIN, value - (op == "<")) if op[0] == "<" else (value, INT_MAX)
            if op == ">":
                low = value + 1
            if low < INT_MIN or low > INT_MAX or high < INT_MIN:
                raise UnsupportedExpression(f"{op} {value}", NAME)
            return ["long", name, low, high]
        if kind is Type.DBL and isinstance(value, int | float) and math.isfinite(value):
            number = float(value)
            if number != value or (number == 0.0 and math.copysign(1, number) < 0):
                raise UnsupportedExpression(f"the number {value}", NAME)
            if op[0] == "<":
                return ["double", name, "-Infinity", _below(number) if op == "<" else number]
            return ["double", name, _above(number) if op == ">" else number, "Infinity"]
        raise UnsupportedExpression(f"a comparison of {operand} with {constant}", NAME)

    def text(self, e: StringTest, part: str) -> Tree:
        name, kind = self.field(e.text)
        if kind is not Type.STR or not part:
            raise UnsupportedExpression(e.function, NAME)
        if e.function == "startswith":
            return ["prefix", name, part]
        escaped = "".join(f"\\{c}" if c in "*?\\" else c for c in part)
        return ["wildcard", name, f"*{escaped}*" if e.function == "contains" else f"*{escaped}"]


def _below(number: float) -> float:
    return math.nextafter(number, -math.inf)


def _above(number: float) -> float:
    return math.nextafter(number, math.inf)


LUCENE_MONITOR = Peer(
    name=NAME,
    about="Java Lucene Monitor",
    takes="its own document",
    unavailable=JAVA.unavailable,
    version=lambda: java_version(NAME),
    translate=translate,
    run=driver_runner(JAVA, NAME),
    prepare=JAVA.build,
)
