"""From Kafka to Kafka, through a real broker."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tamis import Matcher
from tamis.errors import InputError
from tests.spark.sources.kafka import Unavailable, broker, connector

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed: make setup")

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

ROOT = Path(__file__).parents[3]
BROKEN = ["not json", '{"n": 5, "price": "much"}', '{"n": 6, "price": 3']


def test_events_of_a_topic_are_matched_into_another(tmp_path: Path) -> None:
    from tests.spark.sources.kafka_job import RULES

    events = [_event(n) for n in range(400)]
    lines = [json.dumps(event) for event in events]
    (tmp_path / "events").write_text("\n".join([*lines[:200], *BROKEN, *lines[200:]]) + "\n")
    try:
        jars = connector(pyspark.__version__)
        with broker(tmp_path) as servers:
            _run(tmp_path, servers, jars)
    except (Unavailable, InputError) as error:
        pytest.skip(str(error))
    rows = [json.loads(line) for line in (tmp_path / "matches").read_text().splitlines()]
    aside = Counter(row["broken"] for row in rows if "error" in row)
    assert aside == Counter(BROKEN)
    matcher = Matcher()
    matcher.add_many(RULES)
    found = Counter((row["n"], row["subscription"]) for row in rows if "error" not in row)
    expected = Counter((event["n"], id) for event in events for id in matcher.match(event))
    assert found == expected and expected.total() > 400
    assert {row["index_version"] for row in rows} == {1}


def _event(n: int) -> dict[str, object]:
    event: dict[str, object] = {"n": n, "price": n % 37 / 1.5, "name": "abc"[n % 3] + str(n)}
    if n % 5:
        event["user"] = {"city": "Lyon" if n % 2 else "Graz"}
    return event


def _run(folder: Path, servers: str, jars: list[Path]) -> None:
    command = [sys.executable, "-m", "tests.spark.sources.kafka_job", str(folder), servers]
    ran = subprocess.run(
        [*command, *map(str, jars)], cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
