"""`tamis match --schema`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.command import run


def test_an_open_schema(tmp_path: Path) -> None:
    rules, schema = tmp_path / "rules.txt", tmp_path / "schema.json"
    rules.write_text("n = 1 AND other = 'x'\n")
    events = '{"n": 1.0, "other": "x"}\n'
    schema.write_text('{"n": "INT"}')
    asked = ["match", "-s", rules, "-e", "-", "--schema", schema, "-q"]
    assert "unknown attribute other" in run(*asked, stdin=events).stderr
    schema.write_text('\ufeff{"open": true, "attributes": {"n": "INT"}}')
    assert run(*asked, stdin=events).stdout == '{"event": 0, "matches": [1]}\n'
