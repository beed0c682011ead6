"""A filter with its place among those that cover it and those that it covers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from tamis.covering.constraint import NULL
from tamis.covering.coverage import ConjunctiveFilter
from tamis.language.evaluate import Event, evaluate, value_of
from tamis.language.expr import Attribute, ValueExpr
from tamis.values import Value

# As many as make two digits of a Python integer.
_BITS = 60
ALL_BITS: Final = (1 << _BITS) - 1


class FilterNode:
    """A filter, the subscriptions that are this filter, and its neighbours.

    Most pairs of filters, and most pairs of a filter and an event, have to do with different
    attributes. A bit per term tells so without looking further: several terms may share a bit.

    Attributes:
        filter: What an event must satisfy.
        mask: The bits of its terms: what covers it has no others.
        needs: The bits of those that an event must have.
        codes: The subscriptions, as a set in their order.
        parents: What covers it, next above it.
        children: What it covers, next below it.
    """

    __slots__ = ("children", "codes", "filter", "mask", "needs", "parents")

    def __init__(self, filter: ConjunctiveFilter) -> None:
        """Begin alone."""
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
        """Whether all that satisfies the other filter satisfies this one."""
        return self.mask & other.mask == self.mask and self.filter.covers(other.filter)

    def link(self, child: FilterNode) -> None:
        """Put a node right below."""
        self.children[child] = None
        child.parents[self] = None

    def unlink(self, child: FilterNode) -> None:
        """No longer have a node right below, if it was."""
        if self.children.pop(child, _NOT_THERE) is None:
            del child.parents[self]


_NOT_THERE: Final = object()


def related_nodes(candidates: Iterable[FilterNode], node: FilterNode) -> list[FilterNode]:
    """Those that may cover a node, or that it may cover: one has all terms of the other."""
    mask = node.mask
    # White-hot, and all of the work where nothing covers anything.
    return [e for e in candidates if (shared := e.mask & mask) == mask or shared == e.mask]


class EventValues:
    """An event, with what was looked up in it.

    Attributes:
        absent: The bits of all that the event does not have.
    """

    __slots__ = ("_event", "_values", "absent")

    def __init__(self, event: Event) -> None:
        """Take an event."""
        self._event = event
        self._values: dict[ValueExpr, Value] = {}
        self.absent = ALL_BITS ^ _present_bits(event, ())

    def satisfies(self, node: FilterNode) -> bool:
        """Whether the event satisfies the filter of a node."""
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
    """The bits of all attributes of an event, those inside of objects too."""
    mask = 0
    for name, value in event.items():
        if value is not None:
            here = (*path, name)
            mask |= 1 << hash(here) % _BITS
            if isinstance(value, Mapping):
                mask |= _present_bits(value, here)
    return mask
