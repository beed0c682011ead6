"""The values of a term over a batch: columns as they are, or derived by arithmetic.

Every distinct arithmetic expression, and every part of one, is computed once per batch. What
vectors cannot compute (`least` of texts, a user function) is computed by the oracle, one event at a
time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tamis.events.batch import Column, EventBatch
from tamis.events.column import array_of
from tamis.language.evaluate import value_of
from tamis.language.expr import (
    Arithmetic,
    Attribute,
    Call,
    Custom,
    Literal,
    Negate,
    ValueExpr,
    attributes,
)
from tamis.predicates.arithmetic import (
    Bools,
    NumberColumn,
    absolute,
    apply,
    average,
    extreme,
    negate,
    total,
)
from tamis.values import Type, type_of


class Texts(NamedTuple):
    """A column of texts: the distinct ones, and the number of each event's text, -1 for none."""

    values: list[str]
    codes: NDArray[np.int32]


class TermColumn(NamedTuple):
    """The values of one type that a term has in a batch.

    Attributes:
        type: Their type.
        valid: Where they are; None if everywhere.
        data: INT, TIMESTAMP and BOOL as int64, DBL as float64, one slot per event; STR as Texts; an
            Arrow array for other types.
    """

    type: Type
    valid: Bools | None
    data: Any


class Sheet:
    """A batch, and the values derived from it so far."""

    def __init__(self, batch: EventBatch) -> None:
        """Wrap a batch, with nothing derived yet."""
        self.batch = batch
        self._cells: dict[ValueExpr, list[TermColumn]] = {}
        self._numbers: dict[ValueExpr, NumberColumn] = {}

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self.batch)

    def cells(self, term: ValueExpr) -> list[TermColumn]:
        """Return the values of a term, by type; no event has a value in two of them."""
        columns = self._cells.get(term)
        if columns is None:
            columns = self._cells[term] = self._make(term)
        return columns

    def numbers(self, expr: ValueExpr) -> NumberColumn | None:
        """Return the numbers of an expression; None if only the oracle can compute them."""
        numbers = self._numbers.get(expr)
        if numbers is None:
            numbers = self._compute(expr)
            if numbers is not None:
                self._numbers[expr] = numbers
        return numbers

    def _make(self, term: ValueExpr) -> list[TermColumn]:
        if isinstance(term, Attribute):
            return [_term_column(column) for column in self.batch.columns.get(term.path, ())]
        numbers = None if isinstance(term, Custom) else self.numbers(term)
        if numbers is None:
            return self._evaluate_per_event(term)
        parts = [
            TermColumn(Type.INT, numbers.is_int, numbers.ints),
            TermColumn(Type.DBL, numbers.is_double, numbers.doubles),
        ]
        return [part for part in parts if part.valid is not None and part.valid.any()]

    def _evaluate_per_event(self, term: ValueExpr) -> list[TermColumn]:
        if attributes(term):
            values = [value_of(term, row) for row in self.batch.rows()]
        else:  # a user function on constants: the same for every event
            values = [value_of(term, {})] * len(self)
        kinds = dict.fromkeys(type_of(value) for value in values if value is not None)
        return [
            _term_column(
                Column(kind, array_of(kind, [v if type_of(v) is kind else None for v in values]))
            )
            for kind in kinds
            if kind is not None
        ]

    def _compute(self, expr: ValueExpr) -> NumberColumn | None:
        if isinstance(expr, Literal):
            return _constant_numbers(expr, len(self))
        if isinstance(expr, (Attribute, Custom)):
            return _gather_numbers(self.cells(expr), len(self))
        if isinstance(expr, Arithmetic):
            left, right = self.numbers(expr.left), self.numbers(expr.right)
            return None if left is None or right is None else apply(expr.op, left, right)
        if isinstance(expr, Negate):
            operand = self.numbers(expr.operand)
            return None if operand is None else negate(operand)
        arguments = [self.numbers(argument) for argument in expr.arguments]
        known = [argument for argument in arguments if argument is not None]
        return _apply_call(expr, known) if len(known) == len(arguments) else None


def _apply_call(call: Call, arguments: list[NumberColumn]) -> NumberColumn | None:
    if call.function == "abs":
        return absolute(arguments[0])
    if call.function == "sum":
        return total(arguments)
    if call.function == "avg":
        return average(arguments)
    if any(argument.other.any() for argument in arguments):
        return None
    return extreme(-1 if call.function == "least" else 1, arguments)


def _constant_numbers(literal: Literal, size: int) -> NumberColumn:
    value, kind = literal.value, literal.type
    return NumberColumn(
        np.full(size, value if kind is Type.INT else 0, np.int64),
        np.full(size, kind is Type.INT),
        np.full(size, value if kind is Type.DBL else 0.0, np.float64),
        np.full(size, kind is Type.DBL),
        np.full(size, kind not in (Type.INT, Type.DBL, None)),
    )


def _gather_numbers(columns: list[TermColumn], size: int) -> NumberColumn:
    ints, doubles = np.zeros(size, np.int64), np.zeros(size)
    is_int, is_double, other = np.zeros((3, size), np.bool_)
    for kind, valid, data in columns:
        present = np.ones(size, np.bool_) if valid is None else valid
        if kind is Type.INT:
            ints, is_int = data, present
        elif kind is Type.DBL:
            doubles, is_double = data, present
        else:
            other = other | present
    return NumberColumn(ints, is_int, doubles, is_double, other)


def _term_column(column: Column) -> TermColumn:
    kind, data = column
    valid = None if data.null_count == 0 else _as_numpy(data.is_valid())
    if kind is Type.BOOL:
        return TermColumn(kind, valid, _as_numpy(data.fill_null(False)).astype(np.int64))
    if kind is Type.TIMESTAMP:
        data = data.view(pa.int64())
    if kind in (Type.INT, Type.TIMESTAMP, Type.DBL):
        return TermColumn(kind, valid, _as_numpy(data if valid is None else data.fill_null(0)))
    return TermColumn(kind, valid, texts_of(data) if kind is Type.STR else data)


def texts_of(data: pa.Array) -> Texts:
    """Return the texts of an Arrow array, so that each distinct one is processed once."""
    encoded = data.dictionary_encode()
    # A copy: Arrow's memory is read-only, and kernels would be compiled a second time for it.
    codes = np.array(_as_numpy(encoded.indices.fill_null(-1)), np.int32)
    return Texts(encoded.dictionary.to_pylist(), codes)


def _as_numpy(array: pa.Array) -> NDArray[Any]:
    numbers: NDArray[Any] = array.to_numpy(zero_copy_only=False)
    return numbers
