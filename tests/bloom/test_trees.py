"""bftree and sbstree compared with a plain list, for any insertions, removals and publications."""

import pickle
import random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tamis.bloom.bftree import BFTree
from tamis.bloom.filter import Bloom
from tamis.bloom.filter_tree import FilterTree
from tamis.bloom.hashing import Shape
from tamis.bloom.interfaces import IBFTree
from tamis.bloom.sbstree import SbsTree
from tamis.errors import InputError
from tests.bloom.paper import SHAPE, blooms
from tests.soak import count

TREES = {"sbstree": SbsTree, "bftree": BFTree}
every_tree = pytest.mark.parametrize("kind", TREES.values(), ids=TREES)


def below(tree: FilterTree) -> dict[tuple[tuple[int, ...], ...], tuple[str, ...]]:
    """Return the addresses of each node, by the bits on the path from the root."""
    way: dict[int, tuple[tuple[int, ...], ...]] = {}
    found = {}
    for number, parent, bits, addresses in tree.walk():
        way[number] = () if parent is None else (*way[parent], bits)
        found[way[number]] = tuple(sorted(map(str, addresses)))
    return found


# -- Figures 2 and 3 ------------------------------------------------------------------------------


def test_figure_3() -> None:
    tree = SbsTree(SHAPE)
    for source, bloom in blooms().items():
        tree.insert(bloom, source)
    expected = {
        (): (),
        (2787,): (),
        (2787, 12518): ("f2@dot.com",),
        (5001,): (),
        (5001, 8507): ("f5@dot.com",),
        (5037,): (),
        (5037, 8516): ("f4@dot.com",),
        (5102,): (),
        (5102, 6441): (),
        (5102, 6441, 8636): (),
        (5102, 6441, 8636, 10582): ("f6@dot.com",),
        (6066,): (),
        (6066, 8581): ("f1@dot.com",),
        (6441,): (),
        (6441, 10582): ("f3@dot.com",),
    }
    assert below(tree) == {tuple((bit,) for bit in way): a for way, a in expected.items()}
    assert tree.nodes == 15 and len(tree) == 6
    roots = [bits for _, parent, bits, _ in tree.walk() if parent == 0]
    assert roots == [(2787,), (5001,), (5037,), (5102,), (6066,), (6441,)]  # they ascend


def test_figure_2() -> None:
    tree = BFTree(SHAPE, h=4)
    for source, bloom in blooms().items():
        tree.insert(bloom, source)
    leaves = {way: addresses for way, addresses in below(tree).items() if addresses}
    assert leaves == {
        ((2787,), (), (), (12518,)): ("f2@dot.com",),
        ((), (5001,), (8507,), ()): ("f5@dot.com",),
        ((), (5037,), (8516,), ()): ("f4@dot.com",),
        ((), (5102, 6441), (8636, 10582), ()): ("f6@dot.com",),
        ((), (6066,), (8581,), ()): ("f1@dot.com",),
        ((), (6441,), (10582,), ()): ("f3@dot.com",),
    }
    # The part without bits is there once: five branches share their first node.
    assert sum(1 for way in below(tree) if len(way) == 1) == 2


@every_tree
def test_the_events_of_the_example(kind) -> None:
    """x = 20 satisfies the three constraints on x, and y = 0 both of y that it can."""
    tree, bits = kind(SHAPE), blooms()
    for source, bloom in bits.items():
        tree.insert(bloom, source)
    x = bits["f1@dot.com"] | bits["f2@dot.com"] | bits["f3@dot.com"]
    y = bits["f4@dot.com"] | bits["f5@dot.com"]
    assert tree.publish(x) == {"f1@dot.com", "f2@dot.com", "f3@dot.com"}
    assert tree.publish(y) == {"f4@dot.com", "f5@dot.com"}
    assert tree.publish(x | Bloom.at(SHAPE, [5102, 8636])) == {
        *("f1@dot.com", "f2@dot.com", "f3@dot.com", "f6@dot.com")
    }
    assert tree.publish(Bloom.at(SHAPE, [])) == set()
    assert tree.publish(Bloom.at(SHAPE, range(1 << 14))) == set(bits)


def test_drawn() -> None:
    tree = SbsTree(SHAPE)
    for source, bloom in blooms().items():
        tree.insert(bloom, source)
    dot = tree.to_dot()
    assert dot.startswith("digraph sbstree {") and '[label="{6441}"]' in dot
    assert dot.count("->") == tree.nodes - 1 + 6
    assert '[shape=box, label="f6@dot.com"]' in dot
    many = BFTree(Shape(8, 1), h=2)
    for number in range(9):
        many.insert(Bloom.at(Shape(8, 1), [1, 5]), number)
    assert "0, 1, 2, 3, 4, and 4 more" in many.to_dot()


# -- against a list -------------------------------------------------------------------------------


class TreeMachine(RuleBasedStateMachine):
    """A tree beside a list of filters and addresses; tiny filters, so that branches meet."""

    kind: type[FilterTree]

    @initialize(m=st.sampled_from([1, 3, 8, 64, 65, 300]), h=st.integers(1, 9))
    def begin(self, m: int, h: int) -> None:
        self.shape = Shape(m, 1)
        self.tree = self.kind(self.shape, min(h, m)) if self.kind is BFTree else SbsTree(self.shape)
        self.model: list[tuple[Bloom, int]] = []

    def bloom(self, seed: int, size: int) -> Bloom:
        return Bloom.at(
            self.shape, [b % self.shape.m for b in random.Random(seed).sample(range(400), size)]
        )

    @rule(seed=st.integers(0, 30), size=st.integers(0, 5), address=st.integers(0, 3))
    def insert(self, seed: int, size: int, address: int) -> None:
        bloom = self.bloom(seed, size)
        self.tree.insert(bloom, address)
        self.model.append((bloom, address))

    @rule(place=st.integers(0, 1000))
    def remove(self, place: int) -> None:
        if self.model:
            bloom, address = self.model.pop(place % len(self.model))
            self.tree.remove(bloom, address)

    @rule(seed=st.integers(0, 30), size=st.integers(0, 5))
    def remove_what_is_not_there(self, seed: int, size: int) -> None:
        bloom = self.bloom(seed, size)
        with pytest.raises(KeyError):
            self.tree.remove(bloom, "nobody")
        if all(other != bloom or address != 3 for other, address in self.model):
            with pytest.raises(KeyError):
                self.tree.remove(bloom, 3)

    @rule(seed=st.integers(0, 30), size=st.integers(0, 400))
    def publish(self, seed: int, size: int) -> None:
        event = self.bloom(seed, size)
        assert self.tree.publish(event) == {a for bloom, a in self.model if bloom <= event}

    @invariant()
    def sizes(self) -> None:
        if hasattr(self, "tree"):
            assert len(self.tree) == len(set(self.model))
            walked = list(self.tree.walk())
            assert len(walked) == self.tree.nodes
            assert sum(len(seen.addresses) for seen in walked) == len(self.tree)
            if not self.model:
                assert self.tree.nodes == 1


@every_tree
def test_state_machine(kind) -> None:
    machine = type("Machine", (TreeMachine,), {"kind": kind})
    run_state_machine_as_test(
        machine,
        settings=settings(max_examples=count(25, 2_000), stateful_step_count=30, deadline=None),
    )


@given(st.data())
def test_both_trees_find_the_same(data) -> None:
    m = data.draw(st.sampled_from([16, 200, 70_000]))
    shape = Shape(m, 2)
    bits = st.lists(st.integers(0, m - 1), max_size=8)
    trees = [SbsTree(shape), BFTree(shape, data.draw(st.integers(1, 6)))]
    stored = [Bloom.at(shape, places) for places in data.draw(st.lists(bits, max_size=12))]
    for number, bloom in enumerate(stored):
        for tree in trees:
            tree.insert(bloom, number)
    event = Bloom.at(shape, data.draw(st.lists(st.integers(0, m - 1), max_size=60)))
    for bloom in stored[::2]:
        event |= bloom
    expected = {number for number, bloom in enumerate(stored) if bloom <= event}
    assert [tree.publish(event) for tree in trees] == [expected, expected]
    assert set(range(0, len(stored), 2)) <= expected


@every_tree
def test_a_batch_publishes_like_single_events(kind) -> None:
    rng, shape = random.Random(5), Shape(256, 2)
    tree = kind(shape)
    stored = [Bloom.at(shape, rng.sample(range(256), rng.randint(0, 3))) for _ in range(400)]
    for number, bloom in enumerate(stored):
        tree.insert(bloom, f"s{number}")
    events = [Bloom.at(shape, rng.sample(range(256), rng.randint(0, 200))) for _ in range(20)]
    bits = np.concatenate([event.places.astype(np.int32) for event in events])
    offsets = np.cumsum([0, *map(len, events)])
    begins, codes = tree.publish_many(offsets, bits)
    for number, event in enumerate(events):
        found = codes[begins[number] : begins[number + 1]].tolist()
        assert len(found) == len(set(found))
        assert {tree.address(code) for code in found} == tree.publish(event)
    assert tree.publish_many(np.zeros(1, np.int64), np.zeros(0, np.int32))[1].tolist() == []


@every_tree
@given(
    stored=st.lists(st.tuples(st.sets(st.integers(0, 11), max_size=3), st.sampled_from("abc"))),
    events=st.lists(
        st.tuples(st.sets(st.integers(0, 11)), st.sampled_from(["a", "b", "z", None])), max_size=4
    ),
)
def test_all_addresses_but_the_source_are_found(kind, stored, events) -> None:
    """The walk ends when all addresses are found, but not earlier."""
    shape = Shape(12, 1)
    tree = kind(shape)
    for places, address in stored:
        tree.insert(Bloom.at(shape, places), address)
    expected = [
        {address for bits, address in stored if bits <= places and address != source}
        for places, source in events
    ]
    filters = [Bloom.at(shape, places) for places, _ in events]
    sources = [source for _, source in events]
    found = [tree.publish(bloom, source) for bloom, source in zip(filters, sources, strict=True)]
    assert found == tree.publish_each(filters, sources) == expected
    bits = np.concatenate([np.zeros(0, np.int32), *(each.places for each in filters)])
    offsets = np.cumsum([0, *map(len, filters)])
    begins, codes = tree.publish_many(offsets, bits.astype(np.int32), sources)
    for number, wanted in enumerate(expected):
        these = codes[begins[number] : begins[number + 1]].tolist()
        assert {tree.address(code) for code in these} == wanted and len(these) == len(wanted)


@given(
    stored=st.lists(st.tuples(st.sets(st.integers(0, 11), max_size=3), st.sampled_from("abc"))),
    asked=st.lists(st.sets(st.integers(0, 11)), max_size=4),
    without=st.sampled_from(["a", "z", None]),
)
@example(stored=[({1, 2}, "b")], asked=[{1, 2}, {1, 3}], without=None)  # nothing is left over
def test_a_narrowed_filter_has_exactly_the_bits_of_other_filters(stored, asked, without) -> None:
    shape = Shape(12, 1)
    tree = SbsTree(shape)
    for bits, address in stored:
        tree.insert(Bloom.at(shape, bits), address)
    filters = [Bloom.at(shape, places) for places in asked]
    for places, narrow in zip(asked, tree.narrow_filters(filters, without), strict=True):
        found = [bits for bits, address in stored if bits <= places and address != without]
        assert narrow == Bloom.at(shape, set().union(*found))
        assert tree.publish(narrow, without) == tree.publish(Bloom.at(shape, places), without)
    # What takes too long is left as it is.
    assert tree.narrow_filters(filters, without, most=0) == filters


def test_narrowing_stops_if_it_fails_for_the_first_events() -> None:
    shape = Shape(64, 1)
    tree = SbsTree(shape)
    for bit in range(40):
        tree.insert(Bloom.at(shape, [bit]), "a")
    large, small = Bloom.at(shape, range(50)), Bloom.at(shape, [3, 60])
    kept = Bloom.at(shape, [3])
    assert tree.narrow_filters([small] * 16 + [large, small], most=20) == [kept] * 16 + [
        large,
        kept,
    ]
    # Nine of sixteen are too many to try the seventeenth; eight are not.
    for vain, last in ((8, kept), (9, small)):
        first = [large] * vain + [small] * (16 - vain)
        assert tree.narrow_filters([*first, small], most=20) == (
            [large] * vain + [kept] * (16 - vain) + [last]
        )


@every_tree
def test_an_address_is_found_once_and_counted_per_insertion(kind) -> None:
    tree = kind(SHAPE)
    one, two = Bloom.at(SHAPE, [1, 2]), Bloom.at(SHAPE, [2, 3])
    for bloom in (one, one, two):
        tree.insert(bloom, "here")
    everything = Bloom.at(SHAPE, range(10))
    assert tree.publish(everything) == {"here"} and len(tree) == 2
    tree.remove(one, "here")
    assert tree.publish(one) == {"here"}
    tree.remove(one, "here")
    assert tree.publish(one) == set() and tree.publish(everything) == {"here"}
    with pytest.raises(KeyError):
        tree.remove(one, "here")


@every_tree
def test_freed_nodes_are_reused(kind) -> None:
    rng, tree = random.Random(2), kind(SHAPE)
    stored = [Bloom.at(SHAPE, rng.sample(range(1 << 14), 8)) for _ in range(500)]

    def cycle() -> int:
        for number, bloom in enumerate(stored):
            tree.insert(bloom, number)
        for number, bloom in enumerate(stored):
            tree.remove(bloom, number)
        return tree.nbytes

    cycle()
    size = cycle()
    assert [cycle() for _ in range(3)] == [size] * 3 and tree.nodes == 1


@every_tree
def test_whole_ranges_are_skipped(kind) -> None:
    """Only branches that begin with a bit of the event's filter are visited."""
    tree = kind(SHAPE)
    for bit in range(0, 4000, 2):
        tree.insert(Bloom.at(SHAPE, [bit, bit + 1]), bit)
    before = tree.visited
    assert tree.publish(Bloom.at(SHAPE, [100, 101, 2001])) == {100}
    assert tree.visited - before <= 6


@every_tree
def test_the_trees_implement_the_interface_of_the_paper(kind) -> None:
    tree = kind(SHAPE)
    assert isinstance(tree, IBFTree)
    tree.insert(Bloom.at(SHAPE, [7]), "a")
    again = pickle.loads(pickle.dumps(tree))
    assert again.publish(Bloom.at(SHAPE, [7, 8])) == {"a"}
    for use in (tree.publish, lambda bloom: tree.insert(bloom, 1), lambda b: tree.remove(b, 1)):
        with pytest.raises(InputError, match="but the tree has"):
            use(Bloom.at(Shape(64, 2), [7]))


@pytest.mark.parametrize("h", [0, -1, 65, 2.0, True])
def test_invalid_numbers_of_parts_are_rejected(h) -> None:
    with pytest.raises(InputError, match="h must be an integer from 1 to m"):
        BFTree(Shape(64, 1), h)
