"""The values that a term can have, given the schema and the semantics of missing attributes."""

from __future__ import annotations

from collections.abc import Collection

from tamis.covering.regions import ALL_TYPES, NUMBERS
from tamis.language.expr import Arithmetic, Attribute, Call, Negate, ValueExpr
from tamis.paths import Path
from tamis.schema import Schema
from tamis.values import Type

_SCALARS = NUMBERS | {Type.BOOL, Type.STR, Type.TIMESTAMP}


class Domains:
    """The types of terms, and which terms may be NULL.

    An event that violates its schema is rejected before it is matched, so the schema's declarations
    hold.
    """

    def __init__(self, schema: Schema | None, semantics: str) -> None:
        """Derive the domains from a schema; without one, nothing is certain."""
        self.schema = schema
        self.semantics = semantics
        self._types: dict[Path, Type] = {} if schema is None else schema.types
        self.present: frozenset[Path] = frozenset()
        if schema is not None and semantics == "total":
            self.present = frozenset(schema.types)
        elif schema is not None and semantics == "default":
            self.present = frozenset(schema.defaults)

    def of(self, term: ValueExpr, required: Collection[Path] = ()) -> tuple[frozenset[Type], bool]:
        """Return the types that a term may have, and whether it may be NULL; an over-approximation.

        Args:
            term: The tested term.
            required: Attributes that every relevant event has.
        """
        if isinstance(term, Attribute):
            declared = self._types.get(term.path)
            types = ALL_TYPES if declared is None else frozenset((declared,))
            return types, not (term.path in required or term.path in self.present)
        if isinstance(term, Arithmetic | Negate):
            return NUMBERS, True
        if isinstance(term, Call):
            return (_SCALARS if term.function in ("least", "greatest") else NUMBERS), True
        return ALL_TYPES, True

    def declares(self, path: Path) -> bool:
        """Return whether the schema declares the type of an attribute."""
        return path in self._types
