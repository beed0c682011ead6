"""Shapes by rank: each once, and every tree made true."""

from itertools import product

import pytest
from tamis_lab.workloads.atree2004.trees import build_tree, satisfying_values, shapes

from tamis.language.evaluate import evaluate
from tamis.language.expr import Attribute

LEAVES = [Attribute((name,)) for name in "abcdefg"]


@pytest.mark.parametrize("leaves", range(1, 8))
def test_every_shape_is_there_once(leaves: int) -> None:
    count = {1: 1, 2: 1, 3: 2, 4: 5, 5: 14, 6: 42, 7: 132}[leaves]
    assert shapes(leaves) == count
    trees = {str(build_tree(LEAVES[:leaves], shape, [0] * (leaves - 1))) for shape in range(count)}
    assert len(trees) == count


def test_there_is_no_shape_beyond_the_last() -> None:
    with pytest.raises(IndexError):
        build_tree(LEAVES[:4], 5, [0, 0, 0])


def test_operators_are_in_preorder() -> None:
    # The first with two leaves on the left: the shapes of 1 + 4 come before.
    shape = shapes(1) * shapes(4)
    tree = build_tree(LEAVES[:5], shape, [0, 1, 2, 1])
    assert str(tree) == "(a OR b) AND (c XOR (d OR e))"


@pytest.mark.parametrize("leaves", range(1, 6))
def test_every_tree_is_made_true(leaves: int) -> None:
    for shape, operators in product(range(shapes(leaves)), product(range(3), repeat=leaves - 1)):
        truths = satisfying_values(leaves, shape, operators)
        event = dict(zip("abcdefg", truths, strict=False))
        assert evaluate(build_tree(LEAVES[:leaves], shape, operators), event) is True
