"""The terms that selectors look at, by number: what all segments of an engine agree on."""

from __future__ import annotations

from tamis.language.expr import Attribute, Custom, Expr, ValueExpr, walk
from tamis.paths import Path


def calls_function(expr: Expr) -> bool:
    """Whether a function of the caller's must be called to know what an expression comes to."""
    return any(isinstance(part, Custom) for part in walk(expr))


class Terms:
    """Attributes and derived values; a term keeps its number.

    Attributes:
        by_path: The numbers of attributes.
        derived: Those of the other terms, which are computed for every batch.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.by_path: dict[Path, int] = {}
        self.derived: dict[ValueExpr, int] = {}
        self._terms: list[ValueExpr] = []

    def __len__(self) -> int:
        """How many there are."""
        return len(self._terms)

    def __getitem__(self, slot: int) -> ValueExpr:
        """The term of a number."""
        return self._terms[slot]

    def calls_function(self, slot: int) -> bool:
        """Whether a function of the caller's must be called to know a term."""
        return calls_function(self._terms[slot])

    def slot(self, term: ValueExpr) -> int:
        """The number of a term, which it gets now if it has none."""
        if isinstance(term, Attribute):
            return self.slot_of_path(term.path)
        slot = self.derived.get(term)
        if slot is None:
            slot = self.derived[term] = len(self._terms)
            self._terms.append(term)
        return slot

    def slot_of_path(self, path: Path) -> int:
        """The number of an attribute, which it gets now if it has none."""
        slot = self.by_path.get(path)
        if slot is None:
            slot = self.by_path[path] = len(self._terms)
            self._terms.append(Attribute(path))
        return slot
