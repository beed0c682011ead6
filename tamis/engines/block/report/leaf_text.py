"""Convert leaves back to text."""

from __future__ import annotations

from tamis.engines.block.layout.axes import Axes
from tamis.engines.block.segment.segment import Segment
from tamis.engines.block.terms import Terms
from tamis.kernels.block.axis_kinds import INSTANT, NUMBER, PRESENCE, TEXT, TRUTH
from tamis.kernels.block.words import AXES, AXIS_SHIFT, CONSTANT, FIELD, LOW_SHIFT, PREDICATE
from tamis.language.expr import Between, Comparison, IsNull, Literal, Not, Predicate, ValueExpr
from tamis.language.printer import literal_text
from tamis.values import INT_MAX, INT_MIN, Scalar, Timestamp

# The most values of a set that are shown.
_SHOWN = 5
_FAMILY = {NUMBER: "a number", TEXT: "a text", INSTANT: "an instant", TRUTH: "a truth value"}


def parts_of(word: int) -> tuple[int, int, int]:
    """Return the axis of a word (or what else it is), low and high."""
    return word >> AXIS_SHIFT, (word >> LOW_SHIFT) & FIELD, word & FIELD


class LeafPrinter:
    """Prints the leaves of one segment."""

    def __init__(self, segment: Segment, terms: Terms) -> None:
        """Create a printer for a segment and the terms of its engine."""
        self._segment, self._axes, self._terms = segment, segment.axes, terms

    def text(self, word: int) -> str:
        """Return a leaf as selector text; an interval with two ends may take two tests."""
        axis, low, high = parts_of(word)
        if axis < AXES:
            return self._interval(axis, low, high)
        if axis == CONSTANT:
            return "TRUE" if low else "FALSE"
        if axis == PREDICATE:
            predicate = self._segment.predicates[low]
            return str(Not(predicate) if high else predicate)
        return self._set(low, "NOT IN" if high else "IN")

    def _interval(self, axis: int, low: int, high: int) -> str:
        term = self._terms[int(self._axes.slot[axis])]
        if self._axes.kind[axis] == PRESENCE:
            return str(IsNull(term) if low == 0 else Not(IsNull(term)))
        outside = low > high
        tests = self._tests(axis, term, *((high, low) if outside else (low, high)))
        if not tests:
            return f"{term} is {_FAMILY[int(self._axes.kind[axis])]}"
        if not outside:
            return " AND ".join(map(str, tests))
        if len(tests) == 1 and isinstance(tests[0], Comparison) and tests[0].op == "=":
            return str(Comparison("<>", term, tests[0].right))
        if len(tests) == 1:
            return str(Not(tests[0]))
        return f"NOT ({' AND '.join(map(str, tests))})"

    def _tests(self, axis: int, term: ValueExpr, low: int, high: int) -> list[Predicate]:
        """Return tests for the ranks from `low` up to `high`.

        Odd ranks are constants; even ranks are the gaps below them.
        """
        last = high - 1
        has_low, has_high = low > 0, last < 2 * self._axes.count[axis]
        lower = Literal.of(constant(self._axes, axis, (low - 1) >> 1)) if has_low else None
        upper = Literal.of(constant(self._axes, axis, last >> 1)) if has_high else None
        if lower and upper and low & last & 1:
            if low == last:
                return [Comparison("=", term, lower)]
            return [Between(term, lower, upper)]
        tests: list[Predicate] = []
        if lower:
            tests.append(Comparison(">=" if low & 1 else ">", term, lower))
        if upper:
            tests.append(Comparison("<=" if last & 1 else "<", term, upper))
        return tests

    def _set(self, number: int, operator: str) -> str:
        sets = self._segment.sets
        axis = int(sets.axis[number])
        ranks = sets.ranks[sets.offsets[number] : sets.offsets[number + 1]].tolist()
        shown = [literal_text(constant(self._axes, axis, rank >> 1)) for rank in ranks[:_SHOWN]]
        if len(ranks) > _SHOWN:
            shown.append(f"… {len(ranks):,} in all")
        return f"{self._terms[int(self._axes.slot[axis])]} {operator} ({', '.join(shown)})"


def constant(axes: Axes, axis: int, place: int) -> Scalar:
    """Return a constant of an axis, by its number there."""
    at, kind = int(axes.begin[axis]) + place, int(axes.kind[axis])
    if kind == TEXT:
        return axes.texts[axes.bounds[at] : axes.bounds[at + 1]].tobytes().decode()
    value = float(axes.value[at])
    if kind == TRUTH:
        return bool(value)
    # 17 and 17.0 are one constant: it is shown as an integer if it fits into one.
    exact = int(value) + int(axes.residual[at]) if value.is_integer() else None
    if exact is None or not INT_MIN <= exact <= INT_MAX:
        return value
    return Timestamp(exact) if kind == INSTANT else exact
