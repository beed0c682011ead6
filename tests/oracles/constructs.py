"""The constructs of the language that a selector uses, to check that a trial covers all."""

from __future__ import annotations

from collections.abc import Iterator

from tamis.language.expr import (
    Arithmetic,
    BoolExpr,
    Call,
    Comparison,
    In,
    Like,
    Literal,
    Not,
    StringTest,
    walk,
)
from tamis.values import Type
from tests.oracles.generate import COMPARISONS, STRING_TESTS
from tests.oracles.static_types import static_type


def constructs(selector: BoolExpr) -> Iterator[str]:
    """Yield the names of the constructs that a selector uses, with repetitions."""
    for e in walk(selector):
        yield type(e).__name__
        if isinstance(e, Comparison | Arithmetic):
            yield e.op
        elif isinstance(e, Call | StringTest):
            yield e.function
        elif isinstance(e, Not) and not isinstance(e.operand, Not):
            yield f"NOT {type(e.operand).__name__}"
        elif isinstance(e, Like):
            yield ("ILIKE" if e.ignore_case else "LIKE") + " ESCAPE" * (e.escape != "\\")
        elif isinstance(e, Literal):
            yield f"literal {e.type.value if e.type not in (None, Type.BOOL) else e.value}"
        elif isinstance(e, In) and any(item.value is None for item in e.items):
            yield "IN with NULL"
        if isinstance(e, StringTest):
            yield f"{e.function} of {type(e.text).__name__}, {type(e.part).__name__}"
        if isinstance(e, Comparison):
            kinds = static_type(e.left), static_type(e.right)
            yield " against ".join(kind.value if kind else "NULL" for kind in kinds)
            if None in kinds:
                yield "compared with NULL"


EVERY_CONSTRUCT = frozenset(
    [
        *COMPARISONS, *STRING_TESTS, "+", "-", "*", "/", "%", "abs", "least", "greatest", "sum",
        "avg", "Negate", "Between", "NOT Between", "In", "NOT In", "IN with NULL", "LIKE", "ILIKE",
        "LIKE ESCAPE", "ILIKE ESCAPE", "NOT Like", "RLike", "NOT RLike", "IsNull", "NOT IsNull",
        "ArrayContains", "NOT ArrayContains", "And", "Or", "Xor", "Not", "AtLeast", "NOT And",
        "NOT Or", "NOT Xor", "NOT AtLeast", "literal None", "literal True", "literal False",
        "literal INT", "literal DBL", "literal STR", "literal TIMESTAMP", "NOT Attribute",
        "contains of Attribute, Literal", "contains of Literal, Attribute",
        "startswith of Literal, Attribute", "endswith of Literal, Attribute",
        "INT against DBL", "DBL against INT", "INT against INT", "DBL against DBL",
        "STR against STR", "BOOL against BOOL", "TIMESTAMP against TIMESTAMP", "compared with NULL",
    ]
)  # fmt: skip
