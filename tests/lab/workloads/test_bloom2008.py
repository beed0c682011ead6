"""The names, subscriptions and events of the Bloom filter paper, as §6 describes them."""

from collections import Counter
from itertools import chain

import numpy as np
import pytest
from tamis_lab.workloads.bloom2008 import Workload
from tamis_lab.workloads.bloom2008.names import NameChoice
from tamis_lab.workloads.pronounceable import words

from tamis.errors import InputError
from tamis.language import parse
from tamis.language.expr import attributes, predicates
from tamis.paths import RESERVED

UNIFORM = Workload(subscriptions=4000)
PARETO = Workload(subscriptions=4000, choice="pareto")


def test_as_many_words_as_the_paper_has() -> None:
    found = words(112_505, seed=2008)
    assert len(found) == len(set(found)) == 112_505
    assert all(word.isalpha() and word.islower() and word.isascii() for word in found)
    assert not {word.upper() for word in found} & RESERVED
    assert words(100, seed=1) != words(100, seed=2)


@pytest.mark.parametrize("workload", [UNIFORM, PARETO])
def test_two_to_five_different_names(workload: Workload) -> None:
    trees = [parse(text) for text in workload.selectors()]
    lengths = Counter(len(attributes(tree)) for tree in trees)
    assert set(lengths) == {2, 3, 4, 5}
    assert all(count / 4000 == pytest.approx(0.25, abs=0.03) for count in lengths.values())
    assert all(len(list(predicates(tree))) == len(attributes(tree)) for tree in trees)


def test_one_predicate_of_a_thousand_names() -> None:
    workload = Workload(subscriptions=20_000, names=1000, predicates=(1, 1))
    named = Counter(text.split()[0] for text in workload.selectors())
    assert set(named) == set(workload.words) and len(named) == 1000
    assert max(named.values()) < 50 and all(" AND " not in t for t in workload.selectors())


def test_operators_and_values() -> None:
    tests = [test for text in UNIFORM.selectors() for test in predicates(parse(text))]
    operators = Counter(test.op for test in tests)
    for op, share in (("=", 0.5), ("<", 0.25), (">", 0.25)):
        assert operators[op] / len(tests) == pytest.approx(share, abs=0.02)
    assert {test.right.value for test in tests} == set(range(100))


def test_names_follow_the_pareto_distribution() -> None:
    """P(X > x) = 3 / x from 3 on: a quarter takes the first name, half the first three."""
    numbers = NameChoice(20_000, "pareto").draw(np.random.default_rng(1), 100_000)
    for rank in (0, 1, 2, 10, 100, 1000):
        beyond = (numbers > rank).mean()
        assert beyond == pytest.approx(3 / (rank + 4), abs=0.005)
    assert numbers.min() == 0 and 10_000 < numbers.max() < 20_000
    few = NameChoice(5, "pareto").draw(np.random.default_rng(1), 10_000)
    assert set(few.tolist()) == set(range(5))


def test_names_are_chosen_uniformly() -> None:
    numbers = NameChoice(50, "uniform").draw(np.random.default_rng(1), 50_000)
    counts = np.bincount(numbers, minlength=50)
    assert counts.min() > 850 and counts.max() < 1150


@pytest.mark.parametrize("choice", ["uniform", "pareto"])
def test_all_names_of_few_can_be_taken(choice: str) -> None:
    rows = NameChoice(10, choice).draw_distinct(np.random.default_rng(1), 300, 10)
    assert (np.sort(rows, axis=1) == np.arange(10)).all()
    assert len({tuple(row) for row in rows.tolist()}) > 250


@pytest.mark.parametrize("workload", [UNIFORM, PARETO])
def test_one_to_ten_pairs(workload: Workload) -> None:
    events = list(workload.events_as_dicts(5000))
    lengths = Counter(map(len, events))
    assert set(lengths) == set(range(1, 11))
    assert all(count / 5000 == pytest.approx(0.1, abs=0.02) for count in lengths.values())
    assert {value for event in events for value in event.values()} == set(range(100))


@pytest.mark.parametrize("workload", [UNIFORM, PARETO])
def test_columns_hold_the_same_events(workload: Workload) -> None:
    events = list(workload.events_as_dicts(2500))
    batches = list(workload.batches(2500))
    assert [len(batch) for batch in batches] == [1024, 1024, 452]
    assert list(chain.from_iterable(batch.rows() for batch in batches)) == events
    assert workload.events(300).rows() == events[:300]
    # A column for each name that occurs, and for no other.
    assert set(workload.events(300).columns) == {(n,) for event in events[:300] for n in event}


def test_a_batch_too_large_for_memory_is_refused() -> None:
    with pytest.raises(InputError, match="`batches` gives any number"):
        UNIFORM.events(100_000)
