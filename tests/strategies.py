"""Hypothesis strategies for events and selectors over one small vocabulary.

Untyped on purpose: any attribute may hold any value, so tests on the wrong type, NULL and mixed
columns are frequent. The trees are those that the parser produces: parse(str(e)) == e, and with
`functions=True`, which adds calls of FUNCTIONS, parse(str(e), FUNCTIONS) == e.
"""

import datetime as dt
import math
from functools import cache

from hypothesis import strategies as st

from tamis.language.expr import (
    And,
    Arithmetic,
    ArrayContains,
    AtLeast,
    Attribute,
    Between,
    Call,
    Comparison,
    Custom,
    In,
    IsNull,
    Like,
    Literal,
    Negate,
    Not,
    Or,
    RLike,
    Sequence,
    StringTest,
    Xor,
)
from tamis.values import Timestamp

PATHS = [("a",), ("b",), ("c",), ("d",), ("user", "city"), ("user", "age"), ("odd name",)]
COMPARISONS = ["=", "<>", "<", "<=", ">", ">="]
INTEGERS = [0, 1, 2, 3, -1, 7, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]
FLOATS = [0.0, -0.0, 1.0, 1.5, 2.5, -1.0, 2.0**53, 9.3e18, 1e308, 5e-324]
TEXTS = ["", "x", "xy", "yx", "x%", "_", "X", "é", "É", "😀", "it's", "a\\b", "Lyon", "line\nend"]
INSTANTS = ["1970-01-01", "2024-05-01 10:00:00+02:00", "2024-05-01 08:00:00.000001", "0001-01-01"]
REGEXES = ["x", "^x", "y$", "x.y", r"\d+", "", "(x|y)+", "[^x]"]


def size(value: object) -> object:
    """A function whose result is often NULL."""
    return len(value) if isinstance(value, str | list) else None


def turned(value: object, *others: object) -> object:
    """A function that maps each type to another one, sometimes to an opaque value."""
    if others:
        return others[-1]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return math.copysign(
            1.0, value
        )  # distinguishes -0.0 from 0.0, should a function ever get -0.0
    if isinstance(value, str):
        return list(value)
    if isinstance(value, list):
        return value[0] if value else {}
    return value.to_datetime()


def alike(left: object, right: object) -> bool:
    """A function whose result is a BOOL."""
    return type(left) is type(right)


FUNCTIONS = {"size": size, "Turned": turned, "alike": alike}


@cache
def timestamps() -> st.SearchStrategy[Timestamp]:
    return st.sampled_from(INSTANTS).map(Timestamp.parse)


@cache
def scalars() -> st.SearchStrategy[object]:
    """Values that can also be written as literals."""
    return st.one_of(
        st.booleans(),
        st.sampled_from(INTEGERS),
        st.integers(0, 3),
        st.sampled_from(FLOATS),
        st.sampled_from(TEXTS),
        timestamps(),
    )


@cache
def values() -> st.SearchStrategy[object]:
    """All values that an event may hold."""
    moments = st.sampled_from([dt.datetime(2024, 5, 1, 8), dt.date(2024, 5, 1)])
    return st.one_of(
        scalars(),
        scalars(),
        st.none(),
        st.sampled_from([math.nan, math.inf, -math.inf]),
        st.lists(st.one_of(st.integers(0, 3), st.none()), max_size=3),
        st.lists(st.one_of(st.sampled_from(TEXTS), st.none()), max_size=3),
        st.lists(scalars(), max_size=3),
        moments,
        st.sampled_from([b"bytes", [[1]], {}, {"city": "x"}]),
    )


def events() -> st.SearchStrategy[dict[str, object]]:
    return st.deferred(_events)


def _events() -> st.SearchStrategy[dict[str, object]]:
    user = st.one_of(
        values(),
        st.fixed_dictionaries({}, optional={"city": values(), "age": values()}),
    )
    names = {"a": values(), "b": values(), "c": values(), "d": values(), "odd name": values()}
    return st.fixed_dictionaries({}, optional={**names, "user": user, "other": values()})


@cache
def attributes() -> st.SearchStrategy[Attribute]:
    return st.sampled_from(PATHS).map(Attribute)


@cache
def literals() -> st.SearchStrategy[Literal]:
    return st.one_of(scalars(), scalars(), scalars(), st.none()).map(Literal.of)


# Composites that draw the kind first: one_of would flatten the alternatives of all levels into one
# list, in which simple leaves dominate. Cached, because creating a strategy costs more than drawing
# from it.


@cache
def _lists(inner: st.SearchStrategy[object], least: int, most: int) -> st.SearchStrategy[list]:
    return st.lists(inner, min_size=least, max_size=most)


@cache
@st.composite
def value_exprs(draw: st.DrawFn, depth: int = 2, functions: bool = False) -> object:
    kind = draw(st.sampled_from(("alAAANcC" if depth else "aal") + "ff" * functions))
    if kind == "a":
        return draw(attributes())
    if kind == "l":
        return draw(literals())
    if kind == "f":
        return draw(customs(depth))
    inner = value_exprs(depth - 1, functions)
    if kind == "A":
        return Arithmetic(draw(st.sampled_from("+-*/%")), draw(inner), draw(inner))
    if kind == "N":
        return Negate(draw(inner))
    if kind == "c":
        return Call("abs", (draw(inner),))
    function = draw(st.sampled_from(["least", "greatest", "sum", "avg"]))
    return Call(function, tuple(draw(_lists(inner, 1, 3))))


@cache
@st.composite
def customs(draw: st.DrawFn, depth: int = 1) -> Custom:
    name = draw(st.sampled_from(list(FUNCTIONS)))
    fewest, most = {"size": (1, 1), "Turned": (1, 2), "alike": (2, 2)}[name]
    inner = value_exprs(depth - 1, True) if depth else value_exprs(0)
    return Custom(name, FUNCTIONS[name], tuple(draw(_lists(inner, fewest, most))))


@cache
@st.composite
def likes(draw: st.DrawFn, functions: bool = False) -> Like:
    escape = draw(st.sampled_from(["\\", "!", "%", "_"]))
    parts = ["x", "y", "é", "X", *(c for c in "%_" if c != escape)]
    parts += [escape + c for c in ("%", "_", escape)]
    pattern = "".join(draw(st.lists(st.sampled_from(parts), max_size=5)))
    return Like(draw(value_exprs(0, functions)), pattern, escape, draw(st.booleans()))


@cache
def predicates(functions: bool = False) -> st.SearchStrategy[object]:
    leaf, operand, large = (value_exprs(depth, functions) for depth in (0, 1, 2))
    simple = st.builds(Comparison, st.sampled_from(COMPARISONS), attributes(), literals())
    return st.one_of(
        simple,
        simple,
        st.builds(Comparison, st.sampled_from(COMPARISONS), large, operand),
        st.builds(Between, operand, operand, operand),
        st.builds(In, operand, st.lists(literals(), min_size=1, max_size=4).map(tuple)),
        st.builds(In, attributes(), st.lists(literals(), min_size=1, max_size=4).map(tuple)),
        likes(functions),
        st.builds(RLike, leaf, st.sampled_from(REGEXES)),
        st.builds(
            StringTest,
            st.sampled_from(["contains", "startswith", "endswith"]),
            leaf,
            leaf,
        ),
        st.builds(ArrayContains, leaf, leaf),
        st.builds(IsNull, operand),
        attributes(),
        st.sampled_from([True, False, None]).map(Literal.of),
        *([customs()] if functions else []),
    )


def bool_exprs(depth: int = 3, functions: bool = False) -> st.SearchStrategy[object]:
    # deferred: its repr is short, and Hypothesis prints the strategies of a state machine.
    return st.deferred(lambda: _bool_exprs(depth, functions))


@cache
@st.composite
def _bool_exprs(draw: st.DrawFn, depth: int, functions: bool) -> object:
    kind = draw(st.sampled_from("pp&|^!k" if depth else "p"))
    if kind == "p":
        return draw(predicates(functions))
    inner = _bool_exprs(depth - 1, functions)
    if kind == "!":
        return Not(draw(inner))
    operands = tuple(draw(_lists(inner, 1 if kind == "k" else 2, 4)))
    if kind == "k":
        return AtLeast(draw(st.integers(1, len(operands))), operands)
    return {"&": And, "|": Or, "^": Xor}[kind](operands)


def sequences(functions: bool = False) -> st.SearchStrategy[Sequence]:
    within = st.one_of(st.none(), st.integers(1, 10**6).map(lambda n: n * 1_000))
    per = st.one_of(st.none(), attributes())
    return st.builds(
        Sequence, st.lists(bool_exprs(1, functions), min_size=2, max_size=3).map(tuple), within, per
    )


def selectors(functions: bool = False) -> st.SearchStrategy[object]:
    boolean = bool_exprs(functions=functions)
    return st.one_of(boolean, boolean, boolean, sequences(functions))
