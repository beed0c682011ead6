"""`tamis explain`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import run


def test_a_match_exits_with_0(tmp_path: Path) -> None:
    done = run("explain", "a = 1 AND b", "--event", '{"a": 1, "b": true}')
    assert done.exit_code == 0
    assert done.stdout == (
        "selector: matches\n"
        "✓ AND\n"
        "├─ ✓ a = 1  (a is 1)\n"
        "└─ ✓ b  (b is True)\n"
    )  # fmt: skip


def test_no_match_exits_with_1_and_shows_what_was_missing() -> None:
    done = run("explain", "a = 1 AND b LIKE '? %'", "--event", '{"a": 2}')
    assert (done.exit_code, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[:2] == ["selector: does not match", "✗ AND"]
    assert "└─ ? b LIKE '? %'  (b is missing)" in lines
    assert "it would match if:" in lines


def test_a_subscription_by_its_id(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text('oops\n{"id": "x", "selector": "a = 1"}\n{"id": "y", "selector": "b = = 1"}\n')
    event = '{"a": 1}'
    done = run("explain", "--subscriptions", file, "--id", "x", "--event", event)
    assert done.exit_code == 0 and done.stdout.startswith("x: matches\n")
    refused = run("explain", "-s", file, "--id", "y", "--event", event)
    assert refused.exit_code == 2 and "  b = = 1\n" in refused.stderr
    unknown = run("explain", "-s", file, "--id", "z", "--event", event)
    assert unknown.exit_code == 2 and "subscription 'z': does not exist" in unknown.stderr


def test_integer_ids(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("\na = 1\n")
    done = run("explain", "-s", tmp_path / "s.txt", "--id", 2, "--event", '{"a": 1}')
    assert done.exit_code == 0 and done.stdout.startswith("2: matches\n")


def test_the_event_from_a_file_or_standard_input(tmp_path: Path) -> None:
    (tmp_path / "e.json").write_text('{\n  "a": 1\n}\n')
    assert run("explain", "a = 1", "--event", f"@{tmp_path}/e.json").exit_code == 0
    assert run("explain", "a = 1", "--event", "-", stdin='{"a": 2}\n').exit_code == 1


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ("{", "--event: not JSON: it ends early"),
        ("[1]", "--event: not a JSON object but array"),
        ('{"a": 1}\n{"a": 2}', "--event: not JSON: trailing characters"),
        ("", "the input is empty"),
        ("@/no/such/file", "/no/such/file: No such file"),
        ('{"a": 99999999999999999999}', "does not fit into 64 bits"),
    ],
)
def test_bad_events_are_reported(event: str, reason: str) -> None:
    done = run("explain", "a = 1", "--event", event)
    assert done.exit_code == 2
    assert done.stderr.startswith("error: ") and reason in done.stderr


def test_json_has_the_tree() -> None:
    done = run("explain", "a = 1 OR b", "--event", '{"a": 2}', "--format", "json")
    answer = json.loads(done.stdout)
    assert done.exit_code == 1 and done.stdout.count("\n") == 1
    assert answer["matches"] is False and answer["selector"] == "a = 1 OR b"
    assert [part["truth"] for part in answer["tree"]["parts"]] == [False, None]


def test_schema_and_semantics(tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text('{"t": "TIMESTAMP", "x": ["STR"]}')
    bad = run("explain", "t", "--event", "{}", "--schema", tmp_path / "schema.json")
    assert bad.exit_code == 2
    (tmp_path / "schema.json").write_text('{"t": "TIMESTAMP", "x": "STR"}')
    args = ["--event", '{"t": "2024-05-01"}', "--schema", tmp_path / "schema.json"]
    selector = "t >= TIMESTAMP '2024-04-01' AND (x = 'a' OR x IS NULL)"
    assert run("explain", selector, *args).exit_code == 0
    strict = run("explain", selector, *args, "--semantics", "strict")
    assert strict.exit_code == 1 and "x IS NOT NULL" in strict.stdout


def test_bad_usage_is_reported() -> None:
    for args in (
        ["--event", "{}"],
        ["a", "--id", "x", "--subscriptions", "f", "--event", "{}"],
        ["a", "--id", "x", "--event", "{}"],
        ["--subscriptions", "f", "--event", "{}"],
    ):
        done = run("explain", *args)
        assert done.exit_code == 2 and "give a selector, or" in done.stderr, args
    assert run("explain", "a").exit_code == 2


def test_an_id_on_a_bad_line_is_reported(tmp_path: Path) -> None:
    text, table = tmp_path / "s.txt", tmp_path / "s.csv"
    text.write_bytes(b"a = 1\nb = 1\nc = '\xff'\n")
    table.write_text("id,selector\n1,a = 1\n2,b = 1,oops\n7,\n")
    asked = ["--event", '{"a": 1}']
    for file, id, message in (
        (text, 3, f"{text}:3: not valid UTF-8"),
        (table, 3, f"{table}:3: 3 fields where the header has 2"),
        (table, 7, f"{table}:4: subscription 7 has no selector"),
    ):
        done = run("explain", "-s", file, "--id", id, *asked)
        assert done.exit_code == 2 and done.stderr == f"error: {message}\n"
    done = run("explain", "-s", table, "--id", 2, *asked)
    assert done.exit_code == 2 and "subscription '2': does not exist" in done.stderr
    assert "one of the lines that cannot be read" in done.stderr and f"{table}:3: " in done.stderr
    assert run("explain", "-s", table, "--id", 1, *asked).exit_code == 0


def test_a_plan_shows_how_the_subscription_is_found(tmp_path: Path) -> None:
    rules, events = tmp_path / "s.jsonl", tmp_path / "e.jsonl"
    rules.write_text(
        'oops\n{"id": "x", "selector": "a = 1 AND b > 2"}\n{"id": "y", "selector": "b <> 1"}\n'
    )
    events.write_text("".join(f'{{"a": {n}, "b": {n % 4}}}\n' for n in range(1000)))
    done = run("explain", "--plan", "-s", rules, "--id", "x", "--events", events)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == (
        "x: found by one value of the event\n"
        "  why: 0.1 % of events have the value; "
        "up to 0.5 % that is cheaper than a place in every block\n"
        "  segment 1 of 1, with 2 subscriptions; shares of 1,000 events\n"
        "  indexed under\n"
        "  └─ a = 1  (0.1 % of events)\n"
        "  then checked, in this order\n"
        "  └─ b > 2  (25 % of events)\n"
        "  cost: 1 checks per 1,000 events; 0.33 times the average of its segment\n"
    )


def test_the_plan_of_a_selector_alone() -> None:
    done = run("explain", "--plan", "a = 1 OR b = 'x'", "--format", "json")
    answer = json.loads(done.stdout)
    assert done.exit_code == 0 and done.stdout.count("\n") == 1
    assert (answer["id"], answer["way"], answer["events"]) == ("selector", "cover", 0)
    assert {leaf["text"] for leaf in answer["cover"]} == {"a = 1", "b = 'x'"}


def test_a_plan_after_an_explanation() -> None:
    done = run("explain", "--plan", "a = 1", "--event", '{"a": 2}')
    assert done.exit_code == 1
    assert done.stdout.startswith("selector: does not match\n")
    assert "\nselector: found by a cover: tests of which one must hold\n" in done.stdout


def test_bad_usage_of_plans_is_reported(tmp_path: Path) -> None:
    for args, message in (
        (["a"], "give --event or --plan"),
        (["a", "--event", "{}", "--events", "f"], "--events needs --plan"),
        (["--plan", "-s", "-", "--id", "x"], "they cannot be stdin"),
        (["--plan"], "give a selector, or"),
    ):
        done = run("explain", *args)
        assert done.exit_code == 2 and message in " ".join(done.stderr.split()), args
    (tmp_path / "s.txt").write_text("a = 1\nb = = 1\n")
    refused = run("explain", "--plan", "-s", tmp_path / "s.txt", "--id", 2)
    assert refused.exit_code == 2 and "  b = = 1\n" in refused.stderr
