"""Events from files: what is read, what is bad, and which numbers they get."""

from __future__ import annotations

import gzip
import io
import json
import sys
import time
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tamis.errors import InputError, SchemaError
from tamis.files import BadLine, read_events
from tamis.schema import Schema
from tamis.values import OPAQUE, Timestamp


def read(
    path: Path | str, schema: Schema | None = None, semantics: str = "sql", batch_size: int = 10_000
) -> tuple[dict[int, dict[str, object]], list[tuple[int, str]]]:
    """All good events by number, and all bad lines."""
    bad: list[BadLine] = []
    events: dict[int, dict[str, object]] = {}
    for numbers, batch, _ in read_events(
        path, schema, semantics, bad="skip", on_bad=bad.append, batch_size=batch_size
    ):
        assert len(numbers) == len(batch) > 0
        events.update(zip(numbers, batch.rows(), strict=True))
    return events, [(line.line, line.reason) for line in bad]


def put(path: Path, data: str | bytes) -> Path:
    data = data.encode() if isinstance(data, str) else data
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


# -- JSON -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["e.jsonl", "e.ndjson", "e.json", "e.JSONL", "e", "e.jsonl.gz"])
def test_json_lines(tmp_path: Path, name: str) -> None:
    file = put(tmp_path / name, '{"a": 1, "b": {"c": "é"}}\n\n  \r\n{"a": 2.5}\r\n{"a": null}')
    assert read(file) == ({0: {"a": 1, "b": {"c": "é"}}, 1: {"a": 2.5}, 2: {}}, [])


BAD_JSON = {
    b'{"a": 1': "not JSON: it ends early",
    b"5": "not a JSON object but int",
    b"[1, 2]": "not a JSON object but array",
    b"null": "not a JSON object but null",
    b'{"a": "\xff"}': "not valid UTF-8",
    b'{"a": 9223372036854775808}': "attribute 'a': integer 9223372036854775808 does not fit",
    b'{"a": [1, 99999999999999999999]}': "attribute 'a': integer 99999999999999999999 does not",
    b'{"a": 1e999}': "number out of range",
    b'{"a": NaN}': "not JSON: invalid character",
    b'{"a": 1} {"a": 2}': "not JSON: trailing characters",
    b'{"a":' * 3000: "objects nest too deep",
    b'{"a":' * 150 + b"1" + b"}" * 150: "attribute 'a': objects nest deeper than 100",
    b"\x00\x01": "not JSON",
}


def test_each_kind_of_bad_json_line_is_skipped_and_told(tmp_path: Path) -> None:
    lines = [b'{"n": 0}', b""]
    for text in BAD_JSON:
        lines += [text, b'{"n": 1}']
    events, bad = read(put(tmp_path / "e.jsonl", b"\n".join(lines)))
    # Record 0 is good, then bad and good ones take turns: numbers count both.
    assert list(events) == list(range(0, 2 * len(BAD_JSON) + 1, 2))
    assert [line for line, _ in bad] == list(range(3, 3 + 2 * len(BAD_JSON), 2))
    for (_, reason), expected in zip(bad, BAD_JSON.values(), strict=True):
        assert reason.startswith(expected), (reason, expected)


@pytest.mark.parametrize("batch_size", [1, 2, 3, 100])
def test_numbers_do_not_depend_on_the_batches(tmp_path: Path, batch_size: int) -> None:
    file = put(tmp_path / "e.jsonl", '{"n": 0}\nx\n{"n": 2}\n{"n": 3}\n{"n": 1e999}\n{"n": 5}\n')
    events, bad = read(file, batch_size=batch_size)
    assert {number: row["n"] for number, row in events.items()} == {0: 0, 2: 2, 3: 3, 5: 5}
    assert [line for line, _ in bad] == [2, 5]


def test_failing_names_the_first_bad_line(tmp_path: Path) -> None:
    # Line 2 is found to be bad only after line 3 was: when the batch is made.
    file = put(tmp_path / "e.jsonl", '{"a": 1}\n{"a": "x"}\n{"a"\n')
    with pytest.raises(InputError, match=r"e.jsonl:2: attribute 'a': 'x' is not of type INT") as e:
        list(read_events(file, Schema({"a": "INT"})))
    assert e.value.line == 2 and e.value.source == str(file)


def test_a_json_array_is_read_with_its_lines(tmp_path: Path) -> None:
    file = put(
        tmp_path / "e.json", '\n[{"a": 1}, {"a": 1}\n,{\n"a":\n2}, 7,\n [{"a": 1}],{"a": 3}]'
    )
    events, bad = read(file)
    assert events == {0: {"a": 1}, 1: {"a": 1}, 2: {"a": 2}, 5: {"a": 3}}
    assert bad == [(5, "not a JSON object but int"), (6, "not a JSON object but array")]


def test_a_broken_array_is_a_broken_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="in the array: not JSON"):
        read(put(tmp_path / "e.json", '[{"a": 1}, {"a" 2}]'))
    assert read(put(tmp_path / "e.json", "[]")) == ({}, [])
    assert read(put(tmp_path / "e.json", " \n")) == ({}, [])


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    assert read(put(tmp_path / "e.jsonl", '\ufeff{"a": 1}')) == ({0: {"a": 1}}, [])
    assert read(put(tmp_path / "e.csv", "\ufeffa\n1\n")) == ({0: {"a": 1}}, [])


def test_standard_input_is_answered_as_it_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    class Pipe(io.RawIOBase):
        blocks: ClassVar = [b'{"a": 1}\n{"a"', b": 2}\n", b'{"a": 3}', b"\n\n", b'{"a": 4}']

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
            block = self.blocks.pop(0) if self.blocks else b""
            buffer[: len(block)] = block
            return len(block)

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Pipe())))
    chunks = [(numbers, batch.rows()) for numbers, batch, _ in read_events("-")]
    assert chunks == [
        ([0], [{"a": 1}]),
        ([1], [{"a": 2}]),
        ([2], [{"a": 3}]),
        ([3], [{"a": 4}]),
    ]


# -- schema and semantics -------------------------------------------------------------------------


def test_rows_against_the_schema_are_bad(tmp_path: Path) -> None:
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


def test_many_bad_rows_cost_no_more_than_a_look_at_each(tmp_path: Path) -> None:
    rows = [{"a": "x" if i % 2 else i, "b": "text", "c": i / 2} for i in range(10_000)]
    file = put(tmp_path / "e.jsonl", "\n".join(map(json.dumps, rows)))
    began = time.perf_counter()
    events, bad = read(file, Schema({"a": "INT", "b": "STR", "c": "DBL"}))
    assert (len(events), len(bad)) == (5_000, 5_000)
    assert time.perf_counter() - began < 10  # about 0.7 s; quadratic would be minutes


# -- CSV ------------------------------------------------------------------------------------------

CSV = """\
id,price,zip,ok,at,phone,big,user.city,note,mixed
1,2,01234,true,2024-05-01,+33,99999999999999999999,Lyon,,1
2,2.5,75001,FALSE,2024-05-01T10:00:00+02:00,+44,1,"Pa""ris, FR",,x

-3,,,,,,,,,
4,NaN,1,true,2024-05-02 10:00:00 Europe/Paris,+1,2,"two
lines",,2024-01-01
"""


@pytest.mark.parametrize("name", ["e.csv", "e.csv.gz", "E.CSV"])
def test_csv_columns_are_typed_as_a_whole(tmp_path: Path, name: str) -> None:
    events, bad = read(put(tmp_path / name, CSV))
    assert bad == []
    at = [Timestamp.parse(t) for t in ("2024-05-01", "2024-05-01 08:00", "2024-05-02 08:00")]
    nan = events[3].pop("price")
    assert isinstance(nan, float) and nan != nan
    assert events == {
        0: {"id": 1, "price": 2.0, "zip": "01234", "ok": True, "at": at[0], "phone": "+33",
            "big": "99999999999999999999", "user.city": "Lyon", "mixed": "1"},
        1: {"id": 2, "price": 2.5, "zip": "75001", "ok": False, "at": at[1], "phone": "+44",
            "big": "1", "user.city": 'Pa"ris, FR', "mixed": "x"},
        2: {"id": -3},
        3: {"id": 4, "zip": "1", "ok": True, "at": at[2], "phone": "+1", "big": "2",
            "user.city": "two\nlines", "mixed": "2024-01-01"},
    }  # fmt: skip


def test_declared_types_rule_in_csv(tmp_path: Path) -> None:
    schema = Schema({"zip": "STR", "n": "INT", "x": "DBL", "ok": "BOOL", "at": "TIMESTAMP",
                     "tags": "LIST<STR>"})  # fmt: skip
    text = (
        "zip,n,x,ok,at,tags,other\n"
        '01234,5.0,+1,True,2024-05-01,"[""a"", null]",9\n'
        "1,007,1e3,,,[],9\n"
        "1,x,,,,,\n"
        "1,1.5,,,,,\n"
        "1,99999999999999999999,,,,,\n"
        "1,1,one,,,,\n"
        "1,1,1,yes,,,\n"
        "1,1,1,true,noon,,\n"
        "1,1,1,true,,a,\n"
        "1,1,1,true,,[1],\n"
    )
    events, bad = read(put(tmp_path / "e.csv", text), schema)
    assert events == {
        0: {"zip": "01234", "n": 5, "x": 1.0, "ok": True, "at": Timestamp.parse("2024-05-01"),
            "tags": ["a", None]},
        1: {"zip": "1", "n": 7, "x": 1000.0, "tags": []},
    }  # fmt: skip
    assert [line for line, _ in bad] == [4, 5, 6, 7, 8, 9, 10, 11]
    assert [reason.split(":")[0] for _, reason in bad] == [
        f"attribute '{name}'" for name in ("n", "n", "n", "x", "ok", "at", "tags", "tags")
    ]


def test_an_open_schema_leaves_the_other_columns_to_their_looks(tmp_path: Path) -> None:
    schema = Schema({"zip": "STR"}, open=True)
    assert read(put(tmp_path / "e.csv", "zip,n\n1,2\n"), schema) == ({0: {"zip": "1", "n": 2}}, [])


def test_bad_rows_of_csv(tmp_path: Path) -> None:
    text = b'a,b\n1,2\n1\n1,2,3\n1,\xff\n1,"x\n\n2,4\n1,"x"y\n3,6\n'
    events, bad = read(put(tmp_path / "e.csv", text))
    assert events == {0: {"a": 1, "b": 2}, 5: {"a": 2, "b": 4}, 7: {"a": 3, "b": 6}}
    # The open quote of line 6 takes no other line with it.
    assert [line for line, _ in bad] == [3, 4, 5, 6, 9]
    assert bad[0][1] == "1 field where the header has 2"
    assert bad[2][1] == "not valid UTF-8"
    assert "is a quote open?" in bad[3][1]


def test_an_open_quote_costs_one_line_of_a_large_file(tmp_path: Path) -> None:
    rows = [f"{i},text {i}" for i in range(30_000)]
    rows[100] = '100,"text'
    events, bad = read(put(tmp_path / "e.csv", "\n".join(["a,b", *rows])))
    assert [line for line, _ in bad] == [102]
    assert len(events) == 29_999


@pytest.mark.parametrize(
    ("text", "reason"),
    [("a,b,a\n1,2,3\n", "named 'a'"), (b"a,\xff\n1,2\n", "not valid UTF-8"), ('"a\n1\n', "header")],
)
def test_a_bad_header_is_a_bad_file(tmp_path: Path, text: str | bytes, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        read(put(tmp_path / "e.csv", text))


def test_files_of_nothing(tmp_path: Path) -> None:
    for name in ("e.csv", "e.jsonl", "e.json"):
        assert read(put(tmp_path / name, "")) == ({}, [])
    assert read(put(tmp_path / "e.csv", "a,b\n")) == ({}, [])


# -- Parquet --------------------------------------------------------------------------------------


def test_parquet(tmp_path: Path) -> None:
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


def test_text_in_parquet_that_is_not_utf8(tmp_path: Path) -> None:
    file = tmp_path / "e.parquet"
    text = pa.array([b"a", b"\xff", b"c"]).view(pa.string())
    pq.write_table(pa.table({"s": text}), file)
    events, bad = read(file)
    assert {number: row["s"] for number, row in events.items()} == {0: "a", 2: "c"}
    assert [line for line, _ in bad] == [2] and bad[0][
        1
    ] == "attribute 's': text is not valid UTF-8"
    # A dictionary belongs to all rows, and a slice of lists has the elements of all at hand.
    pq.write_table(pa.table({"s": text.dictionary_encode()}), file)
    assert read(file) == (events, bad)
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), text)
    pq.write_table(pa.table({"s": lists, "other": text}), file)
    events, bad = read(file, Schema({"s": "LIST<STR>"}))
    assert events == {0: {"s": ["a"]}, 2: {"s": ["c"]}} and [line for line, _ in bad] == [2]
    # What a closed schema ignores may be anything.
    assert read(file, Schema({"t": "INT"})) == ({0: {}, 1: {}, 2: {}}, [])


def test_a_parquet_file_of_bad_rows_only(tmp_path: Path) -> None:
    file = tmp_path / "e.parquet"
    pq.write_table(pa.table({"a": ["x", "y"], "b": ["z", None]}), file)
    events, bad = read(file, Schema({"a": "INT"}))
    assert events == {} and [line for line, _ in bad] == [1, 2]


def test_columns_that_no_row_can_mend_are_a_bad_file(tmp_path: Path) -> None:
    file = tmp_path / "e.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"]), file)
    with pytest.raises(InputError, match="two columns have this name"):
        read(file)


# -- files ----------------------------------------------------------------------------------------


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    whole = gzip.compress(b'{"a": 1}\n' * 1000)
    cases = {
        "missing.jsonl": (None, "No such file"),
        "cut.jsonl.gz": (whole[: len(whole) // 2], "damaged or cut off"),
        "plain.jsonl.gz": (b'{"a": 1}\n', "Not a gzipped file"),
        "e.parquet": (b"PAR1 but not really", "not a Parquet file"),
        "e.parquet.gz": (b"", "compressed inside"),
        "e.xlsx": (b"", "unknown kind of file"),
    }
    for name, (data, reason) in cases.items():
        if data is not None:
            (tmp_path / name).write_bytes(data)
        with pytest.raises(InputError, match=reason):
            read(tmp_path / name)
    (tmp_path / "dir.jsonl").mkdir()
    with pytest.raises(InputError, match=r"[Dd]irectory"):
        read(tmp_path / "dir.jsonl")
    with pytest.raises(InputError, match="bad is"):
        read_events(tmp_path / "e.jsonl", bad="perhaps")


def test_progress_is_told(tmp_path: Path) -> None:
    file = put(tmp_path / "e.jsonl", '{"a": 1}\n' * 1000)
    fractions = [chunk.fraction for chunk in read_events(file, batch_size=100)]
    assert fractions[-1] == 1.0 and fractions == sorted(fractions)  # type: ignore[type-var]


@pytest.mark.parametrize("path", ["a\0.jsonl", None, 5, b"e.jsonl"])
def test_no_name_of_a_file(path) -> None:
    with pytest.raises(InputError):
        read_events(path)


@pytest.mark.parametrize("size", [0, -1, 1.5, None, True])
def test_no_batch_size(size) -> None:
    with pytest.raises(InputError, match="batch_size is a number from 1 on"):
        read_events("e.jsonl", batch_size=size)


def test_a_schema_in_any_form(tmp_path: Path) -> None:
    chunks = list(read_events(put(tmp_path / "e.jsonl", '{"a": 1}'), {"a": "DBL"}))
    assert chunks[0].batch.schema == Schema({"a": "DBL"})
    with pytest.raises(SchemaError):
        read_events(tmp_path / "e.jsonl", {"a": "DOUBEL"})


# -- names in a CSV header ------------------------------------------------------------------------


def test_a_header_that_spells_a_declared_path(tmp_path: Path) -> None:
    file = put(tmp_path / "e.csv", "user.city,user.`a b`,n\nLyon,1,2\n,,3\n")
    one = {0: {"user.city": "Lyon", "user.`a b`": 1, "n": 2}, 1: {"n": 3}}
    assert read(file) == (one, [])
    nested = Schema({"user.city": "STR", "user.`a b`": "INT"}, open=True)
    events = {0: {"user": {"city": "Lyon", "a b": 1}, "n": 2}, 1: {"n": 3}}
    assert read(file, nested) == (events, [])
    both = Schema({"user.city": "STR", "`user.city`": "STR"})
    assert read(file, both) == ({0: {"user.city": "Lyon"}, 1: {}}, [])
    bad = put(tmp_path / "bad.csv", "user.age\nold\n")
    assert read(bad, Schema({"user.age": "INT"})) == (
        {}, [(2, "attribute 'user.age': 'old' is not a number")],
    )  # fmt: skip


def test_headers_in_the_way_of_each_other(tmp_path: Path) -> None:
    file = put(tmp_path / "e.csv", "user,user.city\nx,Lyon\n")
    closed, open_ = (Schema({"user.city": "STR"}, open=is_open) for is_open in (False, True))
    assert read(file, closed) == ({0: {"user": {"city": "Lyon"}}}, [])
    with pytest.raises(InputError, match=r"'user' and 'user.city' cannot both be columns"):
        read(file, open_)
    with pytest.raises(InputError, match="cannot both be columns"):
        read(put(tmp_path / "e.csv", "`user`.city,user.city\nx,y\n"), closed)


def test_a_long_field(tmp_path: Path) -> None:
    events, bad = read(put(tmp_path / "e.csv", f"a,b\n{'x' * 300_000},1\n"))
    assert events == {0: {"a": "x" * 300_000, "b": 1}} and not bad


def test_json_over_several_lines(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ends early; a \.json file holds one object a line, or"):
        list(read_events(put(tmp_path / "e.json", '{\n  "a": 1\n}\n')))
    _, bad = read(put(tmp_path / "e.jsonl", "{\n"))
    assert bad == [(1, "not JSON: it ends early")]


LONE = "text holds a lone surrogate, which is not valid Unicode"


@pytest.mark.parametrize("text", [r'"\ud800"', r'"\udc00 x"', r'"\ud800A"', r'["\uD800x"]'])
def test_a_lone_surrogate(tmp_path: Path, text: str) -> None:
    assert read(put(tmp_path / "e.jsonl", f'{{"a": {text}}}\n')) == ({}, [(1, LONE)])
    with pytest.raises(InputError, match=f"in the array: {LONE}"):
        read(put(tmp_path / "e.json", f'[{{"a": {text}}}]'))


def test_a_backslash_before_a_u(tmp_path: Path) -> None:
    file = put(tmp_path / "e.jsonl", r'{"a": "\\ud800", "b": "\ud83d\ude00"}' + "\n{\\ud800\n")
    events, bad = read(file)
    assert events == {0: {"a": r"\ud800", "b": "😀"}} and bad[0][1].startswith("not JSON")
