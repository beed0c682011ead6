"""How long things took, counted in classes, as Prometheus has it."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)


@dataclass
class Histogram:
    """Counts of times up to each bound, in seconds.

    >>> seen = Histogram()
    >>> for seconds in (0.0005, 0.3, 100):
    ...     seen.observe(seconds)
    >>> seen.cumulated()[0], seen.cumulated()[8], seen.count
    ((0.001, 1), (0.5, 2), 3)

    Attributes:
        counts: Of each class; the last is above all bounds.
        total: The sum of all times.
    """

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0

    def observe(self, seconds: float) -> None:
        """Count one."""
        # Clocks of two machines may differ; nothing was done before it began.
        seconds = max(0.0, seconds)
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds

    @property
    def count(self) -> int:
        """How many there were."""
        return sum(self.counts)

    def cumulative_counts(self) -> list[tuple[float, int]]:
        """How many took at most as long as each bound."""
        seen, told = 0, []
        for bound, count in zip(BOUNDS, self.counts, strict=False):
            seen += count
            told.append((bound, seen))
        return told
