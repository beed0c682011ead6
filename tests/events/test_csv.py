"""Events from CSV: the types of columns, and bad rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tamis.errors import InputError
from tamis.schema import Schema
from tamis.values import Timestamp
from tests.events.file_cases import put, read

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


def test_declared_types_take_precedence_in_csv(tmp_path: Path) -> None:
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


def test_an_open_schema_infers_the_other_columns(tmp_path: Path) -> None:
    schema = Schema({"zip": "STR"}, open=True)
    assert read(put(tmp_path / "e.csv", "zip,n\n1,2\n"), schema) == ({0: {"zip": "1", "n": 2}}, [])


def test_bad_csv_rows_are_reported(tmp_path: Path) -> None:
    text = b'a,b\n1,2\n1\n1,2,3\n1,\xff\n1,"x\n\n2,4\n1,"x"y\n3,6\n'
    events, bad = read(put(tmp_path / "e.csv", text))
    assert events == {0: {"a": 1, "b": 2}, 5: {"a": 2, "b": 4}, 7: {"a": 3, "b": 6}}
    # The open quote of line 6 affects no other line.
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


def test_a_header_may_name_a_declared_path(tmp_path: Path) -> None:
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


def test_conflicting_headers_are_refused(tmp_path: Path) -> None:
    file = put(tmp_path / "e.csv", "user,user.city\nx,Lyon\n")
    closed, open_ = (Schema({"user.city": "STR"}, open=is_open) for is_open in (False, True))
    assert read(file, closed) == ({0: {"user": {"city": "Lyon"}}}, [])
    with pytest.raises(InputError, match=r"'user' and 'user.city' cannot both be columns"):
        read(file, open_)
    with pytest.raises(InputError, match="cannot both be columns"):
        read(put(tmp_path / "e.csv", "`user`.city,user.city\nx,y\n"), closed)


def test_a_long_field_is_read(tmp_path: Path) -> None:
    events, bad = read(put(tmp_path / "e.csv", f"a,b\n{'x' * 300_000},1\n"))
    assert events == {0: {"a": "x" * 300_000, "b": 1}} and not bad
