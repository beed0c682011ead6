"""Measure SMPE, the average fraction of subscriptions that an event matches (§5.2.4).

With arrays, one subscription and all events at a time: NumPy is as fast here as an engine, which
would have to be filled first. A test that is NULL is neither true nor false; only XOR depends on
what is false.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.language.expr import And, Or
from tamis_lab.workloads.atree2004.trees import JUNCTIONS, fold_tree
from tamis_lab.workloads.atree2004.workload import Workload
from tamis_lab.workloads.random_draws import Arrays

Flags = npt.NDArray[np.bool_]
Rails = tuple[Flags, Flags]  # where an expression is true, where it is false

_HOLDS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class SubscriptionSample:
    """Some subscriptions of a workload, to be matched repeatedly."""

    def __init__(self, workload: Workload, count: int, start: int = 0) -> None:
        """Take `count` subscriptions from `start` on, or as many as there are."""
        parts = workload.table.parts
        self._conjunctive = workload.operators == "conjunctive"
        self._cut = workload.shared_predicates
        self._rows = [
            (list(map(parts, numbers)), *forms)
            for numbers, *forms in workload.rows(start, min(count, workload.subscriptions - start))
        ]

    def matched_fraction(self, events: Arrays, most: int | None = None) -> float:
        """Return the fraction of pairs of a subscription and an event that match.

        Args:
            events: As `Workload.event_arrays` returns them.
            most: Use only the first `most` subscriptions.
        """
        values, present = (np.ascontiguousarray(array.T) for array in events)
        rows = self._rows[:most]
        found = sum(int(np.count_nonzero(self._matches(row, values, present))) for row in rows)
        return found / max(1, len(rows) * len(events[0]))

    def _matches(self, row: tuple[Any, ...], values: Any, present: Any) -> Flags:
        tests, *forms = row
        truths = (
            _HOLDS[relation](values[attribute], value) & present[attribute]
            for attribute, relation, value in tests
        )
        if self._conjunctive:
            return reduce(operator.iand, truths)
        (*left,), (*right,), root = forms
        leaves: list[Rails] = [
            (truth, present[attribute] & ~truth)
            for truth, (attribute, _, _) in zip(truths, tests, strict=True)
        ]
        parts = (
            fold_tree(leaves[: self._cut], left[0], left[1], _join_truths),
            fold_tree(leaves[self._cut :], right[0], right[1], _join_truths),
        )
        return _join_truths(root, *parts)[0]


def _join_truths(operator: int, left: Rails, right: Rails) -> Rails:
    (left_true, left_false), (right_true, right_false) = left, right
    if JUNCTIONS[operator] is And:
        return left_true & right_true, left_false | right_false
    if JUNCTIONS[operator] is Or:
        return left_true | right_true, left_false & right_false
    differ = left_true & right_false | left_false & right_true
    return differ, left_true & right_true | left_false & right_false
