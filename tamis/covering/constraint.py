"""The constraint that one or more predicates put on one value, and when it covers another.

A constraint is a set of values: some kinds of value, spans of the ordered families (`spans.py`),
and of those only the values that also pass some *tests* of text or lists that spans cannot express.
Sets without tests are exact: they are equal if and only if they contain the same values.
`startswith`, `LIKE` with only a trailing %, and `contains('a,b,c', x)` are spans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from tamis.covering import spans as sets
from tamis.covering.spans import ALL, Bound, Spans
from tamis.covering.wildcards import (
    ANY,
    WildcardPattern,
    head_of,
    matches_all,
    string_test_runs,
    wildcard_pattern,
)
from tamis.language.evaluate import any_of
from tamis.language.evaluate import test as compared
from tamis.language.expr import Like, Literal, Not, Predicate, RLike, StringTest, ValueExpr
from tamis.language.patterns import like_runs, regex_matches
from tamis.predicates.placement import placement
from tamis.predicates.shapes import Except, Family, Member, Null, Text, Within, family_of
from tamis.values import Opaque, Scalar, Value

# The kinds of values that belong to no family.
NULL: Final = 1
LIST: Final = 2
OPAQUE: Final = 4

# A longer literal has too many substrings to list those that satisfy `contains('literal', x)`.
_LONGEST = 24


class PatternTest(NamedTuple):
    """The value is a text that LIKE (or ILIKE) matches or, if not wanted, does not match."""

    pattern: WildcardPattern
    ignore_case: bool
    wanted: bool


class MembershipTest(NamedTuple):
    """The value is a list, and it is certain that the item is (or is not) in it, as wanted.

    The family distinguishes items that Python considers equal, such as True == 1.
    """

    family: Family | None
    item: Scalar | Opaque
    wanted: bool


ValueTest = PatternTest | MembershipTest | Text


class Constraint(NamedTuple):
    """A set of values.

    Attributes:
        kinds: NULL, lists and opaque values, as bits.
        spans: The spans by family, in a fixed order.
        tests: Tests that all texts, or lists, must pass too; with tests, the set has only those.
    """

    kinds: int
    spans: tuple[tuple[Family, Spans], ...]
    tests: frozenset[ValueTest] = frozenset()

    @property
    def is_empty(self) -> bool:
        """Whether nothing satisfies it; contradictory tests are not detected."""
        return not self.kinds and not self.spans

    @property
    def is_all(self) -> bool:
        """Whether everything satisfies it."""
        return self == EVERYTHING

    @property
    def point(self) -> tuple[Family, Scalar] | None:
        """The only value that satisfies it; None if it is not known to be the only one."""
        if self.kinds or self.tests or len(self.spans) != 1:
            return None
        ((family, spans),) = self.spans
        bound = sets.point_of(family, spans[0]) if len(spans) == 1 else None
        return None if bound is None else (family, sets.value_of_bound(family, bound))

    def covers(self, other: Constraint) -> bool:
        """Return whether every value of the other satisfies this one; False if undecided."""
        if other.kinds & ~self.kinds:
            return False
        for family, inner in other.spans:
            outer = self._spans_of(family)
            if not (outer and sets.includes(outer, inner)):
                return False
        if not self.tests or self.tests <= other.tests:
            return True
        return other.is_empty or all(other._passes(test) for test in self.tests)

    def allows(self, value: Value) -> bool:
        """Return whether a value satisfies it."""
        family = family_of(value)
        if family is None:
            kind = NULL if value is None else LIST if isinstance(value, list) else OPAQUE
            return bool(self.kinds & kind) and all(_holds(test, value) for test in self.tests)
        if not sets.contains(self._spans_of(family), sets.bound_of(value)):  # type: ignore[arg-type]
            return False
        return not self.tests or all(_holds(test, value) for test in self.tests)

    def intersection(self, other: Constraint) -> Constraint:
        """Return the constraint of values that satisfy both."""
        spans = [
            (family, common)
            for family, mine in self.spans
            if (common := sets.intersection(mine, other._spans_of(family)))
        ]
        return _simplify_constraint(self.kinds & other.kinds, spans, self.tests | other.tests)

    def union(self, other: Constraint) -> Constraint:
        """Return the constraint of values that satisfy one of the two; neither may have tests."""
        return Constraint(
            self.kinds | other.kinds,
            tuple(
                (family, joined)
                for family in Family
                if (joined := sets.union((*self._spans_of(family), *other._spans_of(family))))
            ),
        )

    def _spans_of(self, family: Family) -> Spans:
        for mine, spans in self.spans:
            if mine is family:
                return spans
        return ()

    def _passes(self, test: ValueTest) -> bool:
        if test in self.tests or any(_implies(mine, test) for mine in self.tests):
            return True
        if isinstance(test, MembershipTest) or self.kinds:
            return False
        # One span at a time: its only text, or the prefix that all of its texts share.
        for span in self._spans_of(Family.TEXT):
            point = sets.point_of(Family.TEXT, span)
            if isinstance(point, str):
                if not _holds(test, point):
                    return False
            elif not (
                isinstance(test, PatternTest)
                and test.wanted
                and not test.ignore_case
                and matches_all(test.pattern, (*sets.prefix_of(span), ANY))
            ):
                return False
        return True


NOTHING: Final = Constraint(0, ())
_PRESENT: Final = Constraint(LIST | OPAQUE, tuple((family, ALL) for family in Family))
EVERYTHING: Final = Constraint(NULL | LIST | OPAQUE, _PRESENT.spans)
_ANY_TEXT: Final = Constraint(0, ((Family.TEXT, ALL),))


def constraint_of(predicate: Predicate | Not) -> tuple[ValueExpr | None, Constraint] | None:
    """Return the term of a predicate, or of the NOT of one, and the constraint on it.

    The term is None if no event changes the outcome; the constraint is then everything or nothing.
    The result is None if the predicate has several terms.
    """
    placed = placement(predicate)
    if placed.residual:
        return None
    if placed.term is None:
        return None, EVERYTHING if placed.always else NOTHING
    constraint = NOTHING
    for test in placed.tests:
        part = _BUILDERS[type(test)](test)
        constraint = part if constraint.is_empty else constraint.union(part)
    return placed.term, constraint


def _within(test: Within) -> Constraint:
    return _span_constraint(test.family, sets.spans_of(test.family, test.intervals))


def _except(test: Except) -> Constraint:
    points = sets.spans_of_points(test.family, test.points)
    return _span_constraint(test.family, sets.complement(points))


def _span_constraint(family: Family, spans: Spans) -> Constraint:
    return Constraint(0, ((family, spans),)) if spans else NOTHING


def _null(test: Null) -> Constraint:
    return Constraint(NULL, ()) if test.wanted else _PRESENT


def _member(test: Member) -> Constraint:
    family = family_of(test.item)
    if test.wanted and family not in (Family.NUMBER, Family.TEXT):
        return NOTHING  # elements are integers or texts
    return Constraint(LIST, (), frozenset([MembershipTest(family, test.item, test.wanted)]))


# -- text -----------------------------------------------------------------------------------------


def _text(test: Text) -> Constraint:
    if isinstance(test.test, RLike):
        return Constraint(0, _ANY_TEXT.spans, frozenset([test]))
    if isinstance(test.test, StringTest) and isinstance(test.test.text, Literal):
        parts = _parts(test.test.function, test.test.text.value)
        if parts is None:
            return Constraint(0, _ANY_TEXT.spans, frozenset([test]))
        return _exact_text(sets.spans_of_points(Family.TEXT, parts), test.wanted)
    ignore_case = isinstance(test.test, Like) and test.test.ignore_case
    pattern = _pattern(test.test)
    head = head_of(pattern)
    if pattern == (ANY,):
        return _exact_text(ALL, test.wanted)
    if not ignore_case and pattern == (*head, ANY):
        return _exact_text(sets.prefix_spans(head), test.wanted)
    if not ignore_case and pattern == (*head,):
        return _exact_text(sets.spans_of_points(Family.TEXT, [head]), test.wanted)
    narrowed = sets.prefix_spans(head) if test.wanted and not ignore_case else ALL
    return Constraint(
        0, ((Family.TEXT, narrowed),), frozenset([PatternTest(pattern, ignore_case, test.wanted)])
    )


def _exact_text(spans: Spans, wanted: bool) -> Constraint:
    return _span_constraint(Family.TEXT, spans if wanted else sets.complement(spans))


def _pattern(test: StringTest | Like) -> WildcardPattern:
    if isinstance(test, Like):
        return wildcard_pattern(like_runs(test.pattern, test.escape, test.ignore_case))
    assert isinstance(test.part, Literal) and isinstance(test.part.value, str)
    return wildcard_pattern(string_test_runs(test.function, test.part.value))


def _parts(function: str, text: Scalar | None) -> Iterable[str] | None:
    """Return the texts x for which `function(text, x)` is true; None if there are too many."""
    assert isinstance(text, str)
    places = range(len(text) + 1)
    if function == "startswith":
        return (text[:end] for end in places)
    if function == "endswith":
        return (text[begin:] for begin in places)
    if len(text) > _LONGEST:
        return None
    return {text[begin:end] for begin in places for end in places[begin:]}


# -- tests ----------------------------------------------------------------------------------------


def _simplify_constraint(
    kinds: int,
    spans: list[tuple[Family, Spans]],
    tests: frozenset[ValueTest],
) -> Constraint:
    if not kinds and not spans:
        return NOTHING
    if not tests or kinds:
        return Constraint(kinds, tuple(spans), tests)
    # With only a few texts, the tests can be evaluated now.
    ((family, texts),) = spans
    points = [sets.point_of(family, span) for span in texts]
    if None in points:
        return Constraint(kinds, tuple(spans), tests)
    remaining = [
        span
        for span, point in zip(texts, points, strict=True)
        if all(_holds(test, point) for test in tests)
    ]
    return _span_constraint(family, tuple(remaining))


def _holds(test: ValueTest, value: Value | Bound) -> bool:
    if isinstance(test, MembershipTest):
        assert isinstance(value, list)
        return any_of(compared("=", each, test.item) for each in value) is test.wanted
    assert isinstance(value, str)
    if isinstance(test, PatternTest):
        text = value.lower() if test.ignore_case else value
        return matches_all(test.pattern, text) is test.wanted
    if isinstance(test.test, RLike):
        return regex_matches(test.test.pattern, value) is test.wanted
    assert isinstance(test.test, StringTest) and isinstance(test.test.text, Literal)
    assert isinstance(test.test.text.value, str)
    return (value in test.test.text.value) is test.wanted


def _implies(given: ValueTest, test: ValueTest) -> bool:
    """Return whether a value that passes one test is known to pass another one too."""
    if not (isinstance(given, PatternTest) and isinstance(test, PatternTest)):
        return given == test
    if given.wanted is not test.wanted or given.ignore_case is not test.ignore_case:
        return False
    if test.wanted:
        return matches_all(test.pattern, given.pattern)
    return matches_all(given.pattern, test.pattern)


_BUILDERS: dict[type, Callable[..., Constraint]] = {
    Within: _within,
    Except: _except,
    Null: _null,
    Text: _text,
    Member: _member,
}
