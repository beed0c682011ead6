"""`tamis lint`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import EXAMPLES, run, run_process

RULES = """\
x < 5 AND y = 1 AND x > 9
price <= 1000 AND company IN ('IBM', 'Dell')
# a comment

company = 'Dell' AND price < 500
price <= 1000 AND (company = 'Dell' OR company = 'IBM')
a = 1 AND a = 1
x ==
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    file = tmp_path / "rules.txt"
    file.write_text(RULES, encoding="utf-8")
    return file


def test_a_line_per_finding_with_the_ids_it_names(rules: Path) -> None:
    done = run("lint", rules, "--quiet")
    assert (done.exit_code, done.stderr) == (1, "")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(f["rule"], f["ids"]) for f in found] == [
        ("never-matches", [1]),
        ("covered", [5, 2]),
        ("equivalent", [6, 2]),
        ("redundant", [7]),
        ("bad-selector", [8]),
    ]
    assert found[0]["spans"] == [[0, 5], [20, 25]] and found[0]["line"] == 1
    assert found[3]["suggestion"] == "a = 1"


def test_a_table_has_carets(rules: Path) -> None:
    done = run("lint", rules, "--format", "table")
    lines = done.stdout.splitlines()
    at = next(n for n, line in enumerate(lines) if "x < 5 AND y = 1 AND x > 9" in line)
    text, carets = lines[at], lines[at + 1]
    assert [text[n] for n, mark in enumerate(carets) if mark == "^"] == list("x < 5x > 9")
    assert "instead: a = 1" in done.stdout
    assert done.stderr.startswith("6 subscriptions, 2 errors, 2 warnings, 1 note, ")


def test_sarif(rules: Path) -> None:
    done = run("lint", rules, "--format", "sarif", "--quiet")
    report = json.loads(done.stdout)
    assert report["version"] == "2.1.0" and report["$schema"].endswith("sarif-2.1.0.json")
    (only,) = report["runs"]
    declared = [rule["id"] for rule in only["tool"]["driver"]["rules"]]
    for result in only["results"]:
        assert declared[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note") and result["message"]["text"]
        for location in result["locations"]:
            physical = location["physicalLocation"]
            assert physical["artifactLocation"]["uri"] == str(rules)
            region = physical["region"]
            line = RULES.splitlines()[region["startLine"] - 1]
            assert (
                line[region["startColumn"] - 1 : region["endColumn"] - 1]
                == (region["snippet"]["text"])
            )


def test_other_files_have_lines_and_no_columns(tmp_path: Path) -> None:
    file = tmp_path / "rules.jsonl"
    file.write_text('\n{"id": "a", "selector": "x < 1 AND x > 2"}\n{"id": "b"}\n')
    report = json.loads(run("lint", file, "--format", "sarif", "--quiet").stdout)
    dead, unreadable = report["runs"][0]["results"]
    region = dead["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 2, "snippet": {"text": "x < 1"}}
    assert unreadable["ruleId"] == "bad-line"


@pytest.mark.parametrize(
    ("level", "code"), [("note", 1), ("warning", 0), ("error", 0), ("never", 0)]
)
def test_fail_on_sets_the_exit_code(tmp_path: Path, level: str, code: int) -> None:
    file = tmp_path / "rules.txt"
    file.write_text("a = 1 AND a = 1\n")
    assert run("lint", file, "--fail-on", level).exit_code == code


def test_clean_subscriptions_print_nothing(tmp_path: Path) -> None:
    file = tmp_path / "rules.txt"
    file.write_text("a = 1\nb = 1\n")
    done = run("lint", file)
    assert (done.exit_code, done.stdout) == (0, "")
    assert run("lint", file, "--format", "table").stdout == ""


def test_unreadable_input_exits_with_2(tmp_path: Path) -> None:
    assert run("lint", tmp_path / "none.txt").exit_code == 2
    file = tmp_path / "rules.txt"
    file.write_text("a = 1\n")
    assert run("lint", file, "--semantics", "total").exit_code == 2
    assert run("lint", file, "--fail-on", "always").exit_code == 2


def test_schema_and_semantics(tmp_path: Path) -> None:
    file, schema = tmp_path / "rules.txt", tmp_path / "schema.json"
    file.write_text("x > 1 AND x < 2\n")
    schema.write_text('{"x": "INT"}')
    assert run("lint", file).exit_code == 0
    assert '"never-matches"' in run("lint", file, "--schema", schema).stdout


def test_the_examples_are_clean_as_a_process() -> None:
    rules, schema = EXAMPLES / "subscriptions.jsonl", EXAMPLES / "schema.json"
    done = run_process("lint", rules, "--schema", schema, "--fail-on", "error")
    assert done.returncode == 0, done.stdout + done.stderr
