"""An interest: a selector as brokers exchange it, without its subscriber."""

from __future__ import annotations

from functools import cached_property

import xxhash

from tamis.covering.coverage import Coverage, coverage_of
from tamis.engines.subscription import Subscription
from tamis.errors import InputError
from tamis.language import parse
from tamis.language.disjuncts import Conjunction, disjuncts
from tamis.language.expr import BoolExpr, Or, Sequence
from tamis.language.printer import to_text
from tamis.language.rewrite import rewrite

MOST = 64  # conjunctions of one selector; filters do not support more


class Interest:
    """A selector, identified by its text: equal texts are one interest, at every broker.

    >>> Interest.parse("x = 1 OR y > 2") == Interest.parse("x = 1 OR y > 2")
    True
    >>> from tamis.engines.subscription import Subscription
    >>> Interest.of(Subscription.of("s", "FIRST x = 1 THEN y = 2")).text  # either may be a step
    'x = 1 OR y = 2'

    Attributes:
        text: The selector as brokers exchange it.
        condition: The rewritten selector.
    """

    def __init__(self, text: str, selector: BoolExpr) -> None:
        """Wrap a text and its parsed selector; see `of` and `parse`."""
        self.text = text
        rewritten = rewrite(selector)
        assert not isinstance(rewritten, Sequence)
        self.condition: BoolExpr = rewritten

    @classmethod
    def of(cls, subscription: Subscription) -> Interest:
        """Return the interest of a subscription; of a sequence, the OR of its steps."""
        selector = subscription.full_selector
        if isinstance(selector, Sequence):
            selector = Or(selector.steps)
        return cls(to_text(selector), selector)

    @classmethod
    def parse(cls, text: str) -> Interest:
        """Parse an interest that another broker sent.

        Raises:
            SelectorError: It is not a selector.
            InputError: It is a sequence.
        """
        selector = parse(text)
        if isinstance(selector, Sequence):
            raise InputError("a broker can request single events only, not sequences")
        return cls(text, selector)

    @cached_property
    def key(self) -> str:
        """A short name, the same at every broker."""
        return xxhash.xxh3_128_hexdigest(self.text.encode())

    @cached_property
    def coverage(self) -> Coverage:
        """The normal form that covering compares."""
        return coverage_of(self.condition)

    @cached_property
    def conjunctions(self) -> list[Conjunction] | None:
        """The disjunctive normal form that filters use; None if it has too many conjunctions."""
        conjunctions = disjuncts(self.condition, MOST)
        return conjunctions and [tuple(dict.fromkeys(conjunction)) for conjunction in conjunctions]

    def covers(self, other: Interest) -> bool:
        """Return whether every event that matches the other interest matches this one."""
        return self.coverage.covers(other.coverage)

    def __eq__(self, other: object) -> bool:
        """Return whether the texts are equal."""
        return self.text == other.text if isinstance(other, Interest) else NotImplemented

    def __hash__(self) -> int:
        """Return the hash of the text."""
        return hash(self.text)

    def __repr__(self) -> str:
        """Return the text, marked as an interest."""
        return f"Interest({self.text!r})"
