"""Schemas, and selectors checked against them."""

import pyarrow as pa
import pytest

import tamis
from tamis.errors import SchemaError, SelectorTypeError
from tamis.language import parse
from tamis.language.typecheck import check
from tamis.values import Timestamp, Type

SCHEMA = tamis.Schema(
    {
        "price": "DBL",
        "qty": "INT",
        "name": "STR",
        "sold": "BOOL",
        "at": "TIMESTAMP",
        "tags": "LIST<STR>",
        "sizes": "LIST<INT>",
        "user.city": "STR",
    }
)


@pytest.mark.parametrize(
    "selector",
    [
        "price > 5 AND qty > 5.5",
        "price = qty",
        "name LIKE 'x%' AND contains(name, user.city)",
        "sold AND NOT sold",
        "at > TIMESTAMP '2024-01-01'",
        "at BETWEEN DATE '2024-01-01' AND DATE '2024-02-01'",
        "array_contains(tags, 'x') OR array_contains(sizes, 5) OR array_contains(sizes, 1.5)",
        "array_contains(tags, name)",
        "tags IS NULL",
        "price IN (1, 2.5, NULL)",
        "name = NULL",
        "price * qty + 1 > SUM(price, qty) / 2",
        "greatest(name, user.city) = 'x'",
        "least(at, at) < DATE '2024-01-01'",
        "FIRST sold THEN NOT sold WITHIN 5 DAYS PER user.city",
        "AT LEAST 1 OF (sold, qty = 1)",
    ],
)
def test_accepted(selector: str) -> None:
    check(parse(selector), SCHEMA, selector)


@pytest.mark.parametrize(
    ("selector", "fault", "reason", "hint"),
    [
        ("price = 'x'", "'x'", "DBL and STR never compare", "a number goes without quotes"),
        ("name = 5", "5", "STR and INT never compare", "text goes in quotes: '5'"),
        ("5 = name", "name", "INT and STR never compare", "text goes in quotes: '5'"),
        ("sold = 1", "1", "BOOL and INT never compare", ""),
        ("at > '2024-01-01'", "'2024-01-01'", "TIMESTAMP and STR never compare",
         "write TIMESTAMP '2024-01-01'"),
        ("name IN ('x', 5)", "5", "STR and INT never compare", "text goes in quotes: '5'"),
        ("qty BETWEEN 1 AND 'x'", "'x'", "INT and STR never compare",
         "a number goes without quotes"),
        ("tags = 'x'", "tags", "tags is a list", "lists are tested with array_contains(list, x)"),
        ("price", "price", "price is DBL, not BOOL", "compare it with something"),
        ("qty LIKE 'x'", "qty", "qty is INT, where text is needed", ""),
        ("qty RLIKE 'x'", "qty", "qty is INT, where text is needed", ""),
        ("contains(name, qty)", "qty", "qty is INT, where text is needed", ""),
        ("array_contains(name, 'x')", "name", "name is STR, where a list is needed", ""),
        ("array_contains(tags, 5)", "5", "a list of STR never holds INT", ""),
        ("name + 1 > 2", "name", "name is STR, where a number is needed", ""),
        ("-sold > 2", "sold", "sold is BOOL, where a number is needed", ""),
        ("SUM(qty, name) > 2", "name", "name is STR, where a number is needed", ""),
        ("least(qty, name) > 2", "name", "INT and STR never compare", ""),
        ("prise > 2", "prise", "unknown attribute prise", "did you mean 'price'?"),
        ("user = 'x'", "user", "user is an object", "name a field of it, e.g. user.city"),
        ("user.town = 'x'", "user.town", "unknown attribute user.town",
         "did you mean 'user.city'?"),
        ("FIRST sold THEN sold PER nobody", "nobody", "unknown attribute nobody",
         "the schema has price, qty, name, sold, at, tags, sizes, user.city"),
        ("AT LEAST 1 OF (sold, qty)", "qty", "qty is INT, not BOOL", "compare it with something"),
    ],
)  # fmt: skip
def test_refused(selector: str, fault: str, reason: str, hint: str) -> None:
    with pytest.raises(SelectorTypeError) as caught:
        check(parse(selector), SCHEMA, selector)
    error = caught.value
    assert selector[error.start : error.end] == fault
    assert (error.reason, error.hint) == (reason, hint)


def test_an_open_schema_says_nothing_of_other_attributes() -> None:
    schema = tamis.Schema({"a": "INT"}, open=True)
    check(parse("b = 'x' AND b > 5"), schema, "")
    with pytest.raises(SelectorTypeError):
        check(parse("a = 'x'"), schema, "a = 'x'")


def test_ways_to_write_it(tmp_path) -> None:
    plain = tamis.Schema({"a": "INT", "b.c": ("STR", "x"), "t": "timestamp"})
    assert plain.types == {("a",): Type.INT, ("b", "c"): Type.STR, ("t",): Type.TIMESTAMP}
    assert plain.defaults == {("b", "c"): "x"}
    file = tmp_path / "schema.json"
    file.write_text('{"a": "BIGINT", "b.c": {"type": "STRING", "default": "x"}, "t": "TIMESTAMP"}')
    assert tamis.Schema.read(file) == plain
    struct = pa.struct([("c", pa.string()), ("raw", pa.binary())])
    arrow = pa.schema([("a", pa.int32()), ("b", struct), ("t", pa.timestamp("ns", "UTC"))])
    assert tamis.Schema.of(arrow).types == plain.types
    assert repr(plain) == "Schema({'a': 'INT', 'b.c': ('STR', 'x'), 't': 'TIMESTAMP'})"
    dated = tamis.Schema({"t": ("TIMESTAMP", "2024-05-01")})
    assert dated.defaults == {("t",): Timestamp.parse("2024-05-01")}


@pytest.mark.parametrize(
    "attributes",
    [
        {"a": "COMPLEX"},
        {"a": "OPAQUE"},
        {"a": ("INT", "x")},
        {"a": ("INT", 1.5)},
        {"a b": "INT"},
        {"": "INT"},
        {5: "INT"},
        {"a": "INT", "a.b": "INT"},
        {"a": None},
        {"a": ("INT", 2**70)},
        {"t": ("TIMESTAMP", "soon")},
    ],
)
def test_nonsense(attributes) -> None:
    with pytest.raises(SchemaError):
        tamis.Schema(attributes)


def test_unreadable_files(tmp_path) -> None:
    with pytest.raises(SchemaError):
        tamis.Schema.read(tmp_path / "nothing.json")
    (tmp_path / "bad.json").write_text("[1]")
    with pytest.raises(SchemaError):
        tamis.Schema.read(tmp_path / "bad.json")
