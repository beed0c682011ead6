"""`tamis match`."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tamis.cli.shared.options import Semantics
from tamis.cli.shared.table_output import render_event
from tamis.engines import ENGINES
from tamis.schema import SEMANTICS
from tamis.values import OPAQUE, Timestamp
from tests.cli.command import EXAMPLES, run

SUBSCRIPTIONS = """\
{"id": "cheap", "selector": "price < 10"}
{"id": "paris", "selector": "city = 'Paris'", "priority": 5}
{"id": "unpriced", "selector": "price IS NULL"}
"""
EVENTS = """\
{"price": 5, "city": "Paris"}
{"price": 50, "city": "Lyon"}

{"city": "Paris"}
"""
ANSWERS = """\
{"event": 0, "matches": ["paris", "cheap"]}
{"event": 1, "matches": []}
{"event": 2, "matches": ["paris", "unpriced"]}
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    subscriptions, events = tmp_path / "s.jsonl", tmp_path / "e.jsonl"
    subscriptions.write_text(SUBSCRIPTIONS)
    events.write_text(EVENTS)
    return subscriptions, events


def test_answers_go_to_stdout_and_the_summary_to_stderr(files: tuple[Path, Path]) -> None:
    done = run("match", "--subscriptions", files[0], "--events", files[1])
    assert (done.exit_code, done.stdout) == (0, ANSWERS)
    assert done.stderr.startswith("3 events, 3 subscriptions, 4 pairs, ")
    assert done.stderr.endswith(" s, 0 bad lines\n")
    assert run("match", "-s", files[0], "-e", files[1], "-q").stderr == ""


# Gryphon's tree knows equalities only.
engines = pytest.mark.parametrize("engine", sorted({*ENGINES} - {"gryphon"}))


@engines
def test_every_engine_gives_the_same_answers(files: tuple[Path, Path], engine: str) -> None:
    done = run("match", "-s", files[0], "-e", files[1], "--engine", engine)
    assert done.stdout == ANSWERS


def test_what_an_engine_cannot_express_is_a_bad_line(files: tuple[Path, Path]) -> None:
    args = ["match", "-s", files[0], "-e", files[1], "--engine", "gryphon"]
    refused = run(*args)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "cannot express a test that is not an equality (price < 10)" in refused.stderr
    skipped = run(*args, "--bad", "skip")
    assert skipped.stdout.splitlines()[0] == '{"event": 0, "matches": ["paris"]}'


def test_costs_are_listed_on_stderr(files: tuple[Path, Path]) -> None:
    done = run("match", "-s", files[0], "-e", files[1], "--costs", "--quiet")
    assert (done.exit_code, done.stdout) == (0, ANSWERS)
    head, *rows, last = done.stderr.splitlines()
    assert head.split() == ["cost", "checks/1000", "matches/1000", "way", "subscription"]
    assert {row.split()[-1] for row in rows} == {"cheap", "paris", "unpriced"}
    assert last == "counted on 3 events"
    refused = run("match", "-s", files[0], "-e", files[1], "--costs", "--engine", "brute")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "the engine brute has no counters" in refused.stderr


def test_events_from_standard_input(files: tuple[Path, Path]) -> None:
    assert run("match", "-s", files[0], "-e", "-", stdin=EVENTS).stdout == ANSWERS
    both = run("match", "-s", "-", "-e", "-")
    assert both.exit_code == 2 and "only one of" in both.stderr


def test_subscriptions_from_standard_input(files: tuple[Path, Path]) -> None:
    assert run("match", "-s", "-", "-e", files[1], stdin=SUBSCRIPTIONS).stdout == ANSWERS


def test_limit_keeps_the_first_matches(files: tuple[Path, Path]) -> None:
    done = run("match", "-s", files[0], "-e", files[1], "--limit", 1)
    assert [json.loads(line)["matches"] for line in done.stdout.splitlines()] == [
        ["paris"], [], ["paris"],
    ]  # fmt: skip
    assert run("match", "-s", files[0], "-e", files[1], "--limit", -1).exit_code == 2


def test_a_table_lists_events_and_matches(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    done = run("match", "-s", files[0], "-e", files[1], "--format", "table")
    assert done.stdout.splitlines() == [
        "  event  attributes                  matches",
        "      0  price=5 city=Paris          paris, cheap",
        "      1  price=50 city=Lyon          -",
        "      2  city=Paris                  paris, unpriced",
    ]


def test_a_narrow_table_wraps_ids_and_cuts_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "45")
    (tmp_path / "s.csv").write_text(
        "id,selector\n" + "".join(f"subscription-{i},TRUE\n" for i in range(3))
    )
    (tmp_path / "e.jsonl").write_text(json.dumps({"text": "a long text with \x1b[31m colour"}))
    done = run("match", "-s", tmp_path / "s.csv", "-e", tmp_path / "e.jsonl", "--format", "table")
    assert done.stdout.splitlines()[1:] == [
        '      0  text="a long text…  subscription-0,',
        "                             subscription-1,",
        "                             subscription-2",
    ]


def test_rendering_of_events() -> None:
    event = {
        "s": "it's\n", "n": 1, "x": 1.5, "b": True, "t": Timestamp.parse("2024-05-01"),
        "l": ["a", None, "b c"], "o": {"odd name": {"deep": OPAQUE}},
    }  # fmt: skip
    assert render_event(event) == (
        's="it\'s\\n" n=1 x=1.5 b=true t=2024-05-01T00:00:00Z l=[a, NULL, "b c"] '
        "o.`odd name`.deep={…}"
    )


COUNTS = """\
{"subscription": "paris", "events": 2}
{"subscription": "cheap", "events": 1}
{"subscription": "unpriced", "events": 1}
{"subscription": "zero", "events": 0}
"""


@engines
def test_counts_list_every_subscription(
    files: tuple[Path, Path], tmp_path: Path, engine: str
) -> None:
    files[0].write_text(SUBSCRIPTIONS + '{"id": "zero", "selector": "price < 0"}\n')
    args = ["match", "-s", files[0], "-e", files[1], "--engine", engine, "--format", "counts"]
    done = run(*args)
    assert (done.exit_code, done.stdout) == (0, COUNTS)
    assert done.stderr.startswith("3 events, 4 subscriptions, 4 pairs, ")
    assert run(*args, "--limit", 1).stdout.splitlines()[1] == (
        '{"subscription": "cheap", "events": 0}'
    )
    assert run(*args, "--out", tmp_path / "d").stdout == ""
    assert (tmp_path / "d" / "counts.jsonl").read_text() == COUNTS


def test_counts_on_a_terminal(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    files[0].write_text(SUBSCRIPTIONS.replace("unpriced", "no price"))
    monkeypatch.setattr("tamis.cli.shared.console.stdout_is_terminal", lambda: True)
    done = run("match", "-s", files[0], "-e", files[1], "--format", "counts")
    assert done.stdout.splitlines() == [
        "      events  subscription",
        "           2  paris",
        "           1  cheap",
        '           1  "no price"',
    ]


def test_counts_of_many_batches_make_no_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tamis.matches.Matches._ordered_pairs", None)
    (tmp_path / "s.txt").write_text("n >= 0\nn < 70\nn < 0\n")
    (tmp_path / "e.jsonl").write_text("".join(f'{{"n": {n}}}\n' for n in range(12_000)))
    done = run("match", "-s", tmp_path / "s.txt", "-e", tmp_path / "e.jsonl", "--format", "counts")
    rows = [tuple(json.loads(line).values()) for line in done.stdout.splitlines()]
    assert rows == [(1, 12_000), (2, 70), (3, 0)]


# -- files ----------------------------------------------------------------------------------------


def test_out_makes_a_directory_with_the_answers(files: tuple[Path, Path], tmp_path: Path) -> None:
    done = run("match", "-s", files[0], "-e", files[1], "--out", tmp_path / "a" / "b")
    assert (done.exit_code, done.stdout) == (0, "")
    assert (tmp_path / "a/b/matches.jsonl").read_text() == ANSWERS
    assert [path.name for path in (tmp_path / "a/b").iterdir()] == ["matches.jsonl"]


def test_out_takes_a_file(files: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("old")
    run("match", "-s", files[0], "-e", files[1], "--out", tmp_path / "x.jsonl")
    assert (tmp_path / "x.jsonl").read_text() == ANSWERS


@pytest.mark.parametrize(
    ("out", "file"),
    [("d", "d/matches.parquet"), ("d.x/", "d.x/matches.parquet"), ("p.parquet", "p.parquet")],
)
def test_parquet_has_a_row_per_match(
    files: tuple[Path, Path], tmp_path: Path, out: str, file: str
) -> None:
    args = ["match", "-s", files[0], "-e", files[1], "--out", f"{tmp_path}/{out}"]
    assert run(*args, "--format", "parquet").exit_code == 0
    assert pq.read_table(tmp_path / file).to_pydict() == {
        "event": [0, 0, 2, 2],
        "subscription": ["paris", "cheap", "paris", "unpriced"],
        "priority": [5, 0, 5, 0],
    }


def test_parquet_has_the_numbers_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("# one\nn > 0\n")
    (tmp_path / "e.jsonl").write_text('{"n": 1}\nbad\n{"n": 0}\n{"n": 2}\n')
    out = tmp_path / "m.parquet"
    done = run("match", "-s", tmp_path / "s.txt", "-e", tmp_path / "e.jsonl", "--bad", "skip",
               "--out", out)  # fmt: skip
    assert done.exit_code == 3
    table = pq.read_table(out)
    assert table.schema.types == [pa.int64()] * 3
    assert table.to_pydict() == {"event": [0, 3], "subscription": [2, 2], "priority": [0, 0]}


def test_parquet_without_events_is_an_empty_table(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("a\n")
    (tmp_path / "e.jsonl").write_text("")
    run(
        "match",
        "-s",
        tmp_path / "s.txt",
        "-e",
        tmp_path / "e.jsonl",
        "--out",
        tmp_path / "m.parquet",
    )
    table = pq.read_table(tmp_path / "m.parquet")
    assert (table.num_rows, table.column_names) == (0, ["event", "subscription", "priority"])


def test_nothing_appears_when_it_fails(files: tuple[Path, Path], tmp_path: Path) -> None:
    files[1].write_text(EVENTS + "bad\n")
    for name, form in (("x.jsonl", "jsonl"), ("x.parquet", "parquet"), ("x.txt", "counts")):
        out = ["--out", tmp_path / "d" / name, "--format", form]
        assert run("match", "-s", files[0], "-e", files[1], *out).exit_code == 2
    assert run("match", "-s", files[0], "-e", files[1], "--format", "counts").stdout == ""
    assert list((tmp_path / "d").iterdir()) == []


def test_an_unwritable_output_is_an_error(files: tuple[Path, Path]) -> None:
    done = run("match", "-s", files[0], "-e", files[1], "--out", files[0] / "x.jsonl")
    assert done.exit_code == 2 and done.stderr.startswith("error: ")


def test_formats_that_do_not_fit_the_output_are_refused(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    needs = run("match", "-s", files[0], "-e", files[1], "--format", "parquet")
    assert needs.exit_code == 2 and "needs --out" in needs.stderr
    table = run("match", "-s", files[0], "-e", files[1], "--format", "table", "--out", tmp_path)
    assert table.exit_code == 2 and "is for the terminal" in " ".join(
        table.stderr.replace("│", " ").split()
    )


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_every_input_format_gives_the_same_answers(tmp_path: Path, kind: str) -> None:
    rows = [{"id": i, "selector": f"n = {i}", "priority": i} for i in range(3)]
    events = [{"n": 0, "s": "x"}, {"n": 2, "s": "y"}]
    for name, data in (("s", rows), ("e", events)):
        table = pa.Table.from_pylist(data)
        if kind == "parquet":
            pq.write_table(table, tmp_path / f"{name}.parquet")
        elif kind == "csv":
            import pyarrow.csv

            pyarrow.csv.write_csv(table, tmp_path / f"{name}.csv")
        else:
            (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, data)))
    done = run("match", "-s", tmp_path / f"s.{kind}", "-e", tmp_path / f"e.{kind}")
    assert done.stdout == '{"event": 0, "matches": [0]}\n{"event": 1, "matches": [2]}\n'


# -- schema, semantics ----------------------------------------------------------------------------


def test_the_semantics_are_those_of_the_library() -> None:
    assert tuple(Semantics) == SEMANTICS


@pytest.mark.parametrize(
    ("semantics", "expected"),
    [("sql", ["b"]), ("strict", []), ("default", ["a"]), ("total", None)],
)
def test_a_missing_attribute_follows_the_semantics(
    tmp_path: Path, semantics: str, expected: list[str] | None
) -> None:
    (tmp_path / "schema.json").write_text('{"x": {"type": "INT", "default": 1}, "y": "BOOL"}')
    (tmp_path / "s.csv").write_text("id,selector\na,x = 1\nb,x IS NULL AND y\n")
    (tmp_path / "e.jsonl").write_text('{"y": true}')
    done = run(
        "match", "-s", tmp_path / "s.csv", "-e", tmp_path / "e.jsonl",
        "--schema", tmp_path / "schema.json", "--semantics", semantics,
    )  # fmt: skip
    if expected is None:
        assert done.exit_code == 2 and "e.jsonl:1: attribute 'x': is missing" in done.stderr
    else:
        assert json.loads(done.stdout)["matches"] == expected


def test_bad_options_are_reported(files: tuple[Path, Path], tmp_path: Path) -> None:
    base = ["match", "-s", str(files[0]), "-e", str(files[1])]
    (tmp_path / "schema.json").write_text('{"price": "MONEY"}')
    for more, reason in [
        (["--engine", "warp"], "unknown engine 'warp'"),
        (["--semantics", "total"], "needs a schema"),
        (["--semantics", "fuzzy"], "fuzzy"),
        (["--schema", str(tmp_path / "no.json")], "cannot read"),
        (["--schema", str(tmp_path / "schema.json")], "unknown type 'MONEY'"),
        (["--bad", "ignore"], "ignore"),
    ]:
        done = run(*base, *more)
        assert done.exit_code == 2 and reason in done.stderr, (more, done.stderr)
    for name in ("s", "e"):
        args = {"s": files[0], "e": files[1]} | {name: tmp_path / "none.jsonl"}
        done = run("match", "-s", args["s"], "-e", args["e"])
        assert done.exit_code == 2
        assert done.stderr == f"error: {tmp_path}/none.jsonl: No such file or directory\n"


# -- bad lines ------------------------------------------------------------------------------------

BAD_SUBSCRIPTIONS = """\
{"id": "good", "selector": "n = 1"}
{"id": "typo", "selector": "n = = 1"}
{"id": "good", "selector": "n = 2"}
{"id": 7, "selector": "n = 2"}
{"id": "seq", "selector": "FIRST a THEN"}
{"id": "none"}
oops
"""


def test_bad_subscriptions_are_skipped_and_reported(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text(BAD_SUBSCRIPTIONS)
    (tmp_path / "e.jsonl").write_text('{"n": 1}')
    done = run("match", "-s", tmp_path / "s.jsonl", "-e", tmp_path / "e.jsonl", "--bad", "skip")
    assert done.exit_code == 3
    assert done.stdout == '{"event": 0, "matches": ["good"]}\n'
    skipped = [line for line in done.stderr.splitlines() if line.startswith("skipped: ")]
    assert sorted(int(line.split(":")[2]) for line in skipped) == [2, 3, 4, 5, 6, 7]
    assert "s.jsonl:2: subscription 'typo': " in done.stderr
    assert "  n = = 1\n      ^\n" in done.stderr
    assert "s.jsonl:3: subscription 'good': already exists" in done.stderr
    assert "6 bad lines" in done.stderr


def test_the_first_bad_subscription_stops_it(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text("\n".join(BAD_SUBSCRIPTIONS.splitlines()[:3]))
    done = run("match", "-s", tmp_path / "s.jsonl", "-e", "-", stdin="{}")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {tmp_path}/s.jsonl:2: subscription 'typo': ")


def test_bad_events_are_skipped_and_reported(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("n = 1")
    events = b'{"n": 1}\n{"n": \n\n{"n": 1e400}\n{"n": "\xff"}\n{"n": 1}\n'
    (tmp_path / "e.jsonl").write_bytes(events)
    done = run("match", "-s", tmp_path / "s.txt", "-e", tmp_path / "e.jsonl", "--bad", "skip", "-q")
    assert done.exit_code == 3
    assert done.stdout == '{"event": 0, "matches": [1]}\n{"event": 4, "matches": [1]}\n'
    assert done.stderr.splitlines() == [
        f"skipped: {tmp_path}/e.jsonl:2: not JSON: it ends early",
        f"skipped: {tmp_path}/e.jsonl:4: number out of range",
        f"skipped: {tmp_path}/e.jsonl:5: not valid UTF-8",
    ]
    failed = run("match", "-s", tmp_path / "s.txt", "-e", tmp_path / "e.jsonl")
    assert failed.exit_code == 2
    assert failed.stderr == (
        f"error: {tmp_path}/e.jsonl:2: not JSON: it ends early\n"
        "  --bad skip reports such lines and continues\n"
    )


# -- the example ----------------------------------------------------------------------------------


def test_the_example(tmp_path: Path) -> None:
    done = run(
        "match", "-s", EXAMPLES / "subscriptions.jsonl", "-e", EXAMPLES / "events.jsonl",
        "--schema", EXAMPLES / "schema.json",
    )  # fmt: skip
    assert done.exit_code == 0
    answers = [json.loads(line)["matches"] for line in done.stdout.splitlines()]
    assert len(answers) == 15 and all(answers)
    assert answers[0][:3] == ["price-drop", "clearance", "good-deal"]
    # No subscription of the example is for nothing.
    rows = (EXAMPLES / "subscriptions.jsonl").read_text().splitlines()
    assert {json.loads(row)["id"] for row in rows} == {id for ids in answers for id in ids}
