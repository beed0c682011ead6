"""What a neighbour has to be told of many interests: those that no other one covers.

Each of the others hangs below one that covers it, and is looked at again when that one goes. So
what is told is always enough: it covers all there is. Of several that ask for the same the first
one is told.
"""

from __future__ import annotations

from tamis.routing.cover_index import CoverIndex
from tamis.routing.interest import Interest

# What changes: an interest, and whether it is told from now on, or no longer.
InterestChange = tuple[Interest, bool]


class MaximalInterests:
    """Interests, and the maximal ones among them.

    >>> wide, narrow = Interest.parse("x > 5"), Interest.parse("x > 15")
    >>> maximal = Maximal()
    >>> maximal.add(narrow)
    [(Interest('x > 15'), True)]
    >>> maximal.add(wide)
    [(Interest('x > 5'), True), (Interest('x > 15'), False)]
    >>> maximal.remove(wide)
    [(Interest('x > 15'), True), (Interest('x > 5'), False)]

    Attributes:
        told: The maximal ones.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.maximal = CoverIndex()
        # By maximal interest, those that hang below it; and by those, where they hang.
        self._below: dict[Interest, dict[Interest, None]] = {}
        self._above: dict[Interest, Interest] = {}
        # Those that no event satisfies: nobody needs to be told.
        self._void: set[Interest] = set()

    def __len__(self) -> int:
        """How many there are, told or not."""
        return len(self.maximal) + len(self._above) + len(self._void)

    def add(self, interest: Interest) -> list[InterestChange]:
        """Take one that is not there; what changes, in the order in which it is to be told."""
        if not interest.coverage.filters:
            self._void.add(interest)
            return []
        above = self.maximal.find_cover(interest)
        if above is not None:
            self._put_below(interest, above)
            return []
        fallen = list(self.maximal.covered_by(interest))
        self._below[interest] = {}
        self.maximal.add(interest)
        for each in fallen:
            self.maximal.remove(each)
            for covered in (each, *self._below.pop(each)):
                self._put_below(covered, interest)
        return [(interest, True), *((each, False) for each in fallen)]

    def remove(self, interest: Interest) -> list[InterestChange]:
        """Forget one; those that only it covered are told before it is taken back.

        Raises:
            KeyError: It is not there.
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
            for each, wanted in self.add(orphan):
                if wanted:
                    changes[each] = True
                elif changes.pop(each, None) is None:  # one that stood here all the time
                    changes[each] = False
        added = [(each, True) for each, wanted in changes.items() if wanted]
        gone = [(each, False) for each, wanted in changes.items() if not wanted]
        return [*added, *gone, (interest, False)]

    def _put_below(self, interest: Interest, above: Interest) -> None:
        self._below[above][interest] = None
        self._above[interest] = above
