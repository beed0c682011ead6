"""`tamis compile`, and `tamis match --index`."""

from __future__ import annotations

from pathlib import Path

import pytest

import tamis
from tests.cli.command import EXAMPLES, run
from tests.cli.test_match import ANSWERS, EVENTS, SUBSCRIPTIONS


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    subscriptions, events = tmp_path / "s.jsonl", tmp_path / "e.jsonl"
    subscriptions.write_text(SUBSCRIPTIONS)
    events.write_text(EVENTS)
    return subscriptions, events


def test_an_index_answers_as_its_subscriptions_do(files: tuple[Path, Path], tmp_path: Path) -> None:
    index = tmp_path / "rules.index"
    done = run("compile", "-s", files[0], "--out", index)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.startswith("3 subscriptions, ") and done.stderr.endswith(" 0 bad lines\n")
    with tamis.Matcher.open(index):  # a reader does not mind the writer
        done = run("match", "--index", index, "--events", files[1])
    assert (done.exit_code, done.stdout) == (0, ANSWERS)
    assert run("match", "-i", index, "-e", files[1], "-q").stderr == ""


def test_the_schema_and_the_semantics_are_in_the_index(tmp_path: Path) -> None:
    index, events = tmp_path / "index", tmp_path / "e.jsonl"
    subscriptions, schema = EXAMPLES / "subscriptions.jsonl", EXAMPLES / "schema.json"
    options = ("--schema", schema, "--semantics", "strict")
    run("compile", "-s", subscriptions, *options, "-o", index, "-q")
    matcher = tamis.Matcher.open(index, read_only=True)
    assert matcher.schema == tamis.Schema.read(schema) and matcher.semantics == "strict"
    events = EXAMPLES / "events.jsonl"
    expected = run("match", "-s", subscriptions, "-e", events, *options).stdout
    assert run("match", "--index", index, "-e", events).stdout == expected
    for option in (("--schema", schema), ("--semantics", "sql"), ("--engine", "brute")):
        done = run("match", "--index", index, "-e", events, *option)
        assert done.exit_code == 2 and f"{option[0]} cannot be used with --index" in done.stderr


def test_bad_lines_fail_or_are_skipped(files: tuple[Path, Path], tmp_path: Path) -> None:
    index = tmp_path / "index"
    files[0].write_text(SUBSCRIPTIONS + '{"id": "bad", "selector": "a ="}\n')
    done = run("compile", "-s", files[0], "--out", index)
    assert done.exit_code == 2 and "s.jsonl:4" in done.stderr and "--bad skip" in done.stderr
    assert not index.exists()
    done = run("compile", "-s", files[0], "--out", index, "--bad", "skip")
    assert done.exit_code == 3 and "3 subscriptions" in done.stderr
    assert run("match", "--index", index, "-e", files[1]).stdout == ANSWERS


def test_subscriptions_and_index_exclude_each_other(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    for options in ((), ("-s", files[0], "-i", tmp_path)):
        done = run("match", "-e", files[1], *options)
        assert done.exit_code == 2 and "give one of --subscriptions and --index" in done.stderr


def test_a_missing_index_and_an_existing_folder_are_errors(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    done = run("match", "--index", tmp_path / "nowhere", "-e", files[1])
    assert done.exit_code == 2 and "there is no index here" in done.stderr
    done = run("compile", "-s", files[0], "--out", tmp_path)
    assert done.exit_code == 2 and "already exists; choose another path" in done.stderr
