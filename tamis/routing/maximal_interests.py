"""The maximal interests: those that no other interest covers, to be sent to a neighbour.

Each other interest is attached to one that covers it, and is checked again when that one is
removed. So the maximal interests always cover all interests. Of several equivalent interests, the
first is maximal.
"""

from __future__ import annotations

from tamis.routing.cover_index import CoverIndex
from tamis.routing.interest import Interest

# An interest, and whether it becomes maximal or ceases to be.
InterestChange = tuple[Interest, bool]


class MaximalInterests:
    """Interests, and the maximal ones among them.

    >>> wide, narrow = Interest.parse("x > 5"), Interest.parse("x > 15")
    >>> interests = MaximalInterests()
    >>> interests.add(narrow)
    [(Interest('x > 15'), True)]
    >>> interests.add(wide)
    [(Interest('x > 5'), True), (Interest('x > 15'), False)]
    >>> interests.remove(wide)
    [(Interest('x > 15'), True), (Interest('x > 5'), False)]

    Attributes:
        maximal: The maximal interests.
    """

    def __init__(self) -> None:
        """Start without interests."""
        self.maximal = CoverIndex()
        # By maximal interest, those attached to it; and by those, the one they are attached to.
        self._below: dict[Interest, dict[Interest, None]] = {}
        self._above: dict[Interest, Interest] = {}
        # Interests that no event satisfies: they need not be sent.
        self._void: set[Interest] = set()

    def __len__(self) -> int:
        """Return the number of interests, maximal or not."""
        return len(self.maximal) + len(self._above) + len(self._void)

    def add(self, interest: Interest) -> list[InterestChange]:
        """Add a new interest; return the changes in the order in which to send them."""
        if not interest.coverage.filters:
            self._void.add(interest)
            return []
        above = self.maximal.find_cover(interest)
        if above is not None:
            self._put_below(interest, above)
            return []
        covered_before = list(self.maximal.covered_by(interest))
        self._below[interest] = {}
        self.maximal.add(interest)
        for each in covered_before:
            self.maximal.remove(each)
            for covered in (each, *self._below.pop(each)):
                self._put_below(covered, interest)
        return [(interest, True), *((each, False) for each in covered_before)]

    def remove(self, interest: Interest) -> list[InterestChange]:
        """Remove an interest; those that only it covered are sent before it is withdrawn.

        Raises:
            KeyError: It was not added.
        """
        if interest in self._void:
            self._void.remove(interest)
            return []
        if interest in self._above:
            del self._below[self._above.pop(interest)][interest]
            return []
        orphans = self._below.pop(interest)
        self.maximal.remove(interest)
        changes: dict[Interest, bool] = {}
        for orphan in orphans:
            del self._above[orphan]
        for orphan in orphans:
            for each, maximal in self.add(orphan):
                if maximal:
                    changes[each] = True
                elif changes.pop(each, None) is None:  # one that was maximal before
                    changes[each] = False
        added = [(each, True) for each, maximal in changes.items() if maximal]
        withdrawn = [(each, False) for each, maximal in changes.items() if not maximal]
        return [*added, *withdrawn, (interest, False)]

    def _put_below(self, interest: Interest, above: Interest) -> None:
        self._below[above][interest] = None
        self._above[interest] = above
