"""A histogram of durations, with buckets as in Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)


@dataclass
class Histogram:
    """Counts of durations in seconds, by bucket.

    >>> latency = Histogram()
    >>> for seconds in (0.0005, 0.3, 100):
    ...     latency.observe(seconds)
    >>> latency.cumulative_counts()[0], latency.cumulative_counts()[8], latency.count
    ((0.001, 1), (0.5, 2), 3)

    Attributes:
        counts: The count of each bucket; the last one is above all bounds.
        total: The sum of all durations.
    """

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0

    def observe(self, seconds: float) -> None:
        """Count a duration."""
        # The clocks of two machines may differ: a negative duration counts as zero.
        seconds = max(0.0, seconds)
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds

    @property
    def count(self) -> int:
        """The number of observations."""
        return sum(self.counts)

    def cumulative_counts(self) -> list[tuple[float, int]]:
        """Return each bound with the number of durations up to it."""
        seen, counts = 0, []
        for bound, count in zip(BOUNDS, self.counts, strict=False):
            seen += count
            counts.append((bound, seen))
        return counts
