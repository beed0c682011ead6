"""The interfaces of Listing 2 of the DEBS 2008 paper; an address is any hashable object.

Listing 1, for brokers that match again, is `routing/router.py`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Protocol, runtime_checkable

from tamis.bloom.filter import Bloom
from tamis.bloom.poset_predicate import Leaf
from tamis.language.evaluate import Event


@runtime_checkable
class IBFPoset(Protocol):
    """Routing by Bloom filters (Listing 2): the first broker computes the filter of an event."""

    def subscribe(self, predicates: Iterable[Leaf], address: Hashable) -> set[Hashable]:
        """Store a conjunction and return the addresses to forward it to."""

    def match(self, event: Event) -> Bloom:
        """Return the filter of an event."""


@runtime_checkable
class IBFTree(Protocol):
    """Routing by Bloom filters (Listing 2): every broker finds where a filter must go."""

    def insert(self, bloom: Bloom, address: Hashable) -> None:
        """Store a subscription's filter."""

    def publish(self, bloom: Bloom) -> set[Hashable]:
        """Return the forward set of an event with this filter."""
