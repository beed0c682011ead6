"""Selectors on their way into a segment: words whose constants are not in order yet."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tamis.engines.block.axes import (
    INSTANT,
    KINDS,
    MOST_CONSTANTS,
    NUMBER,
    PRESENCE,
    TEXT,
    TRUTH,
    axes_of,
)
from tamis.engines.block.rules import Leaf, Rules
from tamis.engines.block.terms import Terms
from tamis.engines.subscription import Subscription
from tamis.kernels.block_holds import Sets
from tamis.kernels.block_merge import draft_words
from tamis.kernels.block_words import (
    AND,
    AT_LEAST,
    AXES,
    AXIS_SHIFT,
    FALSE,
    FIELD,
    LOW_SHIFT,
    OR,
    PREDICATE,
    SET,
    TRUE,
    XNOR,
    XOR,
    operator_word,
)
from tamis.language.expr import (
    And,
    AtLeast,
    Attribute,
    Between,
    BoolExpr,
    Comparison,
    In,
    IsNull,
    Literal,
    Not,
    Or,
    ValueExpr,
    Xor,
)
from tamis.predicates.placement import placement
from tamis.predicates.shapes import Except, Family, Interval, Null, Test, Text, Within
from tamis.values import Scalar, Timestamp

# A selector of more words is left to the oracle: nested XOR takes two copies of every operand.
MOST_WORDS = 20_000
# So is one with a longer list of values: a rank has 24 bits.
MOST_POINTS = 1 << 20

# What becomes of a part of a selector.
_NEVER, _ALWAYS, _WRITTEN = 0, 1, 2

# Flags of a leaf; see kernels/block_merge.py.
_OPEN_LOW, _CLOSED_HIGH, _OUTSIDE = 1, 2, 4
_BOUNDS = {
    "=": (True, True, _CLOSED_HIGH),
    "<>": (True, True, _CLOSED_HIGH | _OUTSIDE),
    "<": (False, True, 0),
    "<=": (False, True, _CLOSED_HIGH),
    ">": (True, False, _OPEN_LOW),
    ">=": (True, False, 0),
}
_KINDS: dict[type, int] = {int: NUMBER, str: TEXT, bool: TRUTH, Timestamp: INSTANT, float: NUMBER}
_FAMILIES = {
    Family.NUMBER: NUMBER,
    Family.TEXT: TEXT,
    Family.INSTANT: INSTANT,
    Family.TRUTH: TRUTH,
}


class TooLarge(Exception):
    """A selector takes more words than are worth it."""


class Draft:
    """Selectors, one after the other."""

    def __init__(self, terms: Terms) -> None:
        """Begin with none."""
        self._terms = terms
        self._axes: tuple[dict[int, int], ...] = ({}, {}, {}, {}, {})
        self._slots: list[int] = []
        self._kinds: list[int] = []
        self._constants: list[list[Scalar]] = []
        self._leaf_axis: list[int] = []
        self._leaf_low: list[int] = []
        self._leaf_high: list[int] = []
        self._leaf_flags: list[int] = []
        self._sets: list[tuple[int, int, int]] = []
        self._points = self._points_before = 0
        self._predicates: dict[Leaf, int] = {}
        self._code: list[int] = []
        self._offsets: list[int] = [0]

    def __len__(self) -> int:
        """How many selectors there are."""
        return len(self._offsets) - 1

    @property
    def roomy(self) -> bool:
        """Whether another selector surely fits into the words of one segment."""
        # A leaf has two constants at most, and the last leaf that fits may be of several words.
        constants = 2 * len(self._leaf_axis) + self._points
        return (
            len(self._slots) + MOST_WORDS + KINDS < AXES
            and constants + 2 * MOST_WORDS + MOST_POINTS < MOST_CONSTANTS
        )

    def add(self, subscription: Subscription) -> None:
        """Take a subscription.

        Raises:
            TooLarge: It takes too many words; nothing has been added.
        """
        selector = subscription.selector
        begin, self._points_before = len(self._code), self._points
        plain = _plain(selector)  # type: ignore[arg-type]
        if plain is not None and len(plain) < MOST_WORDS:
            code = self._code
            if len(plain) > 1:
                code.append(operator_word(AND, 0, 1 + len(plain)))
            for test in plain:
                code.append(self._quick(test))
        else:
            try:
                self._top(subscription.condition)  # type: ignore[arg-type]
            except TooLarge:
                del self._code[begin:]
                raise
        self._offsets.append(len(self._code))

    def add_never(self) -> None:
        """Take a selector that nothing satisfies, to keep the numbers in step."""
        self._code.append(FALSE)
        self._offsets.append(len(self._code))

    def only(self, numbers: Iterable[int]) -> Draft:
        """A draft of some of the selectors, in the order given."""
        new = Draft(self._terms)
        predicates = list(self._predicates)
        for number in numbers:
            for word in self._code[self._offsets[number] : self._offsets[number + 1]]:
                new._code.append(new._copied(self, predicates, word))
            new._offsets.append(len(new._code))
        return new

    def _copied(self, other: Draft, predicates: list[Leaf], word: int) -> int:
        """A word of another draft, as it is in this one."""
        kind, number = word >> AXIS_SHIFT, (word >> LOW_SHIFT) & FIELD
        if kind < AXES:
            return self._copied_leaf(other, word)
        if kind == PREDICATE:
            return self._predicate(predicates[number]) | (word & FIELD)
        if kind == SET:
            axis, first, count = other._sets[number]
            points = other._constants[axis][first : first + count]
            return self._set(self._axis_like(other, axis), points, word & FIELD)
        return word

    def _copied_leaf(self, other: Draft, leaf: int) -> int:
        axis = self._axis_like(other, other._leaf_axis[leaf])
        low, high = other._leaf_low[leaf], other._leaf_high[leaf]
        if self._kinds[axis] == PRESENCE:
            return self._presence(axis, low < 0)
        constants = other._constants[other._leaf_axis[leaf]]
        ends = [None if end < 0 else constants[end] for end in (low, high)]
        return self._leaf(axis, ends[0], ends[1], other._leaf_flags[leaf])

    def _axis_like(self, other: Draft, axis: int) -> int:
        return self._axis(other._slots[axis], other._kinds[axis])

    def rules(self) -> Rules:
        """The selectors on axes; the record of each is its number."""
        axes, at, places = axes_of(self._slots, self._kinds, self._constants)
        axis = np.array(self._leaf_axis, np.int64)
        low, high = np.array(self._leaf_low, np.int64), np.array(self._leaf_high, np.int64)
        begin = at[axis]
        words = np.empty(len(axis), np.uint64)
        draft_words(
            axis,
            np.where(low >= 0, low + begin, -1),
            np.where(high >= 0, high + begin, -1),
            np.array(self._leaf_flags, np.int64),
            axes.count,
            places,
            words,
        )
        code = np.array(self._code, np.uint64)
        leaf = code < (AXES << 48)
        code[leaf] = words[code[leaf].astype(np.int64)]
        return Rules(
            axes,
            self._made_sets(at, places),
            tuple(self._predicates),
            code,
            np.array(self._offsets, np.int64),
            np.arange(len(self), dtype=np.int32),
        )

    def _made_sets(self, at: np.ndarray, places: np.ndarray) -> Sets:
        ranks = [
            np.unique(2 * places[at[axis] + first : at[axis] + first + count] + 1)
            for axis, first, count in self._sets
        ]
        offsets = np.zeros(len(ranks) + 1, np.int64)
        np.cumsum([len(some) for some in ranks], out=offsets[1:])
        return Sets(
            np.array([axis for axis, _, _ in self._sets], np.int32),
            offsets,
            np.concatenate([*ranks, np.zeros(0, np.int64)]).astype(np.int32),
        )

    # -- leaves -----------------------------------------------------------------------------------

    def _axis(self, slot: int, kind: int) -> int:
        axes = self._axes[kind]
        axis = axes.get(slot)
        if axis is None:
            axis = axes[slot] = len(self._slots)
            self._slots.append(slot)
            self._kinds.append(kind)
            self._constants.append([False] if kind == PRESENCE else [])
        return axis

    def _quick(self, test: Comparison | Between) -> int:
        """A test of an attribute against literals, as `_plain` found it."""
        if type(test) is Comparison:
            value: Scalar = test.right.value  # type: ignore[union-attr, assignment]
            slot = self._terms.by_path.get(test.left.path)  # type: ignore[union-attr]
            if slot is None:
                slot = self._terms.of_path(test.left.path)  # type: ignore[union-attr]
            kind = _KINDS[type(value)]
            axis = self._axes[kind].get(slot)
            if axis is None:
                axis = self._axis(slot, kind)
            constants = self._constants[axis]
            at = len(constants)
            constants.append(value)
            has_low, has_high, flags = _BOUNDS[test.op]
            self._leaf_axis.append(axis)
            self._leaf_low.append(at if has_low else -1)
            self._leaf_high.append(at if has_high else -1)
            self._leaf_flags.append(flags)
            return len(self._leaf_axis) - 1
        low, high = test.low.value, test.high.value  # type: ignore[union-attr]
        slot = self._terms.of_path(test.operand.path)  # type: ignore[union-attr]
        return self._leaf(self._axis(slot, _KINDS[type(low)]), low, high, _CLOSED_HIGH)

    def _leaf(self, axis: int, low: Scalar | None, high: Scalar | None, flags: int) -> int:
        constants = self._constants[axis]
        self._leaf_axis.append(axis)
        self._leaf_flags.append(flags)
        for ends, constant in ((self._leaf_low, low), (self._leaf_high, high)):
            ends.append(-1 if constant is None else len(constants))
            if constant is not None:
                constants.append(constant)
        return len(self._leaf_axis) - 1

    def _interval(self, axis: int, interval: Interval) -> int:
        low, low_closed, high, high_closed = interval
        flags = (0 if low_closed or low is None else _OPEN_LOW) | (
            _CLOSED_HIGH if high_closed and high is not None else 0
        )
        return self._leaf(axis, low, high, flags)

    def _set(self, axis: int, points: Iterable[Scalar], unwanted: int) -> int:
        constants = self._constants[axis]
        first = len(constants)
        constants.extend(points)
        self._sets.append((axis, first, len(constants) - first))
        self._points += len(constants) - first
        if self._points > self._points_before + MOST_POINTS:
            raise TooLarge
        return operator_word(SET, len(self._sets) - 1, unwanted)

    def _test(self, term: ValueExpr, test: Test, leaf: Leaf) -> list[int]:
        """The leaves of which one must hold for a test to hold."""
        slot = self._terms.slot(term)
        if isinstance(test, Null):
            axis = self._axis(slot, PRESENCE)
            return [self._presence(axis, test.wanted)]
        if isinstance(test, Within):
            axis = self._axis(slot, _FAMILIES[test.family])
            points = [i.low for i in test.intervals if i.low is i.high and i.low is not None]
            if len(points) > 1 and len(points) == len(test.intervals):
                return [self._set(axis, points, 0)]
            return [self._interval(axis, interval) for interval in test.intervals]
        if isinstance(test, Except):
            axis = self._axis(slot, _FAMILIES[test.family])
            if len(test.points) == 1:
                (point,) = test.points
                return [self._leaf(axis, point, point, _CLOSED_HIGH | _OUTSIDE)]
            return [self._set(axis, test.points, 1)]
        return [self._predicate(leaf)]

    def _presence(self, axis: int, null: bool) -> int:
        """Rank 1 is a value, rank 0 none; the one constant there is from the beginning."""
        self._leaf_axis.append(axis)
        self._leaf_low.append(-1 if null else 0)
        self._leaf_high.append(0)
        self._leaf_flags.append(0 if null else _CLOSED_HIGH)
        return len(self._leaf_axis) - 1

    def _predicate(self, leaf: Leaf) -> int:
        number = self._predicates.setdefault(leaf, len(self._predicates))
        return operator_word(PREDICATE, number, 0)

    # -- structure --------------------------------------------------------------------------------

    def _top(self, condition: BoolExpr) -> None:
        """A whole selector. What `strict` adds is left out where another test implies it."""
        if isinstance(condition, And):
            tested = {_tested(operand) for operand in condition.operands}
            kept = tuple(o for o in condition.operands if _present(o) not in tested)
            condition = And(kept) if len(kept) > 1 else kept[0]
        became = self._put(condition, True)
        if became != _WRITTEN:
            self._code.append(TRUE if became == _ALWAYS else FALSE)

    def _put(self, expr: BoolExpr, wanted: bool) -> int:
        """Write where a part is certainly true, or certainly false if that is wanted."""
        if isinstance(expr, Not):
            return self._put(expr.operand, not wanted)
        if isinstance(expr, (And, Or)):
            return self._junction(expr.operands, wanted, isinstance(expr, And) == wanted)
        if isinstance(expr, AtLeast):
            n = len(expr.operands)
            return self._at_least(expr.k if wanted else n - expr.k + 1, expr.operands, wanted)
        if isinstance(expr, Xor):
            return self._xor(expr.operands, wanted)
        return self._put_leaf(expr if wanted else Not(expr))

    def _put_leaf(self, leaf: Leaf) -> int:
        if len(self._code) - self._offsets[-1] > MOST_WORDS:
            raise TooLarge
        place = placement(leaf)
        if place.always:
            return _ALWAYS
        if place.residual:
            self._code.append(self._predicate(leaf))
            return _WRITTEN
        if place.term is None:
            return _NEVER
        if isinstance(leaf, Not) and all(isinstance(test, Text) for test in place.tests):
            return self._put_other_text(place.term, leaf)
        words = [word for test in place.tests for word in self._test(place.term, test, leaf)]
        words = list(dict.fromkeys(words))  # two texts tests of one predicate are one leaf
        if len(words) > 1:
            self._code.append(operator_word(OR, 0, 1 + len(words)))
        self._code.extend(words)
        return _WRITTEN if words else _NEVER

    def _put_other_text(self, term: ValueExpr, leaf: Not) -> int:
        """A text that does not satisfy a test.

        Most texts do not, and phase 1 would have to name every such test for every text. So it is
        asked for the others: there must be a text, and the test must not be among them.
        """
        axis = self._axis(self._terms.slot(term), TEXT)
        number = self._predicate(leaf.operand) | 1  # type: ignore[arg-type]
        self._code += (operator_word(AND, 0, 3), self._leaf(axis, None, None, 0), number)
        return _WRITTEN

    def _junction(self, operands: tuple[BoolExpr, ...], wanted: bool, conjunctive: bool) -> int:
        decides, idle = (_NEVER, _ALWAYS) if conjunctive else (_ALWAYS, _NEVER)
        begin = self._begin()
        written = 0
        for operand in operands:
            became = self._put(operand, wanted)
            if became == decides:
                del self._code[begin:]
                return decides
            written += became == _WRITTEN
        if written == 0:
            del self._code[begin:]
            return idle
        return self._end(begin, AND if conjunctive else OR, 0, written)

    def _at_least(self, k: int, operands: tuple[BoolExpr, ...], wanted: bool) -> int:
        begin = self._begin()
        written = 0
        for operand in operands:
            became = self._put(operand, wanted)
            written += became == _WRITTEN
            k -= became == _ALWAYS
        if k <= 0 or k > written:
            del self._code[begin:]
            return _ALWAYS if k <= 0 else _NEVER
        if k in (1, written):
            return self._end(begin, OR if k == 1 else AND, 0, written)
        return self._end(begin, AT_LEAST, k, written)

    def _xor(self, operands: tuple[BoolExpr, ...], wanted: bool) -> int:
        begin = self._begin()
        for operand in operands:
            for rail in (True, False):
                became = self._put(operand, rail)
                if became != _WRITTEN:
                    self._code.append(TRUE if became == _ALWAYS else FALSE)
        return self._end(begin, XOR if wanted else XNOR, 0, 2 * len(operands))

    def _begin(self) -> int:
        if len(self._code) - self._offsets[-1] > MOST_WORDS:
            raise TooLarge
        self._code.append(0)
        return len(self._code) - 1

    def _end(self, begin: int, operator: int, low: int, operands: int) -> int:
        if operands == 1 and operator in (AND, OR):
            del self._code[begin]
        else:
            length = len(self._code) - begin
            if length > MOST_WORDS:
                raise TooLarge
            self._code[begin] = operator_word(operator, low, length)
        return _WRITTEN


def _plain(expr: BoolExpr) -> tuple[Comparison | Between, ...] | None:
    """The tests of a conjunction of tests of different attributes against literals; else None.

    Most selectors are such. For them the rewriter has nothing to do, and `strict` asks for nothing
    more: every attribute that is named is tested.
    """
    operands = expr.operands if isinstance(expr, And) else (expr,)
    tested = set()
    for operand in operands:
        if type(operand) is Comparison:
            attribute, constant = operand.left, operand.right
            if (
                type(attribute) is not Attribute
                or type(constant) is not Literal
                or type(constant.value) not in _KINDS
                or constant.value != constant.value
            ):
                return None
        elif type(operand) is Between:
            attribute = operand.operand
            if type(attribute) is not Attribute or not _is_range(operand):
                return None
        else:
            return None
        tested.add(attribute.path)
    return operands if len(tested) == len(operands) else None  # type: ignore[return-value]


def _is_range(between: Between) -> bool:
    low, high = between.low, between.high
    if type(low) is not Literal or type(high) is not Literal:
        return False
    first, last = low.value, high.value
    if type(first) not in _KINDS or _KINDS.get(type(last)) != _KINDS[type(first)]:
        return False
    return bool(first <= last)  # type: ignore[operator]


def _tested(operand: BoolExpr) -> Attribute | None:
    """The attribute that must have a value for this to hold, if that is plain to see."""
    found: object = None
    if isinstance(operand, Comparison):
        found = operand.left
    elif isinstance(operand, (Between, In)):
        found = operand.operand
    return found if isinstance(found, Attribute) else None


def _present(operand: BoolExpr) -> Attribute | bool:
    """The attribute of `attribute IS NOT NULL`; False, which nothing tests, of others."""
    if isinstance(operand, Not) and isinstance(operand.operand, IsNull):
        tested = operand.operand.operand
        if isinstance(tested, Attribute):
            return tested
    return False
