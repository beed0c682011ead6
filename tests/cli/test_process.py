"""The command line as a real process: what a shell, a pipe and a terminal see."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.command import EXAMPLES, ROOT, command, environment, run, run_process


def test_help_is_quick_and_imports_nothing_heavy() -> None:
    code = (
        "import sys; from tamis.cli import app; app(['--help'], standalone_mode=False); "
        "heavy = ('pyarrow', 'numpy', 'msgspec', 'pyspark'); "
        "sys.exit(int(any(name in sys.modules for name in heavy)))"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize(
    "verb",
    [
        [], ["match"], ["compile"], ["backtest"], ["stream"], ["explain"], ["parse"], ["lint"],
        ["diff"],
    ],
)  # fmt: skip
def test_help_fits_the_terminal(
    monkeypatch: pytest.MonkeyPatch, verb: list[str], width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    done = run(*verb, "--help")
    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= width
    assert ("Examples" if verb else "Exit codes") in done.stdout
    # No example is broken over two lines, at either width.
    for line in re.findall(r"^ +(?:tamis|sed|tail) .*$", done.stdout, re.M):
        assert len(line.rstrip()) < 80


def test_version_is_printed() -> None:
    done = run_process("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"tamis \d+\.\d+\.\d+\S*\n", done.stdout)


def test_no_verb_shows_the_help_and_a_wrong_one_a_hint() -> None:
    assert "Usage: tamis" in run().stdout + run().stderr
    wrong = run("mach")
    assert wrong.exit_code == 2 and "match" in wrong.stderr


def test_match_end_to_end(tmp_path: Path) -> None:
    done = run_process(
        "match", "-s", EXAMPLES / "subscriptions.jsonl", "-e", "-",
        stdin='{"price": 1, "list_price": 2, "seller": {"country": "FR"}}\n',
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stdout == '{"event": 0, "matches": ["price-drop", "from-the-continent"]}\n'
    assert done.stderr.startswith("1 event, 14 subscriptions, 2 pairs, ")


def test_an_error_has_no_traceback() -> None:
    done = run_process("explain", "a = ", "--event", "{}")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("error: ") and "Traceback" not in done.stderr


@pytest.mark.parametrize("format", ["jsonl", "table"])
def test_a_reader_that_stops_early(tmp_path: Path, format: str) -> None:
    (tmp_path / "s.txt").write_text("a = 1\n")
    (tmp_path / "e.jsonl").write_text('{"a": 1}\n' * 30_000)
    process = subprocess.Popen(
        command("match", "-s", tmp_path / "s.txt", "-e", tmp_path / "e.jsonl", "--format", format),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    assert process.stdout and process.stdout.readline()
    process.stdout.close()
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (141, b"")


def test_a_full_disk_is_reported() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run(command("parse", "a"), stdout=full, stderr=subprocess.PIPE,
                              env=environment(), encoding="utf-8")  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "error: cannot write: No space left on device\n"


def test_a_live_pipe_is_answered_at_once_and_ctrl_c_is_quiet(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("a = 1\n")
    process = subprocess.Popen(
        command("match", "-s", tmp_path / "s.txt", "-e", "-"), env=environment(),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin and process.stdout
    for number in range(2):
        process.stdin.write(b'{"a": 1}\n')
        process.stdin.flush()
        assert process.stdout.readline() == b'{"event": %d, "matches": [1]}\n' % number
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, b"")


def on_a_terminal(args: list[str], stdout: int | None = None, **env: str) -> str:
    """Run with a pseudo-terminal for stderr, and for stdout unless it is given."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        args, stdin=subprocess.DEVNULL, stdout=theirs if stdout is None else stdout,
        stderr=theirs, env=environment(TERM="xterm", COLUMNS="100", **env),
    )  # fmt: skip
    os.close(theirs)
    shown, deadline = b"", time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            block = os.read(ours, 1 << 16)
        except OSError:  # Linux says so when the other end is closed
            break
        if not block:
            break
        shown += block
    process.wait(10)
    os.close(ours)
    return shown.decode()


MATCH = command("match", "-s", EXAMPLES / "subscriptions.jsonl", "-e", EXAMPLES / "events.jsonl")


def test_a_terminal_gets_a_table_in_colour() -> None:
    shown = on_a_terminal(MATCH)
    assert "attributes" in shown and "\x1b[32m" in shown and '{"event"' not in shown
    assert "━" not in shown  # a bar would break into the table


def test_a_terminal_that_is_free_gets_a_progress_bar() -> None:
    shown = on_a_terminal(MATCH, stdout=subprocess.DEVNULL, NO_COLOR="1")
    assert "━" in shown and "15 events" in shown
    assert not re.search("\x1b\\[[0-9;]*3[0-9]", shown)


def test_the_quickstart_runs() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "quickstart.py"], env=environment(),
        capture_output=True, encoding="utf-8", cwd="/",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "['cheap-pcs', 'any-ibm']" in done.stdout
    assert "did you mean 'category'?" in done.stdout
