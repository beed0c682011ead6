"""The interfaces of the DEBS 2008 paper, Listing 2; an address is anything hashable.

Listing 1, of brokers that match again, is `routing/router.py`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Protocol, runtime_checkable

from tamis.bloom.filter import Bloom
from tamis.bloom.poset_predicate import Leaf
from tamis.language.evaluate import Event


@runtime_checkable
class IBFPoset(Protocol):
    """Routing by Bloom filters (Listing 2): the first broker makes the filter of an event."""

    def subscribe(self, predicates: Iterable[Leaf], address: Hashable) -> set[Hashable]:
        """Store a conjunction; where to send it on."""

    def match(self, event: Event) -> Bloom:
        """The filter of an event."""


@runtime_checkable
class IBFTree(Protocol):
    """Routing by Bloom filters (Listing 2): every broker finds where a filter goes."""

    def insert(self, bloom: Bloom, address: Hashable) -> None:
        """Store a subscription's filter."""

    def publish(self, bloom: Bloom) -> set[Hashable]:
        """The forward set of an event with this filter."""
