"""Selectors over very few predicates, so that their parts often meet in the tree.

The selectors of `tests/strategies.py` are varied and so have little in common. Here the same parts
recur: in several subscriptions, several times in one, and in chains longer than the 32 operands
that are arranged in one piece.
"""

from functools import cache

from hypothesis import strategies as st

from tamis.language import parse
from tamis.language.expr import And, AtLeast, Not, Or, Xor

LETTERS = "abcdef"
LONG = [f"q{number}" for number in range(70)]
_TESTS = [parse(f"{letter} = 1") for letter in LETTERS]
_LONG_TESTS = [parse(f"{name} = 1") for name in LONG]
_VALUES = [
    parse(text)
    for text in (
        "a + b > 1",
        "a + b + c > 1",
        "a + b = c + d",
        "SUM(a, b, c) >= 2",
        "AVG(a, b, c, d) > 0.5",
        "least(a, b) > least(c, d, e)",
        "-a < 0",
        "abs(a - b) = 1",
    )
]
_JUNCTIONS = {"&": And, "|": Or, "^": Xor}


def dense(depth: int = 3) -> st.SearchStrategy[object]:
    return st.deferred(lambda: _dense(depth))


@cache
@st.composite
def _dense(draw: st.DrawFn, depth: int) -> object:
    kind = draw(st.sampled_from("p&&||^!k2LLv" if depth else "ppppv"))
    if kind == "p":
        return draw(st.sampled_from(_TESTS))
    if kind == "v":
        return draw(st.sampled_from(_VALUES))
    if kind == "L":
        return draw(_long())
    inner = _dense(depth - 1)
    if kind == "!":
        return Not(draw(inner))
    if kind == "2":  # one part in two places
        part, other = draw(inner), draw(inner)
        return draw(
            st.sampled_from(
                [
                    Xor((part, Or((part, other)))),
                    AtLeast(2, (part, part, other)),
                    Xor((part, other, part)),
                    Or((And((part, other)), Not(part))),
                ]
            )
        )
    operands = tuple(draw(st.lists(inner, min_size=2, max_size=5)))
    if kind == "k":
        return AtLeast(draw(st.integers(1, len(operands))), operands)
    return _JUNCTIONS[kind](operands)


@cache
@st.composite
def _long(draw: st.DrawFn) -> object:
    """Return a chain that shares its beginning, end or middle with others."""
    begin, length = draw(st.sampled_from([0, 0, 1, 20])), draw(st.sampled_from([33, 40, 50]))
    operands = tuple(_LONG_TESTS[begin : begin + length])
    kind = draw(st.sampled_from("&|^k"))
    if kind == "k":
        return AtLeast(draw(st.sampled_from([2, 20, length - 1])), operands)
    return _JUNCTIONS[kind](operands)


@cache
def dense_events() -> st.SearchStrategy[dict[str, object]]:
    """Draw mostly ones, or the chains would rarely be true; some zeros, some missing."""
    changes = st.dictionaries(st.sampled_from([*LETTERS, *LONG]), st.sampled_from([0, None]))
    letters = st.fixed_dictionaries({}, optional=dict.fromkeys(LETTERS, st.sampled_from([1, 0])))
    return st.builds(
        lambda some, other: {**dict.fromkeys(LONG, 1), **some, **other}, letters, changes
    )
