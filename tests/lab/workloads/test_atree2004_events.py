"""The events of the A-Tree thesis: their attributes, their values, and what they match."""

from collections import Counter
from dataclasses import replace

import pytest
from tamis_lab.workloads.atree2004 import Workload

from tamis.errors import InputError
from tamis.language.evaluate import evaluate
from tamis.language.expr import And, Xor
from tamis.values import Type

WORKLOAD = Workload(subscriptions=200, predicates=7, shared_predicates=3)
NAMES = {f"a{number}" for number in range(1, 21)}


def test_the_same_seed_gives_the_same_events() -> None:
    events = WORKLOAD.events(50, matching=0.5).rows()
    assert events == replace(WORKLOAD).events(50, matching=0.5).rows()
    assert events != replace(WORKLOAD, seed=1).events(50, matching=0.5).rows()
    # However many subscriptions there are.
    assert events == replace(WORKLOAD, subscriptions=1000).events(50, matching=0.5).rows()


@pytest.mark.parametrize("count", [0, 1, 1023, 1024, 1025, 2500])
def test_the_first_events_do_not_depend_on_the_count(count: int) -> None:
    events = WORKLOAD.events(count, matching=0.5)
    assert len(events) == count
    assert events.rows() == WORKLOAD.events(2500, matching=0.5).rows()[:count]


def test_blocks_differ() -> None:
    rows = WORKLOAD.events(2048).rows()
    assert rows[:1024] != rows[1024:]


def test_columns_are_integers() -> None:
    batch = WORKLOAD.events(500)
    assert set(batch.columns) == {(name,) for name in NAMES}
    assert all([c.type for c in columns] == [Type.INT] for columns in batch.columns.values())


# -- attributes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operators", "matching", "fewest"),
    [
        ("conjunctive", 0.0, 7),
        ("conjunctive", 1.0, 7),
        ("disjunctive", 0.0, 1),
        ("mixed", 0.0, 1),
        ("mixed", 1.0, 7),  # what an event is made for is all there
    ],
)
def test_events_have_at_least_the_fewest_attributes(
    operators: str, matching: float, fewest: int
) -> None:
    rows = replace(WORKLOAD, operators=operators).events(4000, matching=matching).rows()
    lengths = Counter(map(len, rows))
    assert set(lengths) == set(range(fewest, 21))
    even = 1 / (21 - fewest)
    assert all(count / 4000 == pytest.approx(even, rel=0.35) for count in lengths.values())


def test_attributes_are_equally_likely() -> None:
    found = Counter(name for row in WORKLOAD.events(4000).rows() for name in row)
    assert set(found) == NAMES
    mean = (7 + 20) / 2 / 20
    assert all(count / 4000 == pytest.approx(mean, abs=0.04) for count in found.values())


# -- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("scale", "top"), [(0.5, 500), (1.0, 1000), (4.0, 4000), (1e-6, 1)])
def test_values_cover_the_scaled_domain(scale: float, top: int) -> None:
    rows = replace(WORKLOAD, relation=">").events(4000, scale=scale).rows()
    values = [value for row in rows for value in row.values()]
    assert min(values) == 1 and max(values) == top
    assert sum(values) / len(values) == pytest.approx((1 + top) / 2, rel=0.02)


@pytest.mark.parametrize(("scale", "chance"), [(0.4, 0.2), (1.0, 0.5), (2.5, 0.8)])
def test_a_larger_scale_satisfies_more(scale: float, chance: float) -> None:
    workload = replace(WORKLOAD, relation=">")
    rows = workload.events(200, scale=scale).rows()
    tests = [workload.table.predicate(number) for number in range(0, 20_000, 97)]
    truths = [evaluate(test, row) for row in rows for test in tests]
    known = [truth for truth in truths if truth is not None]
    assert sum(known) / len(known) == pytest.approx(chance, abs=0.03)


# -- what they match ------------------------------------------------------------------------------

REPEATED = replace(WORKLOAD, overlap=1.0, repeated=1.0, pool=3)


@pytest.mark.parametrize("relation", ["=", ">"])
@pytest.mark.parametrize("operators", ["conjunctive", "disjunctive", "mixed"])
def test_an_event_satisfies_the_pair_it_is_made_for(operators: str, relation: str) -> None:
    workload = replace(REPEATED, operators=operators, relation=relation)
    subscriptions = list(workload.expressions())
    cut = workload.shared_predicates
    for event in workload.events(100, matching=1.0).rows():
        for subscription in subscriptions:
            if operators == "conjunctive":
                parts = And(subscription.operands[:cut]), And(subscription.operands[cut:])
            else:
                parts = subscription.operands
            if all(evaluate(part, event) is True for part in parts):
                assert isinstance(subscription, Xor) or evaluate(subscription, event) is True
                break
        else:
            raise AssertionError(f"made for no pair: {event}")


@pytest.mark.parametrize("relation", ["=", ">"])
def test_what_is_made_for_a_pair_keeps_to_the_domain(relation: str) -> None:
    workload = replace(REPEATED, operators="mixed", relation=relation, values=4)
    rows = workload.events(500, matching=1.0).rows()
    values = {value for row in rows for value in row.values()}
    assert values == set(range(1, 5 + (relation == ">")))  # more than the largest constant


def test_the_scale_may_go_beyond_32_bits() -> None:
    rows = replace(REPEATED, relation=">").events(200, matching=1.0, scale=1e10).rows()
    assert max(value for row in rows for value in row.values()) > 2**40


def test_an_event_matches_every_repetition_of_its_pair() -> None:
    rows = list(map(tuple, REPEATED.conjunctions().tolist()))
    subscriptions = list(REPEATED.expressions())
    met = set()
    matched = 0
    for event in REPEATED.events(300, matching=1.0).rows():
        found = {i for i, e in enumerate(subscriptions) if evaluate(e, event) is True}
        (pair,) = {rows[i] for i in found}
        assert found == {i for i, row in enumerate(rows) if row == pair}
        met.add(pair)
        matched += len(found)
    assert len(met) == 9
    # SMPE: overlap * repeated / pool**2.
    assert matched / 300 / 200 == pytest.approx(1 / 9, rel=0.1)


@pytest.mark.parametrize("matching", [0.0, 0.3, 1.0])
def test_matching_is_the_fraction_of_events_made_to_match(matching: float) -> None:
    subscriptions = list({*REPEATED.expressions()})
    rows = REPEATED.events(1000, matching=matching).rows()
    found = sum(any(evaluate(e, row) is True for e in subscriptions) for row in rows)
    assert found / 1000 == pytest.approx(matching, abs=0.04 * (0 < matching < 1))


def test_matching_does_not_change_other_events() -> None:
    none, some = (REPEATED.events(1000, matching=fraction).rows() for fraction in (0.0, 0.3))
    same = sum(map(dict.__eq__, none, some))
    assert same / 1000 == pytest.approx(0.7, abs=0.04)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("count", -1), ("matching", 1.5), ("matching", -0.1), ("scale", 0.0), ("scale", float("inf"))],
)
def test_parameters_out_of_range_are_refused(parameter: str, value: float) -> None:
    with pytest.raises(InputError) as caught:
        WORKLOAD.events(**{"count": 10, parameter: value})
    assert caught.value.source == parameter
