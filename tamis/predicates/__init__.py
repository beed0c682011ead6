"""Phase 1 of matching, shared by the engines: the predicates that each event satisfies."""

from __future__ import annotations

from tamis.predicates.predicate_index import PredicateIndex, SatisfiedPredicates

__all__ = ["PredicateIndex", "SatisfiedPredicates"]
