"""A Hasse diagram: predicates linked to those that they cover, with none in between.

As in the posets of Siena, an event that does not satisfy a predicate satisfies none below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tamis.bloom.poset_predicate import StoredPredicate


class CoverGroup:
    """Predicates that cover each other, so that one of them represents all.

    Attributes:
        members: The predicates.
        above: The groups that cover this one, with none in between.
        below: The groups that this one covers, with none in between.
    """

    __slots__ = ("above", "below", "members")

    def __init__(self, first: StoredPredicate) -> None:
        """Create a group of one."""
        self.members = [first]
        self.above: dict[CoverGroup, None] = {}
        self.below: dict[CoverGroup, None] = {}

    def covers(self, other: StoredPredicate) -> bool:
        """Return whether it covers a predicate."""
        return self.members[0].covers(other)


class HasseDiagram:
    """Groups of predicates, linked by covering.

    Attributes:
        roots: The groups that no other covers.
    """

    def __init__(self) -> None:
        """Create an empty diagram."""
        self.roots: dict[CoverGroup, None] = {}
        self._group: dict[StoredPredicate, CoverGroup] = {}

    def __len__(self) -> int:
        """Return the number of predicates."""
        return len(self._group)

    def __iter__(self) -> Iterator[CoverGroup]:
        """Iterate over all groups, each after all that cover it."""
        waiting = {group: len(group.above) for group in dict.fromkeys(self._group.values())}
        ready = list(self.roots)
        while ready:
            group = ready.pop()
            yield group
            for below in group.below:
                waiting[below] -= 1
                if not waiting[below]:
                    ready.append(below)

    def add(self, stored: StoredPredicate) -> None:
        """Add a predicate."""
        above = self._lowest_above(stored)
        for group in above:
            if stored.covers(group.members[0]):
                group.members.append(stored)
                self._group[stored] = group
                return
        group = CoverGroup(stored)
        below = self._highest_below(stored, above)
        for upper in above:
            for lower in below:
                _unlink(upper, lower)
            _link(upper, group)
        for lower in below:
            self.roots.pop(lower, None)
            _link(group, lower)
        if not above:
            self.roots[group] = None
        self._group[stored] = group

    def remove(self, stored: StoredPredicate) -> None:
        """Remove a predicate."""
        group = self._group.pop(stored)
        group.members.remove(stored)
        if group.members:
            return
        above, below = list(group.above), list(group.below)
        for upper in above:
            _unlink(upper, group)
        for lower in below:
            _unlink(group, lower)
        self.roots.pop(group, None)
        for lower in below:
            for upper in above:
                if not any(other.covers(lower.members[0]) for other in upper.below):
                    _link(upper, lower)
            if not lower.above:
                self.roots[lower] = None

    def satisfied_predicates(
        self, holds: Callable[[StoredPredicate], bool]
    ) -> Iterator[StoredPredicate]:
        """Iterate over the predicates that hold, top down: below one that fails, all fail."""
        seen: set[CoverGroup] = set()
        pending = list(self.roots)
        while pending:
            group = pending.pop()
            if group in seen:
                continue
            seen.add(group)
            if holds(group.members[0]):
                yield from group.members
                pending += group.below

    def covering_predicates(self, stored: StoredPredicate) -> Iterator[StoredPredicate]:
        """Iterate over the predicates that cover one, including itself if it is in the diagram."""
        return self.satisfied_predicates(lambda other: other.covers(stored))

    def _lowest_above(self, stored: StoredPredicate) -> list[CoverGroup]:
        """Return the groups that cover a predicate and have no group below that does."""
        seen: set[CoverGroup] = set()
        lowest = []
        pending = [root for root in self.roots if root.covers(stored)]
        while pending:
            group = pending.pop()
            if group in seen:
                continue
            seen.add(group)
            closer = [below for below in group.below if below.covers(stored)]
            pending += closer
            if not closer:
                lowest.append(group)
        return lowest

    def _highest_below(self, stored: StoredPredicate, above: list[CoverGroup]) -> list[CoverGroup]:
        """Return the groups that a predicate covers and that are below no other such group.

        They are below all groups that cover the predicate, so searching below one of these is
        enough.
        """
        seen: set[CoverGroup] = set()
        highest: list[CoverGroup] = []
        pending = list(above[0].below) if above else list(self.roots)
        while pending:
            group = pending.pop()
            if group in seen:
                continue
            seen.add(group)
            if stored.covers(group.members[0]):
                highest.append(group)
            else:
                pending += group.below
        # Another path may have reached a group that is below another of them.
        return [
            group
            for group in highest
            if not any(other is not group and other.covers(group.members[0]) for other in highest)
        ]


def _link(upper: CoverGroup, lower: CoverGroup) -> None:
    upper.below[lower] = None
    lower.above[upper] = None


def _unlink(upper: CoverGroup, lower: CoverGroup) -> None:
    upper.below.pop(lower, None)
    lower.above.pop(upper, None)
