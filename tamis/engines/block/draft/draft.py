"""Selectors before they are in a segment: words in prefix order, with NOT at the leaves."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tamis.engines.block.draft.conjunctions import plain_tests
from tamis.engines.block.draft.draft_leaves import DraftLeaves
from tamis.engines.block.layout.axes import MOST_CONSTANTS
from tamis.engines.block.layout.rules import Leaf, Rules
from tamis.engines.block.terms import Terms
from tamis.engines.subscription import Subscription
from tamis.kernels.block.axis_kinds import KINDS
from tamis.kernels.block.words import AND, AT_LEAST, AXES, FALSE, OR, TRUE, XNOR, XOR, operator_word
from tamis.language.expr import (
    And,
    AtLeast,
    Attribute,
    Between,
    BoolExpr,
    Comparison,
    In,
    IsNull,
    Not,
    Or,
    ValueExpr,
    Xor,
)
from tamis.predicates.placement import placement
from tamis.predicates.shapes import Text

# A selector of more words is left to the oracle: nested XOR takes two copies of every operand.
MOST_WORDS = 20_000
# A selector with a longer list of values, too: a rank has 24 bits.
MOST_POINTS = 1 << 20

# Results of writing a part of a selector.
_NEVER, _ALWAYS, _WRITTEN = 0, 1, 2


class TooManyWords(Exception):
    """A selector takes too many words or values to be indexed."""


class Draft:
    """Selectors, one after the other."""

    def __init__(self, terms: Terms) -> None:
        """Create an empty draft."""
        self._terms = terms
        self._leaves = DraftLeaves(terms)
        self._points_before = 0
        self._code: list[int] = []
        self._offsets: list[int] = [0]

    def __len__(self) -> int:
        """Return the number of selectors."""
        return len(self._offsets) - 1

    @property
    def has_room(self) -> bool:
        """Whether any other selector fits into the words of one segment."""
        # The last leaf that fits may take several words.
        return (
            self._leaves.axes + MOST_WORDS + KINDS < AXES
            and self._leaves.constants + 2 * MOST_WORDS + MOST_POINTS < MOST_CONSTANTS
        )

    def add(self, subscription: Subscription) -> None:
        """Add a subscription.

        Raises:
            TooManyWords: It takes too many words; nothing has been added.
        """
        selector = subscription.selector
        begin, self._points_before = len(self._code), self._leaves.points
        plain = plain_tests(selector)  # type: ignore[arg-type]
        if plain is not None and len(plain) < MOST_WORDS:
            code, quick = self._code, self._leaves.plain_test
            if len(plain) > 1:
                code.append(operator_word(AND, 0, 1 + len(plain)))
            for test in plain:
                code.append(quick(test))
        else:
            try:
                self._top(subscription.condition)  # type: ignore[arg-type]
            except TooManyWords:
                del self._code[begin:]
                raise
        self._offsets.append(len(self._code))

    def select(self, numbers: Iterable[int]) -> Draft:
        """Return a draft of some of the selectors, in the order given."""
        new = Draft(self._terms)
        predicates = list(self._leaves.predicates)
        for number in numbers:
            for word in self._code[self._offsets[number] : self._offsets[number + 1]]:
                new._code.append(new._leaves.copy_word(self._leaves, predicates, word))
            new._offsets.append(len(new._code))
        return new

    def rules(self) -> Rules:
        """Return the selectors on axes; the record of each is its number."""
        leaves = self._leaves.words()
        code = np.array(self._code, np.uint64)
        is_leaf = code < (AXES << 48)
        code[is_leaf] = leaves.words[code[is_leaf].astype(np.int64)]
        return Rules(
            leaves.axes,
            leaves.sets,
            tuple(self._leaves.predicates),
            code,
            np.array(self._offsets, np.int64),
            np.arange(len(self), dtype=np.int32),
        )

    def _top(self, condition: BoolExpr) -> None:
        """Write a whole selector, without the tests of `strict` that another test implies."""
        if isinstance(condition, And):
            tested = {_tested_attribute(operand) for operand in condition.operands}
            kept = tuple(o for o in condition.operands if _present_attribute(o) not in tested)
            condition = And(kept) if len(kept) > 1 else kept[0]
        became = self._put(condition, True)
        if became != _WRITTEN:
            self._code.append(TRUE if became == _ALWAYS else FALSE)

    def _put(self, expr: BoolExpr, wanted: bool) -> int:
        """Write the condition that a part is certainly true, or certainly false if not `wanted`."""
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
            raise TooManyWords
        place = placement(leaf)
        if place.always:
            return _ALWAYS
        if place.residual:
            self._code.append(self._leaves.predicate(leaf))
            return _WRITTEN
        if place.term is None:
            return _NEVER
        if isinstance(leaf, Not) and all(isinstance(test, Text) for test in place.tests):
            return self._put_other_text(place.term, leaf)
        leaves = self._leaves
        words = [word for test in place.tests for word in leaves.tests(place.term, test, leaf)]
        if leaves.points > self._points_before + MOST_POINTS:
            raise TooManyWords
        words = list(dict.fromkeys(words))  # two text tests of one predicate are one leaf
        if len(words) > 1:
            self._code.append(operator_word(OR, 0, 1 + len(words)))
        self._code.extend(words)
        return _WRITTEN if words else _NEVER

    def _put_other_text(self, term: ValueExpr, leaf: Not) -> int:
        """Write the condition that a term is a text that does not satisfy a test.

        Most texts do not, and phase 1 would have to report every such test for every text. So phase
        1 reports the satisfied tests: the term must be a text, and the test not among them.
        """
        number = self._leaves.predicate(leaf.operand) | 1  # type: ignore[arg-type]
        self._code += (operator_word(AND, 0, 3), self._leaves.any_text(term), number)
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
            raise TooManyWords
        self._code.append(0)
        return len(self._code) - 1

    def _end(self, begin: int, operator: int, low: int, operands: int) -> int:
        if operands == 1 and operator in (AND, OR):
            del self._code[begin]
        else:
            length = len(self._code) - begin
            if length > MOST_WORDS:
                raise TooManyWords
            self._code[begin] = operator_word(operator, low, length)
        return _WRITTEN


def _tested_attribute(operand: BoolExpr) -> Attribute | None:
    """Return the attribute that must have a value for a comparison to hold; None for others."""
    found: object = None
    if isinstance(operand, Comparison):
        found = operand.left
    elif isinstance(operand, (Between, In)):
        found = operand.operand
    return found if isinstance(found, Attribute) else None


def _present_attribute(operand: BoolExpr) -> Attribute | bool:
    """Return the attribute of `attribute IS NOT NULL`; for others False, which nothing tests."""
    if isinstance(operand, Not) and isinstance(operand.operand, IsNull):
        tested = operand.operand.operand
        if isinstance(tested, Attribute):
            return tested
    return False
