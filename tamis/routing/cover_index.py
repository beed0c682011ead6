"""Interests, found by what they cover and by what covers them, without comparing all with all.

A conjunction covers another one only if the other asks something of each of its terms, and, where
it wants one value, wants the same one. So interests are filed under terms and under equalities.
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
    >>> index.covering(narrow), list(index.covered(Interest.parse("x > 0")))
    (Interest('x > 5'), [Interest('x > 5')])
    >>> index.covering(Interest.parse("y = 0")) is None
    True
    """

    def __init__(self) -> None:
        """Begin with none."""
        # By one key of each conjunction: to be asked with all keys of another one.
        self._general: dict[Hashable, InterestSet] = {}
        # By all keys of the first conjunction: to be asked with one key of another one.
        self._special: dict[Hashable, InterestSet] = {}
        # Under which keys each stands in both; made once, as NaN is not found by another NaN.
        self._filed: dict[Interest, tuple[list[Hashable], list[Hashable]]] = {}

    def __len__(self) -> int:
        """How many there are."""
        return len(self._filed)

    def __contains__(self, interest: Interest) -> bool:
        """Whether it has one."""
        return interest in self._filed

    def __iter__(self) -> Iterator[Interest]:
        """All, in the order in which they came."""
        return iter(self._filed)

    def add(self, interest: Interest) -> None:
        """Take one that some event may satisfy."""
        filters = interest.coverage.filters
        general = list(dict.fromkeys(min(_keys(each), key=self._group_size) for each in filters))
        special = _keys(filters[0])
        self._filed[interest] = general, special
        for groups, keys in ((self._general, general), (self._special, special)):
            for key in keys:
                groups.setdefault(key, {})[interest] = None

    def remove(self, interest: Interest) -> None:
        """Forget one."""
        general, special = self._filed.pop(interest)
        for groups, keys in ((self._general, general), (self._special, special)):
            for key in keys:
                del groups[key][interest]
                if not groups[key]:
                    del groups[key]

    def find_cover(self, interest: Interest) -> Interest | None:
        """One that covers an interest, which is not among them; None if there is none."""
        return next(self.all_covers(interest), None)

    def all_covers(self, interest: Interest) -> Iterator[Interest]:
        """All that cover an interest, itself if it is among them; nothing may change meanwhile."""
        seen: set[Interest] = set()
        for key in (_ANYTHING, *_keys(interest.coverage.filters[0])):
            for each in self._general.get(key, ()):
                if each not in seen and each.covers(interest):
                    seen.add(each)
                    yield each

    def covered_by(self, interest: Interest) -> Iterator[Interest]:
        """All that an interest covers; nothing may change meanwhile."""
        seen: set[Interest] = set()
        for each in interest.coverage.filters:
            for candidate in self._candidates(each):
                if candidate not in seen:
                    seen.add(candidate)
                    if interest.covers(candidate):
                        yield candidate

    def _candidates(self, general: ConjunctiveFilter) -> Iterable[Interest]:
        """Those whose first conjunction may be covered by this one."""
        keys = [key for key in _keys(general) if key != _ANYTHING]
        if not keys:
            return self._filed
        groups = [self._special.get(key, {}) for key in keys]
        return min(groups, key=len)

    def _group_size(self, key: Hashable) -> int:
        return len(self._general.get(key, ()))


def _keys(conjunction: ConjunctiveFilter) -> list[Hashable]:
    """A key per thing that is asked: a term, or, if one value is wanted, that one."""
    keys: list[Hashable] = []
    for term, constraint in conjunction.terms.items():
        point = constraint.point
        keys += [term] if point is None else [(term, point), term]
    return [*keys, *conjunction.others] or [_ANYTHING]
