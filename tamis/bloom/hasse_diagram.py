"""A Hasse diagram: predicates under covering, each above those that it covers and none between.

As in the posets of Siena: an event that does not satisfy a predicate satisfies none below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tamis.bloom.poset_predicate import StoredPredicate


class CoverGroup:
    """Predicates that cover each other, so that one of them speaks for all.

    Attributes:
        members: The predicates.
        above: The groups that cover this one, with none between.
        below: The groups that this one covers, with none between.
    """

    __slots__ = ("above", "below", "members")

    def __init__(self, first: StoredPredicate) -> None:
        """Begin with one."""
        self.members = [first]
        self.above: dict[CoverGroup, None] = {}
        self.below: dict[CoverGroup, None] = {}

    def covers(self, other: StoredPredicate) -> bool:
        """Whether it covers a predicate."""
        return self.members[0].covers(other)


class HasseDiagram:
    """Groups of predicates, linked by covering.

    Attributes:
        roots: The groups that no other covers.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.roots: dict[CoverGroup, None] = {}
        self._group: dict[StoredPredicate, CoverGroup] = {}

    def __len__(self) -> int:
        """How many predicates there are."""
        return len(self._group)

    def __iter__(self) -> Iterator[CoverGroup]:
        """All groups, each after all that cover it."""
        waiting = {group: len(group.above) for group in dict.fromkeys(self._group.values())}
        ready = list(self.roots)
        while ready:
            group = ready.pop()
            yield group
            for below in group.below:
                waiting[below] -= 1
                if not waiting[below]:
                    ready.append(below)

    def add(self, held: StoredPredicate) -> None:
        """Put a predicate where it belongs."""
        above = self._lowest_above(held)
        for group in above:
            if held.covers(group.members[0]):
                group.members.append(held)
                self._group[held] = group
                return
        group = CoverGroup(held)
        below = self._highest_below(held, above)
        for upper in above:
            for lower in below:
                _unlink(upper, lower)
            _link(upper, group)
        for lower in below:
            self.roots.pop(lower, None)
            _link(group, lower)
        if not above:
            self.roots[group] = None
        self._group[held] = group

    def remove(self, held: StoredPredicate) -> None:
        """Take a predicate out."""
        group = self._group.pop(held)
        group.members.remove(held)
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
        """All predicates that hold, asked from the top: below one that does not, none does."""
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

    def covering_predicates(self, held: StoredPredicate) -> Iterator[StoredPredicate]:
        """All predicates that cover one, itself among them if it is here."""
        return self.satisfied_predicates(lambda other: other.covers(held))

    def _lowest_above(self, held: StoredPredicate) -> list[CoverGroup]:
        """The groups that cover a predicate, and of which none below does."""
        seen: set[CoverGroup] = set()
        found = []
        pending = [root for root in self.roots if root.covers(held)]
        while pending:
            group = pending.pop()
            if group in seen:
                continue
            seen.add(group)
            closer = [below for below in group.below if below.covers(held)]
            pending += closer
            if not closer:
                found.append(group)
        return found

    def _highest_below(self, held: StoredPredicate, above: list[CoverGroup]) -> list[CoverGroup]:
        """The groups that a predicate covers, and of which none above is covered by it.

        They are below all groups that cover it, so one of these is enough to look under.
        """
        seen: set[CoverGroup] = set()
        found: list[CoverGroup] = []
        pending = list(above[0].below) if above else list(self.roots)
        while pending:
            group = pending.pop()
            if group in seen:
                continue
            seen.add(group)
            if held.covers(group.members[0]):
                found.append(group)
            else:
                pending += group.below
        # Another way down may have led to one that is below another of them.
        return [
            group
            for group in found
            if not any(other is not group and other.covers(group.members[0]) for other in found)
        ]


def _link(upper: CoverGroup, lower: CoverGroup) -> None:
    upper.below[lower] = None
    lower.above[upper] = None


def _unlink(upper: CoverGroup, lower: CoverGroup) -> None:
    upper.below.pop(lower, None)
    lower.above.pop(upper, None)
