"""`tamis parse`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tamis.cli.shared.selector_tree import draw_tree
from tamis.language import parse
from tests.cli.command import EXAMPLES, run


def test_text() -> None:
    done = run("parse", "a=1 and not(b>2 or c like 'x%')", "x!=.5")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == "a = 1 AND NOT (b > 2 OR c LIKE 'x%')\nx <> 0.5\n"


def test_rewrite_prints_the_common_form() -> None:
    assert run("parse", "--rewrite", "NOT (a <> 1 OR b IS NULL)").stdout == (
        "a = 1 AND b IS NOT NULL\n"
    )


TREES = {
    "a + 1 < 2 AND NOT (u.b IS NULL OR c ILIKE 'x!%' ESCAPE '!')": """\
AND
├─ <
│  ├─ +
│  │  ├─ a
│  │  └─ 1 INT
│  └─ 2 INT
└─ NOT
   └─ OR
      ├─ IS NULL
      │  └─ u.b
      └─ ILIKE 'x!%' ESCAPE '!'
         └─ c""",
    "AT LEAST 1 OF (-a BETWEEN 1.5 AND abs(b), `odd one` IN ('x', NULL, TRUE))": """\
AT LEAST 1 OF
├─ BETWEEN
│  ├─ -
│  │  └─ a
│  ├─ 1.5 DBL
│  └─ abs
│     └─ b
└─ IN
   ├─ `odd one`
   ├─ 'x' STR
   ├─ NULL
   └─ TRUE BOOL""",
    "contains(a, 'x') XOR array_contains(l, 1) XOR t = DATE '2024-05-01' XOR s RLIKE 'x+'": """\
XOR
├─ contains
│  ├─ a
│  └─ 'x' STR
├─ array_contains
│  ├─ l
│  └─ 1 INT
├─ =
│  ├─ t
│  └─ TIMESTAMP '2024-05-01 00:00:00Z'
└─ RLIKE 'x+'
   └─ s""",
    "FIRST a THEN b WITHIN 5 MINUTES PER u.host": """\
FIRST … THEN WITHIN 300 SECONDS
├─ a
├─ b
└─ PER u.host""",
}


@pytest.mark.parametrize("selector", TREES)
def test_tree(selector: str) -> None:
    assert "\n".join(draw_tree(parse(selector))) == TREES[selector]


def test_tree_on_the_command_line() -> None:
    assert run("parse", "--format", "tree", *TREES).stdout == "\n".join(TREES.values()) + "\n"


def test_json_has_text_and_tree() -> None:
    done = run("parse", "--format", "json", "p >= TIMESTAMP '2024-05-01'", "a.b IN (1)")
    first, second = map(json.loads, done.stdout.splitlines())
    assert first == {
        "selector": "p >= TIMESTAMP '2024-05-01 00:00:00Z'",
        "tree": {
            "node": "Comparison",
            "op": ">=",
            "left": {"node": "Attribute", "path": ["p"]},
            "right": {"node": "Literal", "value": "2024-05-01 00:00:00Z", "type": "TIMESTAMP"},
        },
    }
    assert second["tree"]["operand"] == {"node": "Attribute", "path": ["a", "b"]}
    assert second["tree"]["items"] == [{"node": "Literal", "value": 1, "type": "INT"}]


def test_a_bad_selector_is_shown_with_a_caret_and_the_others_are_printed() -> None:
    done = run("parse", "a = 1", "a = = 1", "b")
    assert (done.exit_code, done.stdout) == (2, "a = 1\nb\n")
    assert done.stderr.startswith("error: ")
    assert "\n  a = = 1\n      ^\n" in done.stderr


def test_a_file_is_read_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text(
        '{"id": "a", "selector": "x=1"}\n{"id": "b", "selector": "x ="}\n'
        'oops\n{"id": "d", "selector": "y"}\n'
    )
    done = run("parse", "--file", file)
    assert (done.exit_code, done.stdout) == (2, "x = 1\ny\n")
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert [line.split(":")[2] for line in errors] == ["2", "3"]
    ids = [json.loads(line)["id"] for line in run(
        "parse", "-f", file, "--format", "json").stdout.splitlines()]  # fmt: skip
    assert ids == ["a", "d"]


def test_a_schema_is_checked(tmp_path: Path) -> None:
    schema = EXAMPLES / "schema.json"
    assert (
        run("parse", "--file", EXAMPLES / "subscriptions.jsonl", "--schema", schema).exit_code == 0
    )
    done = run("parse", "prise < 5", "price < 'x'", "--schema", schema)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "did you mean 'price'?" in done.stderr
    assert "never compare" in done.stderr


def test_a_leading_minus_needs_two_dashes() -> None:
    assert run("parse", "--", "-a < 1").stdout == "-a < 1\n"


def test_bad_usage_is_reported() -> None:
    for args in ([], ["a", "--file", "f"]):
        done = run("parse", *args)
        assert done.exit_code == 2 and "give selectors, or a file" in done.stderr
