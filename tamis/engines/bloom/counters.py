"""What matching by filters has come to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class BloomCounters:
    """Sums over all events.

    Attributes:
        events: How many there were.
        bits: How many bits were set in their filters.
        wire_bytes: How many bytes their filters take between brokers.
        candidates: How many conjunctions the filters let through.
        false_positives: How many of these the check refused.
    """

    events: int = 0
    bits: int = 0
    wire_bytes: int = 0
    candidates: int = 0
    false_positives: int = 0

    def stats(self, m: int) -> dict[str, object]:
        """By name, with averages; nothing is 0 on average."""
        return {
            "events": self.events,
            "candidates": self.candidates,
            "false_positives": self.false_positives,
            "fill_ratio": self.bits / m / max(1, self.events),
            "wire_bytes_per_event": self.wire_bytes / max(1, self.events),
        }
