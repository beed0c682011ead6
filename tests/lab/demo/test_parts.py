"""Parts of the demo that need no Spark."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pyarrow as pa
import pytest
from pyarrow import parquet
from tamis_lab.demo.bar_charts import Bar, bars
from tamis_lab.demo.check import CheckResult, differing_events
from tamis_lab.demo.demo_data import apply_changes, drawn_changes, prepare_input
from tamis_lab.workloads.flights import Flights

from tamis.matcher import Matcher


def test_pieces_are_all_departures_by_whole_days(tmp_path: Path) -> None:
    given = prepare_input(Flights(alerts=10), 70_000, tmp_path)
    tables = [parquet.read_table(piece) for piece in given.pieces]
    assert pa.concat_tables(tables).equals(given.events)
    days = [set(zip(t["month"].to_pylist(), t["day"].to_pylist(), strict=True)) for t in tables]
    assert sum(map(len, days)) == len(set().union(*days))
    assert all(parquet.ParquetFile(piece).num_row_groups == 2 for piece in given.pieces)


@pytest.mark.parametrize("count", [1, 1000])
def test_changes_apply_to_the_alerts(count: int) -> None:
    workload = Flights(alerts=count)
    alerts = {alert[0]: alert for alert in workload.subscriptions()}
    changes = drawn_changes(workload, alerts)
    now = apply_changes(alerts, changes)
    assert {"add"} <= {change.change for change in changes}
    if count > 1:
        assert {change.change for change in changes} == {"add", "replace", "remove"}
    assert len({change.id for change in changes}) == len(changes)
    matcher = Matcher(workload.schema)
    assert matcher.add_many(now.values()).count == len(now)


@pytest.mark.parametrize("values", [[], [0], [0.3], [3, 7, 1000], [1234567, 2]])
def test_a_bar_chart_is_valid_svg(values: list[float]) -> None:
    root = ElementTree.fromstring(bars([Bar(v, f"<{v}>", "&") for v in values], "x & y", "<y>"))
    found = [float(part.get("height", "")) for part in root.iter("rect")]
    assert len(found) == len(values) and all(0 <= height <= 204 for height in found)
    if values and max(values):
        assert max(found) > 100  # the scale fits


def test_a_wrong_answer_is_reported() -> None:
    matcher = Matcher()
    matcher.add("low", "a < 2")
    events = pa.table({"a": [0, 1, 2]})
    right = [(0, ["low"]), (1, ["low"]), (2, [])]
    assert differing_events(matcher, right, events) == []
    for wrong in ([], ["low", "low"], ["other"]):
        assert differing_events(matcher, [(1, wrong), *right[2:]], events) == [1]
    checked = CheckResult(3, [1], 2, [])
    assert not checked.equal and checked.verdicts()[0] == "checked 3 events: NOT EQUAL, events [1]"
