"""`tamis diff`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import run

OLD = """\
{"id": "a", "selector": "x > 5"}
{"id": "b", "selector": "NOT (y > 1)", "priority": 1}
{"id": "c", "selector": "z"}
{"id": "d", "selector": "x = 1"}
"""
NEW = """\
{"id": "a", "selector": "x > 7"}
{"id": "b", "selector": "y <= 1", "priority": 2}
{"id": "d", "selector": "x = 2"}
{"id": "e", "selector": "w"}
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    old.write_text(OLD)
    new.write_text(NEW)
    return old, new


def test_a_line_per_change(files: tuple[Path, Path]) -> None:
    done = run("diff", *files)
    assert done.exit_code == 1
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(c["change"], c["id"]) for c in found] == [
        ("narrowed", "a"), ("reworded", "b"), ("changed", "d"), ("added", "e"), ("removed", "c"),
    ]  # fmt: skip
    assert found[0]["lost"] == {"x": 7} and found[1]["priorities"] == [1, 2]
    assert (found[2]["lost"], found[2]["gained"]) == ({"x": 1}, {"x": 2})
    assert "4 and 4 subscriptions, 1 narrowed, 1 reworded, 1 changed" in done.stderr


def test_a_table_shows_old_and_new(files: tuple[Path, Path]) -> None:
    shown = run("diff", *files, "--format", "table").stdout
    for part in ("- x > 5", "+ x > 7", 'no longer matches: {"x":7}', "priority 1 became 2"):
        assert part in shown


def test_exit_codes(files: tuple[Path, Path], tmp_path: Path) -> None:
    old, new = files
    assert run("diff", old, old).exit_code == 0
    assert run("diff", old, new, "--fail-on", "widened").exit_code == 0
    assert run("diff", old, new, "--fail-on", "widened", "--fail-on", "removed").exit_code == 1
    assert run("diff", old, new, "--fail-on", "never").exit_code == 0
    assert run("diff", old, tmp_path / "none.jsonl").exit_code == 2
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "a", "selector": "x >"}\n')
    done = run("diff", old, bad)
    assert done.exit_code == 2 and '"bad"' in done.stdout
    assert run("diff", "-", "-").exit_code == 2
