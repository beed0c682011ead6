"""Workloads by name: tables contain the workload's own events, with fixed columns."""

import pytest
from tamis_lab.workloads.workload_catalogue import NAMES, workload_by_name

from tamis.errors import InputError
from tamis.events.batch import EventBatch

pytestmark = pytest.mark.parametrize("name", NAMES)


def test_a_table_holds_the_events(name: str) -> None:
    listed = workload_by_name(name)
    for start, count in [(0, 300), (16_380, 10)]:
        table = listed.table(start, count)
        assert table.schema == listed.schema and table.num_rows == count
        expected = listed.workload.events(count, start).rows()
        assert EventBatch.from_arrow(table).rows() == expected
    assert listed.table(5, 0).schema == listed.schema


def test_another_seed_gives_other_events_except_for_flights(name: str) -> None:
    same = workload_by_name(name, seed=1).table(0, 50).equals(workload_by_name(name).table(0, 50))
    assert same is (name == "flights")


def test_unknown_names_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"did you mean '{name}'"):
        workload_by_name(name + "x")
    with pytest.raises(InputError, match="one of atree2004, "):
        workload_by_name("?")
    with pytest.raises(InputError, match="seed"):
        workload_by_name(name, seed=-1)
