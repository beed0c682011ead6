"""Events from files of any kind: their numbers, bad lines, and unreadable files."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path

import pytest

from tamis.errors import InputError, SchemaError
from tamis.events.files import read_events
from tamis.schema import Schema
from tamis.values import Timestamp
from tests.events.file_cases import put, read


@pytest.mark.parametrize("batch_size", [1, 2, 3, 100])
def test_numbers_do_not_depend_on_the_batches(tmp_path: Path, batch_size: int) -> None:
    file = put(tmp_path / "e.jsonl", '{"n": 0}\nx\n{"n": 2}\n{"n": 3}\n{"n": 1e999}\n{"n": 5}\n')
    events, bad = read(file, batch_size=batch_size)
    assert {number: row["n"] for number, row in events.items()} == {0: 0, 2: 2, 3: 3, 5: 5}
    assert [line for line, _ in bad] == [2, 5]


def test_failing_names_the_first_bad_line(tmp_path: Path) -> None:
    # Line 2 is found to be bad only after line 3: when the batch is converted.
    file = put(tmp_path / "e.jsonl", '{"a": 1}\n{"a": "x"}\n{"a"\n')
    with pytest.raises(InputError, match=r"e.jsonl:2: attribute 'a': 'x' is not of type INT") as e:
        list(read_events(file, Schema({"a": "INT"})))
    assert e.value.line == 2 and e.value.source == str(file)


def test_a_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    assert read(put(tmp_path / "e.jsonl", '\ufeff{"a": 1}')) == ({0: {"a": 1}}, [])
    assert read(put(tmp_path / "e.csv", "\ufeffa\n1\n")) == ({0: {"a": 1}}, [])


def test_rows_that_violate_the_schema_are_bad(tmp_path: Path) -> None:
    schema = Schema({"price": "DBL", "at": "TIMESTAMP"})
    rows = [
        {"price": 1, "at": "2024-05-01"},
        {"price": "1"},
        {"at": "yesterday"},
        {"price": {"x": 1}},
        {"price": 2.5, "else": {}},
    ]
    events, bad = read(put(tmp_path / "e.jsonl", "\n".join(map(json.dumps, rows))), schema)
    assert events == {
        0: {"price": 1.0, "at": Timestamp.parse("2024-05-01")},
        4: {"price": 2.5},
    }
    assert [line for line, _ in bad] == [2, 3, 4]
    assert bad[0][1] == "attribute 'price': '1' is not of type DBL"


def test_missing_attributes_are_bad_lines_under_total(tmp_path: Path) -> None:
    file = put(tmp_path / "e.jsonl", '{"a": 1, "b": 2}\n{"a": 1}\n{"b": 1, "a": null}\n')
    events, bad = read(file, Schema({"a": "INT", "b": "INT"}), "total")
    assert list(events) == [0]
    assert [line for line, _ in bad] == [2, 3]
    assert "'b': is missing" in bad[0][1] and "'a': is missing" in bad[1][1]


def test_semantics_that_need_a_schema_say_so(tmp_path: Path) -> None:
    with pytest.raises(SchemaError):
        read(put(tmp_path / "e.jsonl", "{}"), None, "total")


def test_many_bad_rows_take_little_time(tmp_path: Path) -> None:
    rows = [{"a": "x" if i % 2 else i, "b": "text", "c": i / 2} for i in range(10_000)]
    file = put(tmp_path / "e.jsonl", "\n".join(map(json.dumps, rows)))
    began = time.perf_counter()
    events, bad = read(file, Schema({"a": "INT", "b": "STR", "c": "DBL"}))
    assert (len(events), len(bad)) == (5_000, 5_000)
    assert time.perf_counter() - began < 10  # about 1 s; quadratic would be minutes


def test_empty_files_hold_no_events(tmp_path: Path) -> None:
    for name in ("e.csv", "e.jsonl", "e.json"):
        assert read(put(tmp_path / name, "")) == ({}, [])
    assert read(put(tmp_path / "e.csv", "a,b\n")) == ({}, [])


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    whole = gzip.compress(b'{"a": 1}\n' * 1000)
    cases = {
        "missing.jsonl": (None, "No such file"),
        "cut.jsonl.gz": (whole[: len(whole) // 2], "damaged or cut off"),
        "plain.jsonl.gz": (b'{"a": 1}\n', "Not a gzipped file"),
        "e.parquet": (b"PAR1 but not really", "not a Parquet file"),
        "e.parquet.gz": (b"", "compressed inside"),
        "e.xlsx": (b"", "unknown file type"),
    }
    for name, (data, reason) in cases.items():
        if data is not None:
            (tmp_path / name).write_bytes(data)
        with pytest.raises(InputError, match=reason):
            read(tmp_path / name)
    (tmp_path / "dir.jsonl").mkdir()
    with pytest.raises(InputError, match=r"[Dd]irectory"):
        read(tmp_path / "dir.jsonl")
    with pytest.raises(InputError, match="bad must be"):
        read_events(tmp_path / "e.jsonl", bad="perhaps")


def test_progress_is_reported(tmp_path: Path) -> None:
    file = put(tmp_path / "e.jsonl", '{"a": 1}\n' * 1000)
    fractions = [chunk.fraction for chunk in read_events(file, batch_size=100)]
    assert fractions[-1] == 1.0 and fractions == sorted(fractions)  # type: ignore[type-var]


@pytest.mark.parametrize("path", ["a\0.jsonl", None, 5, b"e.jsonl"])
def test_invalid_file_names_are_refused(path) -> None:
    with pytest.raises(InputError):
        read_events(path)


@pytest.mark.parametrize("size", [0, -1, 1.5, None, True])
def test_invalid_batch_sizes_are_refused(size) -> None:
    with pytest.raises(InputError, match="batch_size must be an integer of at least 1"):
        read_events("e.jsonl", batch_size=size)


def test_a_schema_may_have_any_form(tmp_path: Path) -> None:
    chunks = list(read_events(put(tmp_path / "e.jsonl", '{"a": 1}'), {"a": "DBL"}))
    assert chunks[0].batch.schema == Schema({"a": "DBL"})
    with pytest.raises(SchemaError):
        read_events(tmp_path / "e.jsonl", {"a": "DOUBEL"})
