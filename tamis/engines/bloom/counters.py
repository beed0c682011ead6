"""Counters of the Bloom engine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class BloomCounters:
    """Totals over all events.

    Attributes:
        events: The number of events.
        bits: The number of bits set in their filters.
        wire_bytes: The number of bytes that their filters take between brokers.
        candidates: The number of conjunctions that the filters let through.
        false_positives: The number of candidates that the exact check rejected.
    """

    events: int = 0
    bits: int = 0
    wire_bytes: int = 0
    candidates: int = 0
    false_positives: int = 0

    def stats(self, m: int) -> dict[str, object]:
        """Return the counters by name, with averages; without events, averages are 0."""
        return {
            "events": self.events,
            "candidates": self.candidates,
            "false_positives": self.false_positives,
            "fill_ratio": self.bits / m / max(1, self.events),
            "wire_bytes_per_event": self.wire_bytes / max(1, self.events),
        }
