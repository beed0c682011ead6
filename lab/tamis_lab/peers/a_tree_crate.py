"""The Rust crate `a-tree`: an independent implementation of the A-Tree."""

from __future__ import annotations

import re

from tamis.language.expr import Attribute, Between, BoolExpr, Comparison, In, Literal, ValueExpr
from tamis.values import Type
from tamis_lab.peers.drivers import RUST, SOURCES, driver_runner
from tamis_lab.peers.infix import Infix
from tamis_lab.peers.peer import Peer

NAME = "a-tree"


class ATree(Infix):
    """Its language: attributes compared with constants of exactly their type."""

    peer = NAME
    conjunction, disjunction, negation = "and", "or", "not"

    def leaf(self, e: BoolExpr) -> str:
        """Give constants the type of the attribute that they are compared with."""
        if isinstance(e, Comparison):
            e = Comparison(e.op, e.left, self._typed_constant(e.left, e.right))
        elif isinstance(e, Between):
            e = Between(
                e.operand,
                self._typed_constant(e.operand, e.low),
                self._typed_constant(e.operand, e.high),
            )
        elif isinstance(e, In):
            e = In(e.operand, tuple(self._typed_constant(e.operand, item) for item in e.items))
        return super().leaf(e)

    def _typed_constant(self, operand: ValueExpr, constant: ValueExpr) -> Literal:
        if not isinstance(operand, Attribute) or not isinstance(constant, Literal):
            raise self.refuse("a comparison other than of an attribute with a constant")
        kind, value = self.type_of(operand), constant.value
        if kind is Type.DBL and constant.type is Type.INT:
            assert isinstance(value, int)
            return Literal.of(float(value))
        if kind is Type.INT and isinstance(value, float) and value.is_integer():
            return Literal.of(int(value))
        if kind is not constant.type:
            raise self.refuse(f"a comparison of {kind} with {constant.type}")
        return constant

    def comparison(self, op: str, left: ValueExpr, right: ValueExpr) -> str:
        """Order is for numbers only; Booleans cannot be compared."""
        kind = self.type_of(left)
        if kind is Type.BOOL or (kind is Type.STR and op not in ("=", "<>")):
            raise self.refuse(f"{op} of {kind}")
        return super().comparison(op, left, right)

    def between(self, e: Between) -> str:
        """Write two comparisons."""
        low = self.comparison(">=", e.operand, e.low)
        return f"{low} and {self.comparison('<=', e.operand, e.high)}"

    def membership(self, e: In) -> str:
        """Support integers and texts."""
        if self.type_of(e.operand) not in (Type.INT, Type.STR):
            raise self.refuse(f"IN of {self.type_of(e.operand)}")
        return f"{self.value(e.operand)} in [{', '.join(map(self.literal, e.items))}]"

    def is_null(self, operand: str) -> str:
        """The keywords are lower-case."""
        return f"{operand} is null"

    def negate(self, leaf: BoolExpr) -> str:
        """The negation of a predicate is a predicate of its own."""
        return f"not ({self.leaf(leaf)})"

    def number(self, value: int | float) -> str:
        """Exponents are not supported."""
        text = repr(value)
        if "e" in text:
            raise self.refuse(f"the number {text}")
        return text

    def text(self, value: str) -> str:
        """Escapes are not supported."""
        if any(mark in value for mark in "\"'\\"):
            raise self.refuse(f"the text {value!r}")
        return f'"{value}"'


def _version() -> str:
    found = re.search(r'^a-tree = "=(.+)"', (SOURCES / "rust/Cargo.toml").read_text(), re.M)
    return found[1] if found else "unknown"


A_TREE = Peer(
    name=NAME,
    about="Rust crate a-tree",
    takes="its own event",
    unavailable=RUST.unavailable,
    version=_version,
    translate=ATree.translate,
    run=driver_runner(RUST),
    prepare=RUST.build,
)
