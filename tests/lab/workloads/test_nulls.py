"""Sparse events: how many attributes they have, and that selectors distinguish NULL."""

import re
from collections import Counter

import numpy as np
import pytest
from tamis_lab.workloads.nulls import FORMS, NAMES, SparseWorkload

from tamis.language import parse
from tamis.language.evaluate import evaluate
from tamis.language.expr import AtLeast, IsNull, Not, Or, Xor, attributes, walk
from tamis.values import Type

WORKLOAD = SparseWorkload(subscriptions=4000)


@pytest.mark.parametrize("density", [0.0, 0.15, 0.7, 1.0])
def test_density_is_the_fraction_of_present_attributes(density: float) -> None:
    batch = SparseWorkload(subscriptions=1, density=density).events(5000)
    assert len(batch.columns) == (20 if density else 0)
    for columns in batch.columns.values():
        there = 1 - columns[0].data.null_count / 5000
        assert there == pytest.approx(density, abs=0.02)
    if 0 < density < 1:  # each attribute by itself
        one, two, *_ = (np.array(c[0].data.is_valid()) for c in batch.columns.values())
        assert np.mean(one & two) == pytest.approx(density**2, abs=0.02)


def test_types_and_values() -> None:
    for (name,), (column,) in WORKLOAD.events(5000).columns.items():
        values = column.data.drop_null().to_numpy()
        if name.startswith("i"):
            assert column.type is Type.INT and values.max() > 900 and values.max() < 1000
        else:
            assert column.type is Type.DBL and values.max() > 90 and values.max() < 100
            assert np.array_equal(values, np.round(values, 1)) and (values % 1).any()


def test_forms_are_as_frequent_as_they_should_be() -> None:
    assert sum(form.share for form in FORMS) == pytest.approx(1)
    test = r"[id]\d (= [\d.]+|BETWEEN [\d.]+ AND [\d.]+)"
    shapes = Counter(
        re.sub(r"\b[id]\d\b", "name", re.sub(test, "test", text)) for text in WORKLOAD.selectors()
    )
    for form in FORMS:
        shape = re.sub(r"\{[PQRS]\}", "name", re.sub(r"\{[pqrs]\}", "test", form.text))
        assert shapes[shape] / 4000 == pytest.approx(form.share, abs=0.02)


def test_constructs_attributes_and_types() -> None:
    trees = [parse(text) for text in WORKLOAD.selectors()]
    kinds = {type(node) for tree in trees for node in walk(tree)}
    assert {IsNull, Not, Or, Xor, AtLeast} <= kinds
    assert {path[0] for tree in trees for path in attributes(tree)} == set(NAMES)
    ranges = sum(text.count("BETWEEN") for text in WORKLOAD.selectors())
    equalities = sum(text.count(" = ") for text in WORKLOAD.selectors())
    assert equalities / (ranges + equalities) == pytest.approx(0.6, abs=0.02)


def test_every_test_has_an_attribute_of_its_own() -> None:
    for text in WORKLOAD.selectors():
        named = re.findall(r"\b[id]\d\b", text)
        assert len(named) == len(set(named))


def test_selectors_distinguish_null_from_a_value() -> None:
    """Selectors are true, false and unknown, and some would differ if NULL were zero."""
    trees = [parse(text) for text in list(WORKLOAD.selectors())[:500]]
    rows = WORKLOAD.events(60).rows()
    truths = Counter(evaluate(tree, row) for tree in trees for row in rows)
    assert set(truths) == {True, False, None} and truths[True] > 10
    nothing = {name: 0 for name in NAMES}
    assert any(
        evaluate(tree, row) is True and evaluate(tree, {**nothing, **row}) is not True
        for tree in trees
        for row in rows
    )
