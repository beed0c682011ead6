"""What every workload guarantees: seeds, prefixes, selectors that parse, events as columns."""

from dataclasses import replace
from itertools import islice

import pytest
from tamis_lab.workloads import bdd2001, bloom2008
from tamis_lab.workloads.nulls import SparseWorkload
from tamis_lab.workloads.selective import SelectiveWorkload
from tamis_lab.workloads.texts import Requests

from tamis.errors import InputError
from tamis.language import parse

# More than one block of subscriptions, and not a whole number of them.
MANY = 17_000
WORKLOADS = {
    "selective": SelectiveWorkload(subscriptions=MANY),
    "selective-5": SelectiveWorkload(subscriptions=MANY, predicates=5),
    "nulls": SparseWorkload(subscriptions=MANY),
    "texts": Requests(subscriptions=MANY),
    "bdd2001": bdd2001.Workload(subscriptions=MANY),
    "bdd2001-partial": bdd2001.Workload(subscriptions=MANY, density=0.3),
    "bdd2001-grammar": bdd2001.Workload(subscriptions=MANY, form="grammar"),
    "bloom2008": bloom2008.Workload(subscriptions=MANY, names=50),
    "bloom2008-pareto": bloom2008.Workload(subscriptions=MANY, choice="pareto"),
}


@pytest.fixture(params=WORKLOADS)
def workload(request: pytest.FixtureRequest) -> object:
    return WORKLOADS[request.param]


def test_the_same_seed_gives_the_same_workload(workload) -> None:
    assert list(workload.selectors()) == list(replace(workload).selectors())
    assert workload.events(300).rows() == replace(workload).events(300).rows()
    other = replace(workload, seed=1)
    assert list(other.selectors())[:50] != list(workload.selectors())[:50]
    assert other.events(50).rows() != workload.events(50).rows()


def test_the_first_rows_do_not_depend_on_the_count(workload) -> None:
    few = replace(workload, subscriptions=100)
    assert list(few.selectors()) == list(islice(workload.selectors(), 100))
    assert few.events(40).rows() == workload.events(300).rows()[:40]
    assert len(list(workload.selectors())) == MANY
    assert [len(workload.events(count)) for count in (0, 1, MANY)] == [0, 1, MANY]


def test_a_part_is_the_same_as_in_the_whole(workload) -> None:
    block = 1 << 14
    start = block - 20
    part = workload.events(40, start).rows()
    assert part == workload.events(MANY).slice(start, 40).rows()
    assert part == workload.events(20, start).rows() + workload.events(20, block).rows()
    assert len(workload.events(0, start)) == len(workload.events(0, block)) == 0


def test_a_part_of_the_selectors_is_the_same_as_in_the_whole(workload) -> None:
    whole = list(workload.selectors())
    block = 1 << 14
    for start, count in [(0, 5), (block - 20, 40), (block, 7), (MANY - 3, 3), (MANY, 0), (9, 0)]:
        assert list(workload.selectors(start, count)) == whole[start : start + count]
    assert list(workload.selectors(block + 1)) == whole[block + 1 :]
    for start, count in [(-1, 1), (0, MANY + 1), (MANY, 1), (0, -1)]:
        with pytest.raises(InputError):
            workload.selectors(start, count)


def test_blocks_differ(workload) -> None:
    selectors = list(workload.selectors())
    assert selectors[:600] != selectors[-616:-16] and selectors[:600] != selectors[1 << 14 :][:600]


def test_every_selector_parses(workload) -> None:
    for text in islice(workload.selectors(), 2000):
        parse(text)


def test_parameters_out_of_range_are_refused(workload) -> None:
    for parameter, value in (("subscriptions", 0), ("seed", -1)):
        with pytest.raises(InputError) as caught:
            replace(workload, **{parameter: value})
        assert caught.value.source == parameter
    with pytest.raises(InputError):
        workload.events(-1)
    with pytest.raises(InputError):
        workload.events(1, -1)


@pytest.mark.parametrize(
    ("kind", "parameter", "value"),
    [
        (SelectiveWorkload, "predicates", 0),
        (SelectiveWorkload, "attributes", 6),
        (SelectiveWorkload, "width", 1000),
        (SelectiveWorkload, "equalities", 1.1),
        (SparseWorkload, "density", -0.1),
        (SparseWorkload, "equalities", 2),
        (Requests, "vocabulary", 0),
        (bdd2001.Workload, "density", 1.5),
        (bdd2001.Workload, "conjunctive", -1),
        (bloom2008.Workload, "names", 112_506),
        (bloom2008.Workload, "choice", "normal"),
        (bloom2008.Workload, "predicates", (0, 5)),
        (bloom2008.Workload, "pairs", (5, 4)),
        (bloom2008.Workload, "values", 0),
        (bloom2008.Workload, "equalities", -1),
    ],
)
def test_other_parameters_out_of_range_are_refused(
    kind: type, parameter: str, value: object
) -> None:
    with pytest.raises(InputError) as caught:
        kind(subscriptions=1, **{parameter: value})
    assert caught.value.source == parameter
