"""A predicate in a bfposet: stored once, however many subscriptions have it."""

from __future__ import annotations

from functools import cached_property

from tamis.bloom.hashing import Shape, key_of
from tamis.covering.constraint import Constraint, constraint_of
from tamis.language.evaluate import Event, evaluate
from tamis.language.expr import Attribute, Comparison, Literal, Not, Predicate
from tamis.language.printer import literal_text, to_text
from tamis.paths import path_text
from tamis.predicates.placement import placement
from tamis.predicates.shapes import Placement

Leaf = Predicate | Not


class StoredPredicate:
    """An attribute name and an attribute constraint, with the bits of its own filter.

    Attributes:
        predicate: The condition that must be certainly true.
        text: Its canonical text; predicates with the same text are one.
        place: The term that it tests, and the tests.
        key: The hash of the attribute and the constraint.
        places: The bits of its own filter, ascending.
        count: How many subscriptions have it.
    """

    def __init__(self, predicate: Leaf, text: str, shape: Shape) -> None:
        """Create it with a count of 0."""
        self.predicate = predicate
        self.text = text
        self.place: Placement = placement(predicate)
        term = self.place.term
        self.key = key_of("" if term is None else to_text(term), text)
        self.places = sorted(set(shape.places(self.key)))
        self.count = 0

    @cached_property
    def constraint(self) -> Constraint | None:
        """The constraint that covering compares; None if the predicate has several terms."""
        found = constraint_of(self.predicate)
        return None if found is None else found[1]

    def covers(self, other: StoredPredicate) -> bool:
        """Return whether it is true of every event that the other is true of."""
        if self.constraint is None or other.constraint is None:
            return self.text == other.text
        return self.constraint.covers(other.constraint)

    def holds(self, event: Event) -> bool:
        """Return whether it is certainly true of an event."""
        return evaluate(self.predicate, event) is True


def canonical_text(predicate: Leaf) -> str:
    """Return the text that identifies a predicate; rewrite the predicate first.

    Texts are used and not trees, because 0.0 and -0.0 are equal in a tree but differ in a text: the
    content of a filter must not depend on which of them came first.
    """
    if type(predicate) is Comparison:  # hot: most are `attribute op literal`
        left, right = predicate.left, predicate.right
        if type(left) is Attribute and type(right) is Literal:
            return f"{path_text(left.path)} {predicate.op} {literal_text(right.value)}"
    return to_text(predicate)
