"""An index of interests that finds covering and covered ones without comparing all pairs.

A conjunction can cover another one only if the other constrains each of its terms and, where it
requires one value, requires the same value. So interests are indexed under terms and under
equalities.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from tamis.covering.coverage import ConjunctiveFilter
from tamis.routing.interest import Interest

_ANYTHING = "anything"

InterestSet = dict[Interest, None]


class CoverIndex:
    """A set of interests.

    >>> index = CoverIndex()
    >>> wide, narrow = Interest.parse("x > 5"), Interest.parse("x > 15 AND y = 0")
    >>> index.add(wide)
    >>> index.find_cover(narrow), list(index.covered_by(Interest.parse("x > 0")))
    (Interest('x > 5'), [Interest('x > 5')])
    >>> index.find_cover(Interest.parse("y = 0")) is None
    True
    """

    def __init__(self) -> None:
        """Create an empty index."""
        # By one key of each conjunction; queried with all keys of another conjunction.
        self._general: dict[Hashable, InterestSet] = {}
        # By all keys of the first conjunction; queried with one key of another conjunction.
        self._special: dict[Hashable, InterestSet] = {}
        # The keys of each interest in both; stored, because a NaN does not equal another NaN.
        self._filed: dict[Interest, tuple[list[Hashable], list[Hashable]]] = {}

    def __len__(self) -> int:
        """Return the number of interests."""
        return len(self._filed)

    def __contains__(self, interest: Interest) -> bool:
        """Return whether an interest is in the index."""
        return interest in self._filed

    def __iter__(self) -> Iterator[Interest]:
        """Iterate over all interests in the order of addition."""
        return iter(self._filed)

    def add(self, interest: Interest) -> None:
        """Add an interest that some event can satisfy."""
        filters = interest.coverage.filters
        general = list(dict.fromkeys(min(_keys(each), key=self._group_size) for each in filters))
        special = _keys(filters[0])
        self._filed[interest] = general, special
        for groups, keys in ((self._general, general), (self._special, special)):
            for key in keys:
                groups.setdefault(key, {})[interest] = None

    def remove(self, interest: Interest) -> None:
        """Remove an interest."""
        general, special = self._filed.pop(interest)
        for groups, keys in ((self._general, general), (self._special, special)):
            for key in keys:
                del groups[key][interest]
                if not groups[key]:
                    del groups[key]

    def find_cover(self, interest: Interest) -> Interest | None:
        """Return an interest that covers another, not in the index; None if there is none."""
        return next(self.all_covers(interest), None)

    def all_covers(self, interest: Interest) -> Iterator[Interest]:
        """Iterate over the covers of an interest, including itself.

        The index must not change meanwhile.
        """
        seen: set[Interest] = set()
        for key in (_ANYTHING, *_keys(interest.coverage.filters[0])):
            for each in self._general.get(key, ()):
                if each not in seen and each.covers(interest):
                    seen.add(each)
                    yield each

    def covered_by(self, interest: Interest) -> Iterator[Interest]:
        """Iterate over the interests that an interest covers.

        The index must not change meanwhile.
        """
        seen: set[Interest] = set()
        for each in interest.coverage.filters:
            for candidate in self._candidates(each):
                if candidate not in seen:
                    seen.add(candidate)
                    if interest.covers(candidate):
                        yield candidate

    def _candidates(self, general: ConjunctiveFilter) -> Iterable[Interest]:
        """Return the interests whose first conjunction this one may cover."""
        keys = [key for key in _keys(general) if key != _ANYTHING]
        if not keys:
            return self._filed
        groups = [self._special.get(key, {}) for key in keys]
        return min(groups, key=len)

    def _group_size(self, key: Hashable) -> int:
        return len(self._general.get(key, ()))


def _keys(conjunction: ConjunctiveFilter) -> list[Hashable]:
    """Return a key per constraint: the term, and, if it allows one value only, that value."""
    keys: list[Hashable] = []
    for term, constraint in conjunction.terms.items():
        point = constraint.point
        keys += [term] if point is None else [(term, point), term]
    return [*keys, *conjunction.others] or [_ANYTHING]
