"""Frames of pandas and of Polars are events; neither library is needed."""

from __future__ import annotations

import datetime as dt
import decimal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tamis.errors import EventError
from tamis.events.batch import EventBatch
from tamis.values import OPAQUE, Timestamp
from tests.events.checks import exact, sound


def test_a_pandas_frame_is_events() -> None:
    frame = pd.DataFrame(
        {
            "f": [1.5, float("nan")],
            "s": ["x", None],
            "c": pd.Categorical(["u", "v"]),
            "t": pd.to_datetime(["2024-05-01 10:00", None]).tz_localize("Europe/Paris"),
            "n": pd.array([1, None], dtype="Int64"),
            "d": [{"x": 1}, None],
        },
        index=[7, 8],
    )
    first = Timestamp.parse("2024-05-01 08:00Z")
    assert exact(sound(EventBatch.of(frame)).rows()) == exact(
        [{"f": 1.5, "s": "x", "c": "u", "t": first, "n": 1, "d": {"x": 1}}, {"c": "v"}]
    )


def test_a_pandas_column_may_mix_types() -> None:
    class Frame(pd.DataFrame):
        pass

    frame = Frame({"a": ["x", 1, None, float("nan")], "b": [1.5, float("nan"), pd.NaT, {"y": 1}]})
    assert exact(sound(EventBatch.of(frame)).rows()) == exact(
        [{"a": "x", "b": 1.5}, {"a": 1}, {}, {"b": {"y": 1}}]
    )
    with pytest.raises(EventError) as caught:
        EventBatch.of(pd.DataFrame({"a": [1, 2**70]}))
    assert (caught.value.event, caught.value.attribute) == (1, "a")


def test_a_polars_frame_is_events() -> None:
    frame = pl.DataFrame(
        {
            "f": [1.5, float("nan")],
            "s": ["x", None],
            "c": pl.Series(["u", "v"], dtype=pl.Categorical),
            "t": [dt.datetime(2024, 5, 1, 8), None],
            "l": [["p"], []],
            "d": [{"x": 1}, {"x": None}],
            "m": pl.Series([decimal.Decimal("1.5"), decimal.Decimal(2)], dtype=pl.Decimal(10, 1)),
        }
    )
    moment = Timestamp.parse("2024-05-01 08:00Z")
    assert exact(sound(EventBatch.of(frame)).rows()) == exact(
        [
            {"f": 1.5, "s": "x", "c": "u", "t": moment, "l": ["p"], "d": {"x": 1}, "m": 1.5},
            {"f": float("nan"), "c": "v", "l": [], "d": OPAQUE, "m": 2},
        ]
    )


def test_neither_pandas_nor_polars_is_needed() -> None:
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(name, path, target=None):\n"
        "        if name in ('pandas', 'polars'): raise ImportError(name)\n"
        "sys.meta_path.insert(0, Absent)\n"
        "import pyarrow as pa; from tamis.events.batch import EventBatch\n"
        "assert EventBatch.of([{'a': 1}]).rows() == EventBatch.of(pa.table({'a': [1]})).rows()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


def test_frames_equal_their_dicts() -> None:
    cells = [
        np.datetime64("2024-05-01", "s"),
        np.int8(5),
        np.datetime64(2**40, "s"),
        np.float32("nan"),
    ]
    cells += [decimal.Decimal("NaN"), float("nan"), pd.NaT, pd.NA, "x"]
    rows = EventBatch.of(pd.DataFrame({"a": pd.Series(cells, dtype=object), "n": 1})).rows()
    assert [row.get("a") for row in rows] == [
        Timestamp.parse("2024-05-01"), 5, Timestamp(2**40 * 1_000_000), *[None] * 5, "x",
    ]  # fmt: skip
    assert {row["n"] for row in rows} == {1}
    with pytest.raises(EventError):
        EventBatch.of(
            pd.DataFrame({"a": pd.Series([decimal.Decimal("sNaN"), np.int8(1)], dtype=object)})
        )
    assert len(EventBatch.of(pd.DataFrame(index=range(3)))) == 3
