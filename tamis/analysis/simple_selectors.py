"""Selectors that need no proof, because they test every attribute only once.

If each test by itself can be true and can be not true, and no two test the same attribute, then
AND, OR and AT LEAST over them are sometimes true, not always, and need all of their tests. Most
selectors are of this kind. It remains to find events, which is twenty times faster than a diagram.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from tamis.analysis.nested_events import nested_event
from tamis.covering.domains import Domains
from tamis.covering.regex_samples import samples
from tamis.language.evaluate import evaluate
from tamis.language.expr import (
    And,
    AtLeast,
    Attribute,
    Between,
    BoolExpr,
    Comparison,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    RLike,
    StringTest,
)
from tamis.language.patterns import like_runs
from tamis.paths import Path
from tamis.values import INT_MAX, INT_MIN, Scalar, Timestamp, Type, Value, type_of

# For each attribute two values that make its test true: one near the edge, one far from it.
Edges = dict[Path, tuple[Value, Value]]
_HIGH = "~"  # above most letters
_FAR_BELOW, _FAR_ABOVE = -1e15, 1e15


def plain_edges(selector: BoolExpr, domains: Domains) -> Edges | None:
    """Return two values per attribute that make its test true; None if it is not simple."""
    edges: Edges = {}
    if not _collect(selector, domains, edges):
        return None
    if any(len(path) > 1 for path in edges):
        for path in edges:
            if any(path[:length] in edges for length in range(1, len(path))):
                return None  # one lies inside the other
    return edges


def _collect(expr: BoolExpr, domains: Domains, edges: Edges) -> bool:
    if isinstance(expr, (And, Or, AtLeast)):
        return all(_collect(operand, domains, edges) for operand in expr.operands)
    leaf = expr.operand if isinstance(expr, Not) else expr
    attribute = _attribute(leaf)
    if attribute is None or attribute.path in edges:
        return False
    path = attribute.path
    types, nullable = domains.of(attribute)
    kind = next(iter(types)) if len(types) == 1 else None
    found: list[Value] = []
    # NULL makes every test not true, except IS NULL, which any other value makes false.
    has_other = nullable
    # If NULL does that, a few values are enough.
    tries = _few_values(expr, kind) if nullable else None
    for value in _candidate_values(leaf, kind) if tries is None else tries:
        if value is None:
            if not nullable:
                continue
        elif kind is not None and type_of(value) is not kind:
            continue
        if evaluate(expr, nested_event(path, value)) is True:
            found.append(value)
        else:
            has_other = True
    if not found or not has_other:
        return False
    near = next((value for value in found if not _is_far(value)), found[0])
    edges[path] = near, found[0] if near is found[-1] else found[-1]
    return True


def _is_far(value: Value) -> bool:
    return value in ("", _HIGH) or value in (_FAR_BELOW, _FAR_ABOVE, INT_MIN, INT_MAX)


def _attribute(leaf: BoolExpr) -> Attribute | None:
    """Return the attribute, if the test is of one attribute with literals other than NULL."""
    operand: object
    if isinstance(leaf, Comparison):
        operand, others = leaf.left, [leaf.right]
        if isinstance(operand, Literal):
            operand, others = leaf.right, [leaf.left]
    elif isinstance(leaf, Between):
        operand, others = leaf.operand, [leaf.low, leaf.high]
    elif isinstance(leaf, StringTest):
        operand, others = leaf.text, [leaf.part]
    elif isinstance(leaf, (In, Like, RLike, IsNull)):
        operand, others = leaf.operand, []
    else:
        operand, others = leaf, []
    if not isinstance(operand, Attribute):
        return None
    for other in others:
        if not isinstance(other, Literal) or other.value is None:
            return None
    return operand


_NEAR_AND_FAR = {"=": (0, 0), "<": (-1, -2), "<=": (0, -2), ">": (1, 2), ">=": (0, 2)}


def _few_values(leaf: BoolExpr, kind: Type | None) -> list[Value] | None:
    """Return two values that make a test of a common form true; None for other tests."""
    if isinstance(leaf, Between):
        return [leaf.low.value, leaf.high.value]  # type: ignore[union-attr]
    if isinstance(leaf, In):
        return [leaf.items[0].value, leaf.items[-1].value]
    if not isinstance(leaf, Comparison) or not isinstance(leaf.right, Literal):
        return None
    places, value = _NEAR_AND_FAR.get(leaf.op), leaf.right.value
    if places is None or value is None:
        return None
    if places[1] == 0:
        return [value]
    around = list(_values_around(value, kind))
    return [around[2 + place] for place in places] if len(around) == 5 else None


def _candidate_values(leaf: BoolExpr, kind: Type | None) -> Iterator[Value]:
    """Yield values that may make a test, or its NOT, true."""
    if isinstance(leaf, Comparison):
        literal = leaf.right if isinstance(leaf.right, Literal) else leaf.left
        assert isinstance(literal, Literal) and literal.value is not None
        yield from _values_around(literal.value, kind)
    elif isinstance(leaf, Between):
        assert isinstance(leaf.low, Literal) and isinstance(leaf.high, Literal)
        for bound in (leaf.low.value, leaf.high.value):
            assert bound is not None
            yield from _values_around(bound, kind)
    elif isinstance(leaf, In):
        for item in (leaf.items[0], leaf.items[-1]):
            if item.value is not None:
                yield from _values_around(item.value, kind)
    elif isinstance(leaf, StringTest):
        assert isinstance(leaf.part, Literal)
        if isinstance(leaf.part.value, str):
            yield from _candidate_texts(leaf.part.value)
    elif isinstance(leaf, Like):
        runs = like_runs(leaf.pattern, leaf.escape, leaf.ignore_case)
        yield from _candidate_texts("".join(c or "a" for run in runs for c in run))
        yield _HIGH.join("".join(c or "b" for c in run) for run in runs)
    elif isinstance(leaf, RLike):
        yield from (text for sample in samples(leaf.pattern) for text in _candidate_texts(sample))
    elif isinstance(leaf, IsNull):
        yield None
        yield from (0, 0.0, "", False, Timestamp(0), [])
    else:
        yield from (True, False)


def _candidate_texts(text: str) -> Iterator[str]:
    yield from (text, "", _HIGH, text + _HIGH, _HIGH + text, _HIGH + text + _HIGH)


def _values_around(value: Scalar, kind: Type | None) -> Iterator[Value]:
    """Yield values far below, just below, equal, just above and far above."""
    if isinstance(value, bool):
        yield from (False, True)
    elif isinstance(value, str):
        yield from ("", value[:-1], value, value + "a", _HIGH)
    elif isinstance(value, Timestamp):
        for apart in (-(10**15), -1, 0, 1, 10**15):
            if INT_MIN <= value.micros + apart <= INT_MAX:
                yield Timestamp(value.micros + apart)
    elif kind is Type.INT:
        down = math.floor(value)
        for whole in (INT_MIN, math.ceil(value) - 1, down, down + 1, INT_MAX):
            if INT_MIN <= whole <= INT_MAX:
                yield whole
    else:
        # Close enough and easy to read; closer values are left to a proof.
        step = 1 if isinstance(value, int) else 0.5
        tries = (_FAR_BELOW, value - step, value, value + step, _FAR_ABOVE)
        for number in tries:
            yield float(number) if kind is Type.DBL or abs(number) > INT_MAX else number
