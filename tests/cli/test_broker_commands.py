"""`tamis serve`, `tamis subscribe` and `tamis publish`, as in the README."""

import json
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

from tests.broker.ports import free_port
from tests.cli.command import run

README = Path(__file__).parents[2] / "README.md"


def start(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tamis", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
    )


def until(process: subprocess.Popen[str], said: str) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if said in line:
            return
    raise AssertionError(f"it ended without saying {said!r}")


def printed() -> dict[str, list[str]]:
    """The commands of the README, by verb."""
    section = README.read_text().partition("## The live system")[2].partition("\n## ")[0]
    commands = [
        shlex.split(line, comments=True)[1:]
        for line in re.findall(r"^tamis .*$", section, re.MULTILINE)
    ]
    return {command[0]: command for command in commands}


def test_as_the_readme_says(tmp_path: Path) -> None:
    commands = printed()
    port = str(free_port())
    where = ("--nats", f"nats://127.0.0.1:{port}")
    serving = start(*commands["serve"], "--port", port, cwd=tmp_path)
    try:
        until(serving, "serving at")
        subscribing = start(*commands["subscribe"], *where, "--count", "1", cwd=tmp_path)
        until(subscribing, "subscribed")
        published = start(*commands["publish"], *where, cwd=tmp_path)
        published.communicate(timeout=30)
        assert published.returncode == 0
        out, _ = subscribing.communicate(timeout=30)
        assert subscribing.returncode == 0
        delivery = json.loads(out)
        assert delivery["event"] == {"price": 120} and delivery["subscriptions"] == ["price > 100"]
        more(tmp_path, where)
    finally:
        serving.terminate()
        _, err = serving.communicate(timeout=30)
    assert serving.returncode == 0 and "draining" in err
    assert (tmp_path / "tamis-data").is_dir()


def more(folder: Path, where: tuple[str, ...]) -> None:
    # In this process, which has everything loaded.
    refused = run("subscribe", *where, "price >> 1")
    assert refused.exit_code == 2 and "       ^" in refused.stderr
    assert run("subscribe", *where).exit_code == 2
    assert run("publish", *where).exit_code == 2
    bad = run("publish", *where, "{")
    assert bad.exit_code == 2 and "not JSON" in bad.stderr
    first = run("subscribe", *where, "--durable", "me", "n > 1", "--timeout", "0.1")
    assert first.exit_code == 0 and first.stdout == ""
    lines = folder / "events.jsonl"
    lines.write_text("".join(json.dumps({"n": n}) + "\n" for n in range(5)))
    done = run("publish", *where, "--events", lines)
    assert done.exit_code == 0 and "5 events" in done.stderr
    time.sleep(0.2)
    missed = run("subscribe", *where, "--durable", "me", "--count", "2", "--format", "events")
    assert missed.stdout == '{"n": 2}\n{"n": 3}\n'
    pretty = run("subscribe", *where, "--durable", "me", "--count", "1", "--format", "pretty")
    assert "n > 1" in pretty.stdout and '{"n": 4}' in pretty.stdout
    nobody = run("publish", "--nats", "nats://127.0.0.1:9", '{"a": 1}')
    assert nobody.exit_code == 2 and "tamis serve" in nobody.stderr
