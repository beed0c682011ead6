"""Workloads by name: their tables hold the workloads' own events, all in the same columns."""

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


def test_another_seed_gives_others_but_of_what_took_place(name: str) -> None:
    same = workload_by_name(name, seed=1).table(0, 50).equals(workload_by_name(name).table(0, 50))
    assert same is (name == "flights")


def test_names_that_are_not_there(name: str) -> None:
    with pytest.raises(InputError, match=f"did you mean '{name}'"):
        workload_by_name(name + "x")
    with pytest.raises(InputError, match="one of atree2004, "):
        workload_by_name("?")
    with pytest.raises(InputError, match="seed"):
        workload_by_name(name, seed=-1)
