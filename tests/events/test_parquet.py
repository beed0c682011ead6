"""Events from Parquet, whose bad rows are reported by number."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tamis.errors import InputError
from tamis.events.files import read_events
from tamis.schema import Schema
from tamis.values import OPAQUE
from tests.events.file_cases import read


def test_parquet_is_read(tmp_path: Path) -> None:
    file = tmp_path / "e.parquet"
    table = pa.table(
        {"a": [1, None, 3], "u": [{"c": "x"}, None, {"c": None}], "tags": [["t"], [], None]}
    )
    pq.write_table(table, file)
    for batch_size in (1, 2, 10):
        events, bad = read(file, batch_size=batch_size)
        assert bad == []
        assert events == {
            0: {"a": 1, "u": {"c": "x"}, "tags": ["t"]},
            1: {"tags": []},
            2: {"a": 3, "u": OPAQUE},
        }


def test_bad_rows_of_parquet_are_numbered_by_row(tmp_path: Path) -> None:
    file = tmp_path / "e.parquet"
    pq.write_table(pa.table({"a": pa.array([1, 2**63, 3, 2**64 - 1], pa.uint64())}), file)
    events, bad = read(file)
    assert events == {0: {"a": 1}, 2: {"a": 3}}
    assert [line for line, _ in bad] == [2, 4]
    with pytest.raises(
        InputError, match=r"e.parquet:2: attribute 'a': integer 9223372036854775808"
    ):
        list(read_events(file))


def test_parquet_text_that_is_not_utf8_is_bad(tmp_path: Path) -> None:
    file = tmp_path / "e.parquet"
    text = pa.array([b"a", b"\xff", b"c"]).view(pa.string())
    pq.write_table(pa.table({"s": text}), file)
    events, bad = read(file)
    assert {number: row["s"] for number, row in events.items()} == {0: "a", 2: "c"}
    assert [line for line, _ in bad] == [2] and bad[0][
        1
    ] == "attribute 's': text is not valid UTF-8"
    # All rows share a dictionary, and a slice of lists refers to the elements of all.
    pq.write_table(pa.table({"s": text.dictionary_encode()}), file)
    assert read(file) == (events, bad)
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), text)
    pq.write_table(pa.table({"s": lists, "other": text}), file)
    events, bad = read(file, Schema({"s": "LIST<STR>"}))
    assert events == {0: {"s": ["a"]}, 2: {"s": ["c"]}} and [line for line, _ in bad] == [2]
    # Columns that a closed schema ignores may hold anything.
    assert read(file, Schema({"t": "INT"})) == ({0: {}, 1: {}, 2: {}}, [])


def test_a_parquet_file_may_hold_bad_rows_only(tmp_path: Path) -> None:
    file = tmp_path / "e.parquet"
    pq.write_table(pa.table({"a": ["x", "y"], "b": ["z", None]}), file)
    events, bad = read(file, Schema({"a": "INT"}))
    assert events == {} and [line for line, _ in bad] == [1, 2]


def test_bad_columns_are_a_bad_file(tmp_path: Path) -> None:
    file = tmp_path / "e.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"]), file)
    with pytest.raises(InputError, match="two columns have this name"):
        read(file)
