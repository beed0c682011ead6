"""Partitions that are ranges of numbers: events of a workload, or sequences of a stream."""

from __future__ import annotations

from itertools import pairwise

from pyspark.sql.datasource import InputPartition


class Span(InputPartition):
    """The numbers from `start` up to `stop`, exclusive."""

    def __init__(self, start: int, stop: int) -> None:
        """Take both bounds."""
        super().__init__((start, stop))
        self.start = start
        self.stop = stop


def spans(start: int, stop: int, parts: int) -> list[Span]:
    """Split a range into parts of about the same size; at least one."""
    parts = max(1, parts)
    cuts = [start + (stop - start) * part // parts for part in range(parts + 1)]
    return [Span(*ends) for ends in pairwise(cuts)]
