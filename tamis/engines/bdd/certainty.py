"""What is certain about the values of events, from the schema and the semantics.

An event that breaks its schema is refused before an engine sees it, so a declared attribute is of
its type or NULL; and NULL it is not where the semantics require or fill it in.
"""

from __future__ import annotations

from collections.abc import Collection

from tamis.language.expr import Attribute, Predicate, ValueExpr
from tamis.paths import Path
from tamis.predicates.regions import ALL_TYPES, regions, term_of
from tamis.schema import Schema
from tamis.values import Type


class Certainty:
    """What values a term can have."""

    def __init__(self, schema: Schema | None, semantics: str) -> None:
        """Take what a matcher was told; without a schema, nothing is certain."""
        self._types = {} if schema is None else schema.types
        self._present: Collection[Path] = ()
        if schema is not None and semantics == "total":
            self._present = schema.types.keys()
        elif schema is not None and semantics == "default":
            self._present = schema.defaults.keys()

    def values(self, term: ValueExpr, required: Collection[Path]) -> tuple[Collection[Type], bool]:
        """The types that a term may have, and whether it may be NULL.

        Args:
            term: What is tested.
            required: Attributes that every event that matters has.
        """
        if not isinstance(term, Attribute):
            return ALL_TYPES, True  # more than can be, which does no harm
        declared = self._types.get(term.path)
        types = ALL_TYPES if declared is None else (declared,)
        return types, not (term.path in required or term.path in self._present)

    def decides(self, predicate: Predicate, required: Collection[Path]) -> bool:
        """Whether a predicate is true or false of every event that matters, and never unknown."""
        term = term_of(predicate)
        if not isinstance(term, Attribute) or term.path not in self._types:
            return False
        types, nullable = self.values(term, required)
        found = regions([predicate], types, nullable)
        return found.complete and not any(None in cell.vector for cell in found.cells)
