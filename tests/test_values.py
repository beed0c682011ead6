"""Python objects as values."""

import datetime as dt
import decimal
import enum
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tamis.values import OPAQUE, Timestamp, Type, to_value, type_of


class Colour(str, enum.Enum):  # noqa: UP042 - the older spelling is what people have
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


EPOCH = Timestamp(0)
cyclic: list[object] = []
cyclic.append(cyclic)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (None, None),
        (True, True),
        (5, 5),
        (2**63 - 1, 2**63 - 1),
        (1.5, 1.5),
        ("x", "x"),
        (dt.datetime(1970, 1, 1), EPOCH),
        (dt.datetime(1970, 1, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=2))), EPOCH),
        (dt.date(1970, 1, 1), EPOCH),
        (decimal.Decimal("5"), 5),
        (decimal.Decimal("5.5"), 5.5),
        (decimal.Decimal("1e30"), 1e30),
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        (np.int8(5), 5),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("x"), "x"),
        (np.datetime64("1970-01-01"), EPOCH),
        (np.datetime64(-1, "ns"), Timestamp(-1)),
        (np.datetime64("NaT"), None),
        (np.timedelta64(5, "ns"), OPAQUE),
        (np.array([1, 2]), [1, 2]),
        (np.array([[1]]), OPAQUE),
        (np.array(["1970-01-01"], "datetime64[ns]"), OPAQUE),
        (pd.NaT, None),
        (pd.NA, None),
        (pd.Timestamp(0), EPOCH),
        ([1, None], [1, None]),
        (("a", "b"), ["a", "b"]),
        ([], []),
        ([1, "a"], OPAQUE),
        ([1.5], OPAQUE),
        ([True], OPAQUE),
        ([[1]], OPAQUE),
        (cyclic, OPAQUE),
        ({"a": 1}, OPAQUE),
        (b"x", OPAQUE),
        (len, OPAQUE),
        (OPAQUE, OPAQUE),
        (EPOCH, EPOCH),
    ],
    ids=repr,
)
def test_to_value_converts_python_objects(raw, value) -> None:
    found = to_value(raw)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    "raw", [2**63, -(2**63) - 1, 10**5000, "\ud800", ["\udfff"], [2**64], np.uint64(2**63),
            np.datetime64(10**15, "Y")], ids=lambda raw: type(raw).__name__,
)  # fmt: skip
def test_unrepresentable_objects_are_refused(raw) -> None:
    with pytest.raises(ValueError):
        to_value(raw)


def test_type_of_names_the_type() -> None:
    cases = [True, 1, 1.5, "x", EPOCH, [1], ["x"], [], [None], OPAQUE, None, math.nan]
    assert [type_of(value) for value in cases] == [
        Type.BOOL, Type.INT, Type.DBL, Type.STR, Type.TIMESTAMP, Type.INT_LIST, Type.STR_LIST,
        Type.INT_LIST, Type.INT_LIST, Type.OPAQUE, None, Type.DBL,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("2024-05-01", "2024-05-01 00:00:00Z"),
        ("2024-05-01 10:00", "2024-05-01 10:00:00Z"),
        ("2024-05-01T10:00:00.5Z", "2024-05-01 10:00:00.500000Z"),
        ("2024-05-01 10:00:00.1234567890", "2024-05-01 10:00:00.123456Z"),
        ("2024-05-01 10:00:00+0230", "2024-05-01 07:30:00Z"),
        ("2024-05-01 10:00:00-02", "2024-05-01 12:00:00Z"),
        ("2024-05-01 10:00:00 Europe/Paris", "2024-05-01 08:00:00Z"),
        (
            "2024-10-27 02:30:00 Europe/Paris",
            "2024-10-27 00:30:00Z",
        ),  # occurs twice: the first counts
        (
            "2024-03-31 02:30:00 Europe/Paris",
            "2024-03-31 01:30:00Z",
        ),  # does not exist: an hour later
        ("0001-01-01", "0001-01-01 00:00:00Z"),
        ("9999-12-31 23:59:59.999999", "9999-12-31 23:59:59.999999Z"),
    ],
)
def test_timestamps_are_parsed(text: str, printed: str) -> None:
    assert str(Timestamp.parse(text)) == printed
    assert Timestamp.parse(printed) == Timestamp.parse(text)


@pytest.mark.parametrize(
    "text",
    ["", "2024", "2024-5-1", "2024-02-30", "2024-05-01 25:00", "2024-05-01 10:00:60", "10:00",
     "2024-05-01 10:00 Mars/Base", "2024-05-01 10:00+19:00", "2024-05-01 10:00+02:60",
     "2024-05-01 10:00 posixrules", "0001-01-01 00:00+01:00", "2024-05-01 ", "２０２４-05-01"],
)  # fmt: skip
def test_other_text_is_not_a_timestamp(text: str) -> None:
    with pytest.raises(ValueError):
        Timestamp.parse(text)


def test_arrow_scalars_are_converted() -> None:
    assert to_value(pa.scalar(5, pa.int8())) == 5 and to_value(pa.scalar(None, pa.int8())) is None
    assert to_value(pa.scalar(["x", None])) == ["x", None]
    assert to_value([pa.scalar(1), 2]) == [1, 2]
    moment = dt.datetime(2024, 5, 1, tzinfo=dt.UTC)
    assert to_value(pa.scalar(moment)) == Timestamp.from_datetime(moment)
    for opaque in (pa.scalar({"a": 1}), pa.scalar(b"x"), pa.Scalar, pa.scalar([[1]])):
        assert to_value(opaque) is OPAQUE
    with pytest.raises(ValueError):
        to_value(pa.scalar(2**64 - 1, pa.uint64()))


def test_an_object_whose_as_py_returns_itself_is_opaque() -> None:
    class Endless:
        def as_py(self) -> object:
            return self

    assert to_value(Endless()) is OPAQUE
