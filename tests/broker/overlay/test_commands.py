"""`tamis overlay`, and `tamis serve` with links, on the command line."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tamis.broker.overlay.picture import NodeSnapshot, OverlaySnapshot, dot, overlay_snapshot
from tests.broker.conftest import Nats
from tests.broker.overlay_nodes import Served
from tests.broker.overlay_traffic import quiet
from tests.cli.command import command, environment, run


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    nodes = Served(tmp_path_factory.mktemp("overlay"), "--routing", "covering")
    try:
        nodes.make((("lyon", "paris"), ("paris", "rome")))
        asyncio.run(quiet(nodes.urls))
        yield nodes
    finally:
        nodes.close()


def test_an_overlay_is_shown_and_drawn(served: Served, tmp_path: Path) -> None:
    where = ("--nats", served.urls["lyon"])
    shown = run("overlay", *where, "--wait")
    assert shown.exit_code == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert lines[0].split()[:2] == ["node", "brokers"]
    assert [line.split()[0] for line in lines[1:4]] == ["lyon", "paris", "rome"]
    links = [line.split() for line in lines if line.endswith("in sync")]
    assert sorted(tuple(words[:2]) for words in links) == [
        ("lyon", "paris"), ("paris", "lyon"), ("paris", "rome"), ("rome", "paris"),
    ]  # fmt: skip
    told = json.loads(run("overlay", *where, "--format", "json").stdout)
    assert told["links"] == [["lyon", "paris"], ["paris", "rome"]] and told["silent"] == {}
    assert told["nodes"]["rome"]["routing"] == "covering"
    graph = run("overlay", *where, "--format", "dot").stdout
    assert '"lyon" -- "paris" [label=' in graph and graph.startswith("graph overlay {")
    out = tmp_path / "overlay.svg"
    drawn = run("overlay", *where, "--out", out)
    assert drawn.exit_code == 0
    assert out.exists() or out.with_suffix(".dot").read_text() == graph


def test_a_dead_node_is_silent_and_can_be_unlinked(served: Served) -> None:
    where = ("--nats", served.urls["paris"])
    assert "no link to 'lima' here" in run("overlay", "unlink", "lima", *where).stderr
    served.kill("rome")
    shown = run("overlay", *where)
    line = next(each for each in shown.stdout.splitlines() if each.startswith("rome"))
    assert line.split()[1] == "silent" and "rome does not answer" in shown.stdout
    refused = run("overlay", *where, "--wait", "--timeout", "0.1")
    assert refused.exit_code == 2 and "silent nodes: rome" in refused.stderr
    done = run("overlay", "unlink", "rome", *where, "--forget")
    assert done.exit_code == 0 and "unlinked rome" in done.stderr
    left = run("overlay", *where).stdout.splitlines()
    assert not [line for line in left if line.startswith("rome")]


def test_serve_exits_with_the_reason_when_a_link_is_refused(
    served: Served, tmp_path: Path, own_nats: Nats
) -> None:
    link = ("--link", served.urls["lyon"])
    assert "needs a name: --name paris" in run("serve", *link).stderr
    assert "a node must be 1 to 64 letters" in run("serve", *link, "--name", "no name").stderr
    done = subprocess.run(
        command("serve", "--nats", own_nats.url, *link, "--name", "oslo"),
        capture_output=True,
        text=True,
        timeout=60,
        env=environment(),
    )
    assert done.returncode == 2
    assert "differ in routing: edge here, covering there" in done.stderr


def test_help_shows_examples_and_a_missing_node_is_reported(own_nats: Nats) -> None:
    for verb, example in (
        (("overlay",), "tamis overlay unlink rome"),
        (("overlay", "unlink"), "--forget"),
        (("serve",), "docs/guides/overlay.md"),
    ):
        done = run(*verb, "--help")
        assert done.exit_code == 0 and example in done.stdout and "<bool>" not in done.stdout
    nobody = run("overlay", "--nats", own_nats.url)
    assert nobody.exit_code == 2 and "tamis serve --name NAME" in nobody.stderr


def test_a_drawing_of_nodes_that_do_not_answer() -> None:
    shown = overlay_snapshot({"nodes": {}, "silent": {"rome": "away"}})
    assert not shown.is_converged and shown.silent == {"rome": "away"}
    silent = OverlaySnapshot({'ro"me': NodeSnapshot('ro"me')}, [], {})
    assert '"ro\\"me" [label="ro\\"me\\nsilent"' in dot(silent)
