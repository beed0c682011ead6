"""Tests of one term against constants of one family, as intervals of ranks.

All comparisons, BETWEEN and IN are indexed here, for every type of value. Once a value is a rank
among the constants, a test is an interval of integers, and matching means finding the intervals
that contain the rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.predicates.emit import Ladder
from tamis.kernels.predicates.masks import Spans
from tamis.predicates.ladder_arrays import Exclusions, ladder_of, prune_ladder, table_of_ranks
from tamis.predicates.partial_results import CodedPart, Part, RankedPart
from tamis.predicates.ranks import Constants
from tamis.predicates.shapes import Except, Family, Interval, Within
from tamis.predicates.term_values import TermColumn
from tamis.values import Scalar

Ids = NDArray[np.int32]

# A list for every rank may take this many times the room of the tests, plus a fixed amount.
_MAX_TABLE_FACTOR = 8
_MIN_TABLE_SIZE = 1024


class BuiltLadder:
    """Constants, and the tests on them as arrays for the kernels."""

    def __init__(self, constants: Constants, ladder: Ladder, spans: Spans) -> None:
        """Wrap a ladder on the constants, and the intervals that it was built from."""
        self._constants = constants
        self._ladder = ladder
        self._spans = spans
        tests = len(spans.ids) + len(ladder.other_ids)
        # Small enough if the tests are equalities, or few.
        small = ladder.sizes.sum() <= _MAX_TABLE_FACTOR * tests + _MIN_TABLE_SIZE
        self._table = table_of_ranks(ladder) if small else None

    @classmethod
    def of(cls, family: Family, tests: Mapping[int, Within | Except]) -> BuiltLadder:
        """Build a ladder from tests by predicate id."""
        constants = Constants(family, _all_constants(tests.values()))
        intervals: list[tuple[int, int, int]] = []
        excluded: list[tuple[int, int]] = []
        others: list[int] = []
        for id, test in tests.items():
            if isinstance(test, Within):
                for interval in test.intervals:
                    low, high = _ranks(interval, constants)
                    if low <= high:
                        intervals.append((id, low, high))
            else:
                excluded.extend((constants.index[point], len(others)) for point in test.points)
                others.append(id)
        spans = Spans(*_columns(intervals, 3))
        pairs = Exclusions(*_columns(excluded, 2))
        ladder = ladder_of(spans, np.array(others, np.int32), pairs, len(constants))
        return cls(constants, ladder, spans)

    def without_tests(self, ids: frozenset[int]) -> BuiltLadder:
        """Return the ladder without some tests; unused constants remain, which is harmless."""
        gone = np.fromiter(ids, np.int32, len(ids))
        arrays = (self._spans.ids, self._ladder.other_ids, gone)
        is_gone = np.zeros(1 + max(int(array.max(initial=0)) for array in arrays), np.bool_)
        is_gone[gone] = True
        stays = ~is_gone[self._spans.ids]
        spans = Spans(*(column[stays] for column in self._spans))
        return BuiltLadder(self._constants, prune_ladder(self._ladder, is_gone), spans)

    def part(self, columns: list[TermColumn], size: int) -> Part:
        """Return the partial result of the values of a batch."""
        ranks = self._constants.ranks(columns, size)
        if self._table is not None:
            return CodedPart(self._table, ranks)
        return RankedPart(self._ladder, self._spans, ranks)


def _all_constants(tests: Iterable[Within | Except]) -> Iterable[Scalar]:
    for test in tests:
        if isinstance(test, Except):
            yield from test.points
        else:
            for low, _, high, _ in test.intervals:
                if low is not None:
                    yield low
                if high is not None and high is not low:
                    yield high


def _ranks(interval: Interval, constants: Constants) -> tuple[int, int]:
    low, low_closed, high, high_closed = interval
    index, top = constants.index, 2 * len(constants)
    return (
        0 if low is None else 2 * index[low] + (1 if low_closed else 2),
        top if high is None else 2 * index[high] + (1 if high_closed else 0),
    )


def _columns(rows: Sequence[tuple[int, ...]], width: int) -> Iterable[Ids]:
    return map(np.ascontiguousarray, np.array(rows, np.int32).reshape(-1, width).T)
