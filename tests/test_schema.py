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
        "price * qty + 1 > SUM(price, qty) / 2",
        "greatest(name, user.city) = 'x'",
        "least(at, at) < DATE '2024-01-01'",
        "FIRST sold THEN NOT sold WITHIN 5 DAYS PER user.city",
        "AT LEAST 1 OF (sold, qty = 1)",
    ],
)
def test_valid_selectors_pass_the_type_check(selector: str) -> None:
    check(parse(selector), SCHEMA, selector)


@pytest.mark.parametrize(
    ("selector", "fault", "reason", "hint"),
    [
        ("price = 'x'", "'x'", "DBL and STR never compare", "write a number without quotes"),
        ("name = 5", "5", "STR and INT never compare", "write text in quotes: '5'"),
        ("5 = name", "name", "INT and STR never compare", "write text in quotes: '5'"),
        ("sold = 1", "1", "BOOL and INT never compare", ""),
        ("at > '2024-01-01'", "'2024-01-01'", "TIMESTAMP and STR never compare",
         "write TIMESTAMP '2024-01-01'"),
        ("name IN ('x', 5)", "5", "STR and INT never compare", "write text in quotes: '5'"),
        ("qty BETWEEN 1 AND 'x'", "'x'", "INT and STR never compare",
         "write a number without quotes"),
        ("qty BETWEEN 'x' AND 1", "'x'", "INT and STR never compare",
         "write a number without quotes"),
        ("name = NULL", "NULL", "a comparison with NULL is never true", "write IS NULL"),
        ("name = DATE '2024-01-01'", "DATE '2024-01-01'", "STR and TIMESTAMP never compare", ""),
        ("tags = 'x'", "tags", "tags is a list", "use array_contains(list, x)"),
        ("price", "price", "price is DBL, not BOOL", "compare it with something"),
        ("qty LIKE 'x'", "qty", "qty is INT; expected text", ""),
        ("qty RLIKE 'x'", "qty", "qty is INT; expected text", ""),
        ("contains(name, qty)", "qty", "qty is INT; expected text", ""),
        ("array_contains(name, 'x')", "name", "name is STR; expected a list", ""),
        ("array_contains(tags, 5)", "5", "a list of STR cannot hold INT", ""),
        ("name + 1 > 2", "name", "name is STR; expected a number", ""),
        ("-sold > 2", "sold", "sold is BOOL; expected a number", ""),
        ("SUM(qty, name) > 2", "name", "name is STR; expected a number", ""),
        ("least(qty, name) > 2", "name", "INT and STR never compare", ""),
        ("prise > 2", "prise", "unknown attribute prise", "did you mean 'price'?"),
        ("user = 'x'", "user", "user is an object", "name a field of it, e.g. user.city"),
        ("user.town = 'x'", "user.town", "unknown attribute user.town",
         "did you mean 'user.city'?"),
        ("FIRST sold THEN sold PER nobody", "nobody", "unknown attribute nobody",
         "known attributes: price, qty, name, sold, at, tags, sizes, user.city"),
        ("AT LEAST 1 OF (sold, qty)", "qty", "qty is INT, not BOOL", "compare it with something"),
    ],
)  # fmt: skip
def test_invalid_selectors_fail_the_type_check(
    selector: str, fault: str, reason: str, hint: str
) -> None:
    with pytest.raises(SelectorTypeError) as caught:
        check(parse(selector), SCHEMA, selector)
    error = caught.value
    assert selector[error.start : error.end] == fault
    assert (error.reason, error.hint) == (reason, hint)


def test_an_open_schema_allows_other_attributes() -> None:
    schema = tamis.Schema({"a": "INT"}, open=True)
    check(parse("b = 'x' AND b > 5"), schema, "")
    with pytest.raises(SelectorTypeError):
        check(parse("a = 'x'"), schema, "a = 'x'")


def test_a_schema_has_several_forms(tmp_path) -> None:
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


class Hostile:
    """An object that raises on every access."""

    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)

    def __str__(self) -> str:
        raise RuntimeError


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
        {"a": Type.OPAQUE},
        {"a": ("INT", 1, 2)},
        {"a": ["INT"]},
        {"a": {}},
        {"a": ("STR", Hostile())},
        {"a": Hostile()},
        {b"a": "INT"},
        None,
        [("a", "INT")],
        "a INT",
    ],
)
def test_invalid_schemas_are_refused(attributes) -> None:
    with pytest.raises(SchemaError) as caught:
        tamis.Schema(attributes)
    assert caught.value.reason


@pytest.mark.parametrize(
    ("attributes", "attribute", "reason"),
    [
        ({"a": {"type": "STR", "defualt": ""}}, "a", "'defualt'; did you mean 'default'?"),
        ({"a": {"typ": "STR"}}, "a", "unknown key 'typ'; did you mean 'type'?"),
        ({"a": {"type": "STR", "x": 1}}, "a", "unknown key 'x'; the keys are 'type' and 'default'"),
        ({"user": {"city": "STR"}}, "user", "written with a dot: 'user.city'"),
        ({"user": {"a b": "STR"}}, "user", "written with a dot: 'user.`a b`'"),
        ({"a": "INT", "`a`": "STR"}, "a", "is declared twice"),
    ],
)
def test_mistakes_in_declarations_are_reported(attributes, attribute: str, reason: str) -> None:
    with pytest.raises(SchemaError) as caught:
        tamis.Schema(attributes)
    assert caught.value.attribute == attribute and caught.value.reason.endswith(reason)


@pytest.mark.parametrize(
    "fields",
    [
        [("a", pa.int64()), ("a", pa.string())],
        [("a", pa.binary()), ("a", pa.string())],
        [("s", pa.struct([("a", pa.int64()), ("a", pa.int64())]))],
        [pa.field(b"\xff", pa.int64())],
    ],
)
def test_invalid_arrow_schemas_are_refused(fields) -> None:
    with pytest.raises(SchemaError):
        tamis.Schema.of(pa.schema(fields))


def test_unreadable_files_are_refused(tmp_path) -> None:
    with pytest.raises(SchemaError):
        tamis.Schema.read(tmp_path / "nothing.json")
    (tmp_path / "bad.json").write_text("[1]")
    with pytest.raises(SchemaError):
        tamis.Schema.read(tmp_path / "bad.json")
    for file in (None, "a\0b", 5, tmp_path):
        with pytest.raises(SchemaError):
            tamis.Schema.read(file)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        '{"a":' * 200_000,
        '{"a": "INT", "a": "STR"}',
        '{"a": {"type": "INT", "type": "STR"}}',
        '{"a": "\\ud800"}',
        '{"open": true}',
        '{"open": 1, "attributes": {"a": "INT"}}',
        '{"open": true, "attributes": {"a": "INT"}, "b": "INT"}',
        '{"open": true, "attributes": ["a"]}',
        "1" * 5000,
    ],
    ids=lambda text: text[:30],
)
def test_invalid_files_are_refused(tmp_path, text: str) -> None:
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(SchemaError):
        tamis.Schema.read(tmp_path / "s.json")


@pytest.mark.parametrize(
    ("text", "schema"),
    [
        ('\ufeff{"a": "INT"}', tamis.Schema({"a": "INT"})),
        ('{"open": true, "attributes": {"a": "INT"}}', tamis.Schema({"a": "INT"}, open=True)),
        ('{"open": false, "attributes": {"type": "INT"}}', tamis.Schema({"type": "INT"})),
        ('{"attributes": {"a": "INT"}}', tamis.Schema({"a": "INT"})),
        # These are attributes of these names.
        ('{"open": "BOOL", "attributes": "STR"}',
         tamis.Schema({"open": "BOOL", "attributes": "STR"})),
        ('{"attributes": {"type": "STR"}}', tamis.Schema({"attributes": "STR"})),
        ('{"open": {"type": "BOOL"}}', tamis.Schema({"open": "BOOL"})),
    ],
)  # fmt: skip
def test_schema_files_are_read(tmp_path, text: str, schema: tamis.Schema) -> None:
    (tmp_path / "s.json").write_text(text, encoding="utf-8")
    assert tamis.Schema.read(tmp_path / "s.json") == schema
