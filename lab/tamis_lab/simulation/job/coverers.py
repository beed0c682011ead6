"""Which interests cover which: computed for each one alone, so that it runs in parallel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tamis.routing.cover_index import CoverIndex
from tamis.routing.interest import Interest
from tamis_lab.kernels.overlay_tables import Coverers
from tamis_lab.simulation.job.interests import starts

# Per interest, the numbers of those that cover it, and whether it covers them too.
CovererLists = list[tuple[list[int], list[bool]]]


class CovererFinder:
    """An index of all interests, to find those that cover one of them."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Index all interests, by number."""
        self._interests = [Interest.parse(text) for text in texts]
        self._numbers = {text: number for number, text in enumerate(texts)}
        self._index = CoverIndex()
        for interest in self._interests:
            if interest.coverage.filters:  # no event satisfies the others: they are not sent
                self._index.add(interest)

    def find(self, begin: int, end: int) -> CovererLists:
        """Return, for each interest of a range, all others that cover it."""
        return [self._find_one(interest) for interest in self._interests[begin:end]]

    def _find_one(self, interest: Interest) -> tuple[list[int], list[bool]]:
        if not interest.coverage.filters:
            return [], []
        above = [each for each in self._index.all_covers(interest) if each != interest]
        numbers = [self._numbers[each.text] for each in above]
        return numbers, [interest.covers(each) for each in above]


def coverer_arrays(found: CovererLists) -> Coverers:
    """Convert the lists to arrays."""
    return Coverers(
        starts(len(by) for by, _ in found),
        np.array([each for by, _ in found for each in by], np.int32),
        np.array([each for _, equal in found for each in equal], np.bool_),
    )
