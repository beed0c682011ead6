"""Predicates that can never be unknown, derived from the schema and the semantics."""

from __future__ import annotations

from collections.abc import Collection

from tamis.covering.domains import Domains
from tamis.covering.regions import regions, term_of
from tamis.language.expr import Attribute, Predicate
from tamis.paths import Path


def is_two_valued(domains: Domains, predicate: Predicate, required: Collection[Path]) -> bool:
    """Return whether a predicate is true or false, and never unknown, of every relevant event.

    Args:
        domains: The possible values of terms.
        predicate: The predicate.
        required: Attributes that every relevant event has.
    """
    term = term_of(predicate)
    if not isinstance(term, Attribute) or not domains.declares(term.path):
        return False
    types, nullable = domains.of(term, required)
    truths = regions([predicate], types, nullable)
    return truths.complete and not any(None in cell.vector for cell in truths.cells)
