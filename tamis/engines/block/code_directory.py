"""Which segment a code belongs to: merged segments get new codes, so the stack is not sorted."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from tamis.engines.block.segment.segment import Segment


class Directory:
    """Segments by their codes. Immutable, as is the stack of segments."""

    def __init__(self, segments: Iterable[Segment] = ()) -> None:
        """Sort the segments by their first code."""
        self._held = sorted(segments, key=lambda segment: segment.base)
        self._bases = [segment.base for segment in self._held]

    def find(self, code: int) -> tuple[Segment, int]:
        """Return the segment and the record of a code that is in use."""
        segment = self._held[bisect_right(self._bases, code) - 1]
        return segment, code - segment.base
