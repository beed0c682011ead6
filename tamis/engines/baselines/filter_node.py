"""A filter node, linked to the filters that cover it and to those that it covers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from tamis.covering.constraint import NULL
from tamis.covering.coverage import ConjunctiveFilter
from tamis.language.evaluate import Event, evaluate, value_of
from tamis.language.expr import Attribute, ValueExpr
from tamis.values import Value

# Two digits of a Python integer have this many bits.
_BITS = 60
ALL_BITS: Final = (1 << _BITS) - 1


class FilterNode:
    """A filter, the subscriptions with this filter, and its neighbours.

    Most pairs of filters, and most pairs of a filter and an event, involve different attributes. A
    bit per term detects that cheaply; several terms may share a bit.

    Attributes:
        filter: The condition that an event must satisfy.
        mask: The bits of its terms: a filter that covers this one has no other bits.
        needs: The bits of the terms that an event must have.
        codes: The subscriptions, as an ordered set.
        parents: The filters directly above, which cover it.
        children: The filters directly below, which it covers.
    """

    __slots__ = ("children", "codes", "filter", "mask", "needs", "parents")

    def __init__(self, filter: ConjunctiveFilter) -> None:
        """Create a node without neighbours."""
        self.filter = filter
        self.mask = self.needs = 0
        for term, constraint in filter.terms.items():
            bit = _bit(term)
            self.mask |= bit
            if isinstance(term, Attribute) and not constraint.kinds & NULL:
                self.needs |= bit
        self.codes: dict[int, None] = {}
        self.parents: dict[FilterNode, None] = {}
        self.children: dict[FilterNode, None] = {}

    def covers(self, other: FilterNode) -> bool:
        """Return whether every event that satisfies the other filter satisfies this one."""
        return self.mask & other.mask == self.mask and self.filter.covers(other.filter)

    def link(self, child: FilterNode) -> None:
        """Add a node directly below."""
        self.children[child] = None
        child.parents[self] = None

    def unlink(self, child: FilterNode) -> None:
        """Remove a node from those directly below, if it is one."""
        if self.children.pop(child, _ABSENT) is None:
            del child.parents[self]


_ABSENT: Final = object()


def related_nodes(candidates: Iterable[FilterNode], node: FilterNode) -> list[FilterNode]:
    """Return the candidates that may cover a node or be covered by it: by their terms."""
    mask = node.mask
    # White-hot: this is all the work where no filter covers another.
    return [e for e in candidates if (shared := e.mask & mask) == mask or shared == e.mask]


class EventValues:
    """An event, with a cache of its values.

    Attributes:
        absent: The bits of all terms that the event lacks.
    """

    __slots__ = ("_event", "_values", "absent")

    def __init__(self, event: Event) -> None:
        """Wrap an event."""
        self._event = event
        self._values: dict[ValueExpr, Value] = {}
        self.absent = ALL_BITS ^ _present_bits(event, ())

    def satisfies(self, node: FilterNode) -> bool:
        """Return whether the event satisfies the filter of a node."""
        if node.needs & self.absent:
            return False
        values = self._values
        for term, constraint in node.filter.terms.items():
            if term not in values:
                values[term] = value_of(term, self._event)
            if not constraint.allows(values[term]):
                return False
        return all(evaluate(other, self._event) is True for other in node.filter.others)


def _bit(term: ValueExpr) -> int:
    return 1 << hash(term.path if isinstance(term, Attribute) else term) % _BITS


def _present_bits(event: Event, path: tuple[str, ...]) -> int:
    """Return the bits of all attributes of an event, including those in nested objects."""
    mask = 0
    for name, value in event.items():
        if value is not None:
            here = (*path, name)
            mask |= 1 << hash(here) % _BITS
            if isinstance(value, Mapping):
                mask |= _present_bits(value, here)
    return mask
