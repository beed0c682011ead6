"""Bad input raises a TamisError with its fields, and never anything else."""

import collections
import datetime as dt
import decimal
import fractions
import random
import uuid

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tamis
from tamis.errors import EventError, SelectorError, TamisError
from tests.language.corpus import FUNCTIONS, valid
from tests.language.damage import mutated
from tests.soak import count, record

SEEDS = range(5)
SELECTORS = count(5_000, 200_000)  # of each seed
EVENTS = count(5_000, 200_000)


@pytest.mark.parametrize("seed", SEEDS)
def test_mutated_selectors_raise_tamis_errors_only(seed: int) -> None:
    refused = 0
    for text in mutated(1_000 + seed, SELECTORS):
        try:
            selector = tamis.parse(text, FUNCTIONS)
        except SelectorError as error:
            refused += 1
            assert error.text == text or "\ud800" <= max(text) <= "\udfff"
            assert 0 <= error.start <= error.end <= len(text)
            assert error.line >= 1 and error.column >= 1 and error.reason
        else:
            assert tamis.parse(str(selector), FUNCTIONS) == selector
    # Neither nearly all nor nearly none: the mutations would be too coarse or too gentle.
    assert SELECTORS / 3 < refused < SELECTORS * 0.95
    record(f"selectors-{seed}", mutated=SELECTORS, refused=refused)


class Odd:
    """An object that Tamis does not know."""


class Hostile:
    """An object whose every attribute access raises."""

    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)


def odd_value(rng: random.Random, depth: int = 0) -> object:
    kind = rng.randrange(34 if depth < 3 else 28)
    if kind >= 28:
        return odd_container(rng, depth, kind)
    return rng.choice(ODD)() if kind < 20 else rng.choice((1, "x", 2.5, True, None, -7))


ODD = [
    lambda: 2**63, lambda: -(2**63) - 1, lambda: 2**63 - 1, lambda: 10**5000, lambda: -(10**400),
    lambda: float("nan"), lambda: float("inf"), lambda: -0.0, lambda: 5e-324,
    lambda: "\ud800", lambda: "a\x00b", lambda: "x" * 10_000, lambda: "", lambda: "é😀",
    lambda: b"\xff", lambda: bytearray(b"x"), lambda: memoryview(b"x"), lambda: 1j,
    lambda: decimal.Decimal("1.5"), lambda: decimal.Decimal("NaN"), lambda: decimal.Decimal("sNaN"),
    lambda: decimal.Decimal("1e400"), lambda: decimal.Decimal("inf"), lambda: decimal.Decimal(7),
    lambda: fractions.Fraction(1, 3), lambda: dt.datetime.max, lambda: dt.datetime.min,
    lambda: dt.datetime.max.replace(tzinfo=dt.timezone(dt.timedelta(hours=-14))),
    lambda: dt.date.max, lambda: dt.time(1), lambda: dt.timedelta(1), lambda: uuid.UUID(int=5),
    lambda: np.int8(5), lambda: np.uint64(2**64 - 1), lambda: np.float32("nan"),
    lambda: np.bool_(True),
    lambda: np.str_("x"), lambda: np.datetime64("NaT"), lambda: np.datetime64("2024-01-01T00", "h"),
    lambda: np.datetime64(2**62, "Y"), lambda: np.timedelta64(5, "s"), lambda: np.void(b"x"),
    lambda: np.array([1, 2]), lambda: np.array([[1]]), lambda: np.array("x"),
    lambda: np.longdouble(1),
    lambda: np.array([2**64 - 1], np.uint64), lambda: np.array([1.5, None], object),
    lambda: pd.NaT, lambda: pd.NA, lambda: pd.Timestamp("2024-01-01", tz="Europe/Paris"),
    lambda: pd.Series([1]), lambda: Odd(), lambda: Hostile(), lambda: Odd, lambda: len, lambda: ...,
    lambda: range(3), lambda: iter([1]), lambda: {1}, lambda: frozenset("a"), lambda: type,
]  # fmt: skip


def odd_container(rng: random.Random, depth: int, kind: int) -> object:
    values = [odd_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind == 28:
        return tuple(values)
    if kind < 31:
        return values
    names = rng.sample(["a", "b", "city", "", "x y"], k=min(len(values), 4))
    if kind == 31:
        return collections.OrderedDict(zip(names, values, strict=False))
    if kind == 32:
        return {rng.choice((1, None, (2,), b"x", "ok")): value for value in values}
    return dict(zip(names, values, strict=False))


TYPES = ["BOOL", "INT", "DBL", "STR", "TIMESTAMP", "LIST<INT>", "LIST<STR>"]


def odd_matcher(rng: random.Random) -> tamis.Matcher:
    schema = {name: rng.choice(TYPES) for name in ("a", "b", "user.city")}
    semantics = rng.choice(("sql", "strict", "default", "total"))
    matcher = tamis.Matcher(tamis.Schema(schema, open=rng.random() < 0.5), semantics)
    matcher.add(1, "a IS NULL OR b IS NULL OR user.city IS NOT NULL")
    return matcher


def digestible(rng: random.Random, depth: int = -1) -> object:
    """Not what Arrow itself crashes over: NumPy's instants among its other scalars.

    A frame may hold them (depth 0), but not inside a list: Tamis does not look there.
    """
    while True:
        value = odd_value(rng)
        if depth == 0 and isinstance(value, np.generic):
            return value
        if "numpy" not in modules(value):
            return value


def modules(value: object) -> str:
    inside = value.values() if isinstance(value, dict) else value
    parts = inside if isinstance(inside, list | tuple) or isinstance(value, dict) else ()
    return type(value).__module__ + "".join(map(modules, parts))


def odd_array(rng: random.Random, length: int) -> pa.Array:
    """An array that Arrow makes of odd values, or one of bytes that it takes for something else."""
    raw = rng.randbytes(8 * length)
    kind = rng.randrange(9)
    if kind == 0:
        words = [rng.choice((b"x", b"\xff", b"\xed\xa0\x80", None)) for _ in range(length)]
        array = pa.array(words, pa.binary()).view(pa.string())
        return array.dictionary_encode() if rng.random() < 0.5 else array
    if kind == 1:
        words = pa.array([rng.choice((b"x", b"\xc3")) for _ in range(2 * length)], pa.binary())
        starts = pa.array(range(0, 2 * length + 1, 2), pa.int32())
        return pa.ListArray.from_arrays(starts, words.view(pa.string()))
    if kind == 2:
        return pa.StructArray.from_arrays([odd_array(rng, length)] * 2, rng.choice(
            (["city", "x"], ["city", "city"], ["", "b"])))  # fmt: skip
    if kind < 6:
        arrow = rng.choice(
            (pa.int64(), pa.uint64(), pa.float64(), pa.timestamp("s"), pa.timestamp("ns", "UTC"),
             pa.date64(), pa.duration("s"), pa.time64("us"))
        )  # fmt: skip
        return pa.Array.from_buffers(arrow, length, [None, pa.py_buffer(raw)])
    values = [digestible(rng) for _ in range(length)]
    try:
        return pa.array(values)
    except Exception:  # Arrow's affair
        return pa.nulls(length)


def odd_frame(rng: random.Random, length: int) -> object:
    names = rng.choice((["a", "b"], ["a", "user"], ["a", "a"], ["a", 5]))
    columns = [pd.Series([digestible(rng, 0) for _ in range(length)], dtype=object) for _ in names]
    frame = pd.concat(columns, axis=1)
    frame.columns = names
    return frame


def odd_batches(rng: random.Random) -> int:
    """Tables, frames, arrays and batches against schemas; how many were refused."""
    refused = 0
    for _ in range(EVENTS // 20):
        matcher = odd_matcher(rng)
        length = rng.randrange(4)
        kind = rng.randrange(5)
        try:
            if kind == 0:
                matcher.match_batch(odd_frame(rng, length))
                continue
            arrays = [odd_array(rng, length) for _ in range(2)]
            events: object = pa.table(arrays, rng.choice((["a", "b"], ["b", "user"], ["a", "a"])))
            if kind == 1:
                events = tamis.EventBatch.of(events)
            elif kind == 2:
                events = rng.choice(arrays)
            elif kind == 3:
                events = [dict(zip("ab", row, strict=True)) for row in zip(*arrays, strict=True)]
            matcher.match_batch(events)
        except EventError as error:
            refused += 1
            assert error.reason
    assert refused
    return refused


@pytest.mark.parametrize("seed", SEEDS)
def test_odd_events_raise_tamis_errors_only(seed: int) -> None:
    rng = random.Random(seed)
    matcher = tamis.Matcher(functions=FUNCTIONS)
    for number, text in enumerate(valid(seed, 30)):
        if not text.lstrip().upper().startswith("FIRST"):
            matcher.add(number, text)
    matcher.add(1_000, "a = 1 OR user.city LIKE 'x%' OR array_contains(b, 1) OR c IS NULL")
    refused = 0
    for _ in range(EVENTS // 20):
        event = {
            name: odd_value(rng) for name in rng.sample(["a", "b", "c", "user", "`", "x y"], 3)
        }
        try:
            matcher.match(event)
        except EventError as error:
            refused += 1
            assert error.event == 0 and error.reason
    for _ in range(EVENTS):
        try:
            tamis.EventBatch.of([{"a": odd_value(rng)}])
        except EventError as error:
            refused += 1
            assert error.event == 0 and error.reason
    assert EVENTS / 20 < refused < EVENTS * 0.9
    refused += odd_batches(rng)
    record(f"events-{seed}", events=EVENTS + EVENTS // 20, refused=refused)


MEGABYTES = count(2_000_000, 10_000_000)


@pytest.mark.parametrize(
    "text",
    [
        "a" * MEGABYTES,
        "1" * MEGABYTES,
        "1" * MEGABYTES + "a",
        "'" * (MEGABYTES + 1),
        "`" * (MEGABYTES + 1),
        "/*" * (MEGABYTES // 2),
        "/*" + "*" * MEGABYTES,
        "--" * (MEGABYTES // 2),
        "a LIKE '" + "%_" * (MEGABYTES // 2) + "'",
        "a RLIKE '" + "(a*)*" * (MEGABYTES // 5) + "'",
        "a." * (MEGABYTES // 2),
        "a.b" * (MEGABYTES // 3),
        "(" * MEGABYTES,
        "é" * MEGABYTES,
        " " * MEGABYTES,
        "a = '" + "x" * MEGABYTES + "'",
        "a = 1 OR " * (MEGABYTES // 45) + "b",
        "a IN (" + "1," * (MEGABYTES // 10) + "2)",
        "\x00" * MEGABYTES,
        "1e" + "9" * MEGABYTES,
        "t > TIMESTAMP '" + "2" * MEGABYTES + "'",
        "f" * MEGABYTES + "(a)",
    ],
    ids=lambda text: text[:12],
)
def test_megabytes(text: str) -> None:
    try:
        selector = tamis.parse(text)
    except TamisError as error:
        assert len(str(error)) < 1_000
    else:
        assert tamis.parse(str(selector)) == selector
