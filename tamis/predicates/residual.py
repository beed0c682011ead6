"""Predicates over several terms, such as `price > limit`, which have no constant to index by.

Each is evaluated for every event. Comparisons of numbers are evaluated a column at a time. All
others, and the events in which neither side is a number, are evaluated by the oracle, one event at
a time.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.predicates.emit import CodeTable
from tamis.language.evaluate import evaluate
from tamis.language.expr import Between, Comparison, Not, Predicate, ValueExpr
from tamis.predicates.arithmetic import Bools, order
from tamis.predicates.partial_results import CodedPart
from tamis.predicates.term_values import Sheet


def residual_part(predicates: Mapping[int, Predicate | Not], sheet: Sheet) -> CodedPart:
    """Return the predicates that each event satisfies, of those given by id."""
    events: list[NDArray[np.int64]] = []
    ids: list[NDArray[np.int32]] = []
    for id, predicate in predicates.items():
        true = np.flatnonzero(_truths(predicate, sheet))
        events.append(true)
        ids.append(np.full(len(true), id, np.int32))
    owners = np.concatenate(events)
    by_event = np.argsort(owners, kind="stable")
    offsets = np.zeros(len(sheet) + 1, np.int64)
    np.cumsum(np.bincount(owners, minlength=len(sheet)), out=offsets[1:])
    table = CodeTable(offsets, np.concatenate(ids)[by_event])
    return CodedPart(table, np.arange(len(sheet), dtype=np.int32))


def _truths(predicate: Predicate | Not, sheet: Sheet) -> Bools:
    """Return where the predicate is certainly true."""
    decided = _decide_numbers(predicate, sheet)
    if decided is None:
        return np.array([evaluate(predicate, row) is True for row in sheet.batch.rows()], np.bool_)
    true, open_ = decided
    if open_.any():
        rows = sheet.batch.rows()
        for event in np.flatnonzero(open_):
            true[event] = evaluate(predicate, rows[event]) is True
    return true


def _decide_numbers(predicate: Predicate | Not, sheet: Sheet) -> tuple[Bools, Bools] | None:
    """Return where it is certainly true of numbers, and where undecided; None if everywhere."""
    if isinstance(predicate, Comparison):
        return _compare_columns(predicate.op, predicate.left, predicate.right, sheet)
    negated = isinstance(predicate, Not)
    between = predicate.operand if isinstance(predicate, Not) else predicate
    if not isinstance(between, Between):
        return None
    low_op, high_op = ("<", ">") if negated else (">=", "<=")
    low = _compare_columns(low_op, between.operand, between.low, sheet)
    high = _compare_columns(high_op, between.operand, between.high, sheet)
    if low is None or high is None:
        return None
    true = low[0] | high[0] if negated else low[0] & high[0]
    return true, low[1] | high[1]


def _compare_columns(
    op: str, left: ValueExpr, right: ValueExpr, sheet: Sheet
) -> tuple[Bools, Bools] | None:
    left_numbers, right_numbers = sheet.numbers(left), sheet.numbers(right)
    if left_numbers is None or right_numbers is None:
        return None
    outcome = _OUTCOMES[op](order(left_numbers, right_numbers), 0)
    # A number compared with another type is unknown; only two non-numbers may still be equal.
    return (
        outcome & left_numbers.present() & right_numbers.present(),
        left_numbers.other & right_numbers.other,
    )


_OUTCOMES = {
    "=": np.equal,
    "<>": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
