"""The terms of selectors, by number; shared by all segments of an engine."""

from __future__ import annotations

from tamis.language.expr import Attribute, Custom, Expr, ValueExpr, walk
from tamis.paths import Path


def calls_function(expr: Expr) -> bool:
    """Return whether evaluating an expression calls a function of the user."""
    return any(isinstance(part, Custom) for part in walk(expr))


class Terms:
    """Attributes and derived values, numbered. The number (*slot*) of a term never changes.

    Attributes:
        by_path: The numbers of attributes.
        derived: The numbers of the other terms, which are computed for every batch.
    """

    def __init__(self) -> None:
        """Create an empty collection."""
        self.by_path: dict[Path, int] = {}
        self.derived: dict[ValueExpr, int] = {}
        self._terms: list[ValueExpr] = []

    def __len__(self) -> int:
        """Return the number of terms."""
        return len(self._terms)

    def __getitem__(self, slot: int) -> ValueExpr:
        """Return the term with a number."""
        return self._terms[slot]

    def calls_function(self, slot: int) -> bool:
        """Return whether computing a term calls a function of the user."""
        return calls_function(self._terms[slot])

    def slot(self, term: ValueExpr) -> int:
        """Return the number of a term; assign one if it has none."""
        if isinstance(term, Attribute):
            return self.slot_of_path(term.path)
        slot = self.derived.get(term)
        if slot is None:
            slot = self.derived[term] = len(self._terms)
            self._terms.append(term)
        return slot

    def slot_of_path(self, path: Path) -> int:
        """Return the number of an attribute; assign one if it has none."""
        slot = self.by_path.get(path)
        if slot is None:
            slot = self.by_path[path] = len(self._terms)
            self._terms.append(Attribute(path))
        return slot
