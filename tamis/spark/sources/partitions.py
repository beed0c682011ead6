"""Partitions that are a range of numbers: of events of a workload, or of sequences of a stream."""

from __future__ import annotations

from itertools import pairwise

from pyspark.sql.datasource import InputPartition


class Span(InputPartition):
    """From one number up to another, which does not belong to them."""

    def __init__(self, start: int, stop: int) -> None:
        """Take both ends."""
        super().__init__((start, stop))
        self.start = start
        self.stop = stop


def spans(start: int, stop: int, parts: int) -> list[Span]:
    """A range in so many parts of about the same size, but in one at least."""
    parts = max(1, parts)
    cuts = [start + (stop - start) * part // parts for part in range(parts + 1)]
    return [Span(*ends) for ends in pairwise(cuts)]
