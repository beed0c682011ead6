"""Trees of brokers: numbered from the top, those below a broker next to it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tamis_lab.simulation.topology import TOPOLOGIES, OverlayTree, renumber_tree, topology, tree_of

from tamis.errors import InputError
from tests.routing.networks import trees


def below(tree: OverlayTree, broker: int) -> set[int]:
    found = {broker}
    for each in range(tree.brokers):
        if tree.parent[each] in found:
            found.add(each)
    return found


def check(tree: OverlayTree) -> None:
    assert tree.parent[0] == -1 and tree.size[0] == tree.brokers
    for broker in range(tree.brokers):
        first, size = broker, int(tree.size[broker])
        assert below(tree, broker) == set(range(first, first + size))
    assert tree.degrees().sum() == 2 * (tree.brokers - 1)


@pytest.mark.parametrize("name", TOPOLOGIES)
@pytest.mark.parametrize("brokers", [1, 2, 3, 4, 40])
def test_topologies_are_trees(name: str, brokers: int) -> None:
    tree = topology(name, brokers, seed=5)
    assert tree.brokers == brokers
    check(tree)


def test_depths_and_degrees_of_the_topologies() -> None:
    assert topology("line", 9).depths().max() == 8
    assert topology("star", 9).degrees().max() == 8
    assert topology("balanced", 40).depths().max() == 3
    one, other, again = (topology("random", 40, seed) for seed in (1, 2, 1))
    assert np.array_equal(one.parent, again.parent) and not np.array_equal(one.parent, other.parent)


def test_all_random_trees_are_equally_likely() -> None:
    """Of the sixteen trees of four brokers, four are stars and twelve are lines."""
    stars = sum(topology("random", 4, seed).degrees().max() == 3 for seed in range(2000))
    assert 400 < stars < 600


@given(trees(12), st.randoms())
def test_any_tree_is_renumbered(links: list[tuple[int, int]], rng) -> None:
    count = len(links) + 1
    shuffled = list(range(count))
    rng.shuffle(shuffled)
    parents = [-1] * count
    for above, broker in links:
        parents[shuffled[broker]] = shuffled[above]
    tree, numbers = renumber_tree(parents)
    check(tree)
    for broker, above in enumerate(parents):
        assert tree.parent[numbers[broker]] == (-1 if above == -1 else numbers[above])


@pytest.mark.parametrize(
    ("parents", "reason"),
    [
        ([], "first broker"),
        ([0], "first broker"),
        ([-1, 2, 0], "before its parent"),
        ([-1, 0, 0, 1], "not next to"),
    ],
)
def test_parents_that_form_no_tree_are_refused(parents: list[int], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        tree_of(parents)


@pytest.mark.parametrize(
    ("parents", "reason"),
    [
        ([-1, -1], "2 brokers"),
        ([0], "0 brokers"),
        ([-1, 5], "does not exist"),
        ([-1, 2, 1], "loop"),
    ],
)
def test_invalid_parents_are_refused(parents: list[int], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        renumber_tree(parents)


def test_unknown_topologies_are_refused() -> None:
    with pytest.raises(InputError, match="one of line, star"):
        topology("ring", 3)
    with pytest.raises(InputError, match="1 or more"):
        topology("star", 0)
