"""Subscriptions from files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tamis.errors import InputError
from tamis.events.records import BadLine
from tamis.events.subscription_files import read_subscriptions
from tests.events.file_cases import put

Rows = list[tuple[object, ...]]


def read(path: Path) -> tuple[Rows, list[tuple[int, str]]]:
    bad: list[BadLine] = []
    rows: Rows = [tuple(row) for row in read_subscriptions(path, "skip", bad.append)]
    return rows, [(line.line, line.reason) for line in bad]


def test_json_lines_are_read(tmp_path: Path) -> None:
    text = (
        '{"id": "a", "selector": "x = 1", "owner": "me"}\n\n'
        '{"id": 7, "selector": "y", "priority": -2}\n{"id": "b", "selector": "z", "priority": null}'
    )
    for name in ("s.jsonl", "s.ndjson", "s.json", "s.jsonl.gz"):
        assert read(put(tmp_path / name, text)) == (
            [("a", "x = 1", 0, 1), (7, "y", -2, 3), ("b", "z", 0, 4)],
            [],
        )


def test_a_json_array_is_read(tmp_path: Path) -> None:
    file = put(tmp_path / "s.json", '[\n{"id": "a", "selector": "x"},\n{"id": "b"}\n]')
    assert read(file) == ([("a", "x", 0, 2)], [(3, "subscription 'b' has no selector")])


BAD = {
    '{"selector": "x"}': "has no id",
    '{"id": null, "selector": "x"}': "has no id",
    '{"id": "", "selector": "x"}': "has no id",
    '{"id": 1.5, "selector": "x"}': "an id is a string or an integer, not 1.5",
    '{"id": true, "selector": "x"}': "an id is a string or an integer, not True",
    '{"id": "a"}': "subscription 'a' has no selector",
    '{"id": "a", "selector": ""}': "subscription 'a' has no selector",
    '{"id": "a", "selector": 5}': "subscription 'a': a selector is text, not 5",
    '{"id": "a", "selector": "x", "priority": "1"}': "subscription 'a': a priority is an integer",
    '{"id": "a", "selector": "x", "priority": 1.0}': "subscription 'a': a priority is an integer",
    '{"id": "a", "selector": "x", "priority": true}': "subscription 'a': a priority is an integer",
    '{"id": "a", "selector": "x"': "not JSON: it ends early",
    '"x = 1"': "not a JSON object but str",
}


def test_bad_json_rows_are_reported(tmp_path: Path) -> None:
    good = '{"id": "g", "selector": "x"}'
    rows, bad = read(put(tmp_path / "s.jsonl", "\n".join([good, *BAD, good])))
    assert [row[3] for row in rows] == [1, len(BAD) + 2]
    assert [line for line, _ in bad] == list(range(2, len(BAD) + 2))
    for (_, reason), expected in zip(bad, BAD.values(), strict=True):
        assert reason.startswith(expected), (reason, expected)


def test_failing_names_the_line(tmp_path: Path) -> None:
    file = put(tmp_path / "s.jsonl", '{"id": "a", "selector": "x"}\n{"id": "b"}\n')
    rows = read_subscriptions(file)
    assert next(rows).id == "a"
    with pytest.raises(InputError, match=r"s.jsonl:2: subscription 'b' has no selector"):
        next(rows)


def test_csv_is_read(tmp_path: Path) -> None:
    text = 'selector,owner,id,priority\n"a IN (1, 2)",me,10,\nx,me,2,-5\n"two\nlines",me,3,1\n'
    rows, bad = read(put(tmp_path / "s.csv", text))
    assert rows == [(10, "a IN (1, 2)", 0, 2), (2, "x", -5, 3), (3, "two\nlines", 1, 4)]
    assert bad == []


def test_csv_ids_have_one_type(tmp_path: Path) -> None:
    assert [row[0] for row in read(put(tmp_path / "s.csv", "id,selector\n1,x\n2b,y\n"))[0]] == [
        "1", "2b",
    ]  # fmt: skip
    assert [row[0] for row in read(put(tmp_path / "s.csv", "id,selector\n1,x\n007,y\n"))[0]] == [
        "1", "007",
    ]  # fmt: skip


def test_bad_csv_rows_are_reported(tmp_path: Path) -> None:
    text = b"id,selector,priority\n1,x,high\n2,x\n,x,1\n3,,1\n4,\xff,1\n5,x,1.5\n6,x,6\n"
    rows, bad = read(put(tmp_path / "s.csv", text))
    assert rows == [(6, "x", 6, 8)]
    assert [line for line, _ in bad] == [2, 3, 4, 5, 6, 7]
    assert bad[0][1] == "subscription 1: a priority is an integer, not 'high'"


def test_missing_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no column 'selector'; the columns are id, rule"):
        read(put(tmp_path / "s.csv", "id,rule\n1,x\n"))
    pq.write_table(pa.table({"selector": ["x"]}), tmp_path / "s.parquet")
    with pytest.raises(InputError, match="no column 'id'"):
        read(tmp_path / "s.parquet")
    with pytest.raises(InputError, match="no column 'id'; the columns are none"):
        read(put(tmp_path / "s.csv", ""))


def test_parquet_is_read(tmp_path: Path) -> None:
    file = tmp_path / "s.parquet"
    table = pa.table(
        {
            "priority": pa.array([None, 3, 1], pa.int32()),
            "selector": pa.array(["x", None, "z"]).dictionary_encode(),
            "id": pa.array(["a", "b", "c"], pa.large_string()),
            "extra": [1.5, 2.5, 3.5],
        }
    )
    pq.write_table(table, file)
    assert read(file) == (
        [("a", "x", 0, 1), ("c", "z", 1, 3)],
        [(2, "subscription 'b' has no selector")],
    )
    pq.write_table(pa.table({"id": [1], "selector": ["x"], "priority": [0.5]}), file)
    assert read(file) == ([], [(1, "subscription 1: a priority is an integer, not 0.5")])


@pytest.mark.parametrize("name", ["s.txt", "s", "rules.tamis", "s.txt.gz"])
def test_plain_text_is_a_selector_per_line(tmp_path: Path, name: str) -> None:
    text = (
        "# my rules\n\na = 1\r\n  # indented\n  b = '#'  \n\t\nc LIKE 'é%'".encode() + b"\n\xff\n"
    )
    rows, bad = read(put(tmp_path / name, text))
    assert rows == [(3, "a = 1", 0, 3), (5, "  b = '#'  ", 0, 5), (7, "c LIKE 'é%'", 0, 7)]
    assert bad == [(8, "not valid UTF-8")]


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read(tmp_path / "s.txt")
    with pytest.raises(InputError, match="not a Parquet file"):
        read(put(tmp_path / "s.parquet", "nothing"))
    with pytest.raises(InputError, match="bad must be"):
        read_subscriptions(tmp_path / "s.txt", bad="maybe")


@pytest.mark.parametrize("path", ["a\0b", None])
def test_invalid_file_names_are_refused(path) -> None:
    with pytest.raises(InputError):
        read_subscriptions(path)
