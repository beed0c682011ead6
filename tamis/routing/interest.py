"""What somebody wants, as brokers tell it each other: a selector, and nothing of whose it is."""

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

MOST = 64  # conjunctions of one selector; with more of them filters cannot tell


class Interest:
    """A selector by its text: two of the same text are one, at every broker.

    >>> Interest.parse("x = 1 OR y > 2") == Interest.parse("x = 1 OR y > 2")
    True
    >>> from tamis.engines.subscription import Subscription
    >>> Interest.of(Subscription.of("s", "FIRST x = 1 THEN y = 2")).text  # either may be a step
    'x = 1 OR y = 2'

    Attributes:
        text: The selector, as it goes from broker to broker.
        condition: The same as a tree, in its common form.
    """

    def __init__(self, text: str, selector: BoolExpr) -> None:
        """Take both as they are; see `of` and `parse`."""
        self.text = text
        rewritten = rewrite(selector)
        assert not isinstance(rewritten, Sequence)
        self.condition: BoolExpr = rewritten

    @classmethod
    def of(cls, subscription: Subscription) -> Interest:
        """What a subscription must be shown: of a sequence, all that may be one of its steps."""
        whole = subscription.full_selector
        if isinstance(whole, Sequence):
            whole = Or(whole.steps)
        return cls(to_text(whole), whole)

    @classmethod
    def parse(cls, text: str) -> Interest:
        """Read what another broker has told.

        Raises:
            SelectorError: It is no selector.
            InputError: It is a sequence.
        """
        selector = parse(text)
        if isinstance(selector, Sequence):
            raise InputError("a broker asks for single events, not for sequences")
        return cls(text, selector)

    @cached_property
    def key(self) -> str:
        """A short name, the same at every broker."""
        return xxhash.xxh3_128_hexdigest(self.text.encode())

    @cached_property
    def coverage(self) -> Coverage:
        """What covering goes by."""
        return coverage_of(self.condition)

    @cached_property
    def conjunctions(self) -> list[Conjunction] | None:
        """What filters go by: conjunctions of which one must hold; None if there are too many."""
        found = disjuncts(self.condition, MOST)
        return found and [tuple(dict.fromkeys(conjunction)) for conjunction in found]

    def covers(self, other: Interest) -> bool:
        """Whether whoever is sent all that this one asks for gets all that the other asks for."""
        return self.coverage.covers(other.coverage)

    def __eq__(self, other: object) -> bool:
        """By text."""
        return self.text == other.text if isinstance(other, Interest) else NotImplemented

    def __hash__(self) -> int:
        """By text."""
        return hash(self.text)

    def __repr__(self) -> str:
        """As the text."""
        return f"Interest({self.text!r})"
