"""Which segment a code is in: merging gives segments new codes, so they stand in no order."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from tamis.engines.block.segment.segment import Segment


class Directory:
    """Segments by their codes; never changed, as the stack of segments is not."""

    def __init__(self, segments: Iterable[Segment] = ()) -> None:
        """Put the segments in order."""
        self._held = sorted(segments, key=lambda segment: segment.base)
        self._bases = [segment.base for segment in self._held]

    def find(self, code: int) -> tuple[Segment, int]:
        """The segment and the record of a code that is in use."""
        segment = self._held[bisect_right(self._bases, code) - 1]
        return segment, code - segment.base
