"""Insertion arranges a chain so that the most nodes are reused (thesis §3.6.2)."""

import random
from collections.abc import Iterator
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.engines.atree.plan import Plan
from tamis.engines.atree.tree import Tree
from tamis.engines.subscription import Subscription
from tamis.events.batch import EventBatch
from tamis.kernels.atree.node_store import AND, OR, XOR
from tamis.language import evaluate, parse
from tests.engines.atree.inspection import FILTERS, engine_of, root_of
from tests.engines.atree.theorems import check_empty
from tests.soak import count

filters = pytest.mark.parametrize("filter", FILTERS)
functions = pytest.mark.parametrize("function", [AND, OR, XOR], ids=["AND", "OR", "XOR"])
A, B, C, D = range(4)

# A chain laid out: a node, or a pair of these.
Layout = int | tuple["Layout", "Layout"]
FIVE: dict[str, Layout] = {
    "(((A B) C) D)": (((A, B), C), D),
    "((A (B C)) D)": ((A, (B, C)), D),
    "((A B) (C D))": ((A, B), (C, D)),
    "(A (B (C D)))": (A, (B, (C, D))),
    "(A ((B C) D))": (A, ((B, C), D)),
}
# All that can stand below A ∧ B ∧ C ∧ D.
PARTS: list[Layout] = [
    *((A, B), (B, C), (C, D)),
    *(((A, B), C), (A, (B, C)), ((B, C), D), (B, (C, D))),
]


def layouts(operands: tuple[int, ...]) -> Iterator[Layout]:
    """Iterate over all layouts of a chain with its operands in this order."""
    if len(operands) == 1:
        yield operands[0]
    for split in range(1, len(operands)):
        for left in layouts(operands[:split]):
            for right in layouts(operands[split:]):
                yield left, right


def planned(function: int, layout: Layout) -> int | Plan:
    """Return a plan with a fixed layout."""
    if isinstance(layout, int):
        return layout
    return Plan(function, tuple(planned(function, part) for part in layout))


def joints(tree: Tree) -> dict[tuple[int, int, int], int]:
    """Return the nodes with two children, by function and children."""
    return {
        (tree.function_of(node), *sorted(tree.children(node))): node
        for node in tree.nodes()
        if tree.children(node)
    }


def missing(known: dict[tuple[int, int, int], int], function: int, layout: Layout) -> set[Layout]:
    """Return the nodes that a layout would add to a tree."""

    def found(part: Layout) -> int | None:
        if isinstance(part, int):
            return part
        left, right = found(part[0]), found(part[1])
        node = None
        if left is not None and right is not None:
            node = known.get((function, *sorted((left, right))))
        if node is None:
            new.add(part)
        return node

    new: set[Layout] = set()
    found(layout)
    return new


def insert(tree: Tree, subscription: int, function: int, predicates: list[int]) -> tuple[int, int]:
    """Insert a chain; return how many inner nodes it added, and the minimum."""
    known = joints(tree)
    tree.insert(subscription, Plan(function, tuple(predicates)))
    leaves = tuple(sorted(int(tree.true_leaf[predicate]) for predicate in predicates))
    fewest = min(len(missing(known, function, layout)) for layout in layouts(leaves))
    return len(joints(tree)) - len(known), fewest


def test_there_are_five_layouts_of_four() -> None:
    assert set(layouts((A, B, C, D))) == set(FIVE.values())
    assert len(list(layouts(tuple(range(6))))) == 42  # Catalan's numbers


@functions
@pytest.mark.parametrize("layout", FIVE.values(), ids=FIVE.keys())
def test_each_of_the_five_layouts_is_reused_as_a_whole(function: int, layout: Layout) -> None:
    tree = Tree()
    tree.insert(0, planned(function, layout))
    assert len(tree) == 7
    for number, order in enumerate(permutations((A, B, C, D)), 1):
        assert insert(tree, number, function, list(order)) == (0, 0)
        assert tree.root(number) == tree.root(0)


@functions
@pytest.mark.parametrize("size", range(1, len(PARTS) + 1))
def test_insertion_reuses_the_most_existing_parts(function: int, size: int) -> None:
    for parts in combinations(PARTS, size):
        tree = Tree()
        for number, part in enumerate([A, B, C, D, *parts]):
            tree.insert(number, planned(function, part))
        added, fewest = insert(tree, 100, function, [A, B, C, D])
        assert added == fewest, parts


@functions
@settings(max_examples=count(25, 2_000))
@given(
    chains=st.lists(st.sets(st.integers(0, 6), min_size=2), min_size=1, max_size=12),
    gone=st.sets(st.integers(0, 11)),
    last=st.sets(st.integers(0, 6), min_size=2),
)
def test_no_other_layout_reuses_more_nodes(function, chains, gone, last) -> None:
    """Also after any history, and with leaves in any order, from reused records."""
    tree = Tree()
    for number, chain in enumerate(chains):
        added, fewest = insert(tree, number, function, sorted(chain))
        assert added == fewest
    for number in gone & set(range(len(chains))):
        tree.delete(number)
    added, fewest = insert(tree, 100, function, sorted(last))
    assert added == fewest


# -- in any order ----------------------------------------------------------------------------------

OPERATORS = [" AND ", " OR ", " XOR ", "AT LEAST 2 OF", "AT LEAST 3 OF"]


def joined(operator: str, operands: list[str]) -> str:
    if operator.startswith("AT"):
        return f"{operator} ({', '.join(operands)})"
    return operator.join(operands)


@filters
@pytest.mark.parametrize("operator", OPERATORS)
def test_operands_in_any_order_are_the_same_nodes(filter: str, operator: str) -> None:
    operands = [f"{name} = 1" for name in "abc"] + ["(d = 1 AND e = 1)"]
    engine = engine_of(filter, {"s": joined(operator, operands)})
    nodes = len(engine.tree)
    for number, order in enumerate(permutations(operands)):
        engine.add(Subscription.of(f"s{number}", joined(operator, list(order))))
        assert root_of(engine, f"s{number}") == root_of(engine, "s")
    assert len(engine.tree) == nodes
    assert engine.tree.uses(root_of(engine, "s")) == 25


# -- long chains -----------------------------------------------------------------------------------


@filters
@pytest.mark.parametrize("operator", [" AND ", " OR ", " XOR ", "AT LEAST {} OF"])
@pytest.mark.parametrize("length", [100, 1000])
def test_long_chains_match_like_the_oracle(filter: str, operator: str, length: int) -> None:
    names = [f"q{number}" for number in range(length)]
    texts = {
        "whole": joined(operator.format(length // 2), [f"{name} = 1" for name in names]),
        "half": joined(operator.format(length // 4), [f"{n} = 1" for n in names[: length // 2]]),
        "not": f"NOT ({joined(operator.format(2), [f'{n} = 1' for n in names[length // 3 :]])})",
    }
    engine = engine_of(filter, texts)
    chance = random.Random(length)
    events = [dict.fromkeys(names, 0), dict.fromkeys(names, 1)]
    events += [{**events[0], names[place]: 1} for place in (0, length // 2)]
    events += [{**events[1], names[-1]: other} for other in (0, None)]
    events += [{name: chance.randrange(2) for name in names} for _ in range(4)]
    events += [{name: chance.randrange(2) for name in names[length // 8 :]}]
    selectors = {id: parse(text) for id, text in texts.items()}
    found = engine.match(EventBatch.of(events)).per_event()
    for event, ids in zip(events, found, strict=True):
        assert ids == [
            id for id, selector in sorted(selectors.items()) if evaluate(selector, event)
        ]
    assert len(set(map(tuple, found))) > 2
    for id in texts:
        engine.remove(id)
    check_empty(engine)


@functions
def test_long_chains_that_begin_alike_share_their_beginning(function: int) -> None:
    """In pieces of 32: what the first has of the second's pieces, the second need not make."""
    tree = Tree()
    tree.insert(0, Plan(function, tuple(range(100))))
    assert len(tree) == 199
    tree.insert(1, Plan(function, (*range(64), *range(100, 120))))
    shared = set(tree.subtree(tree.root(0))) & set(tree.subtree(tree.root(1)))
    assert len(shared) == 2 * 63 + 1 or len(shared) == 2 * 63
    tree.delete(0)
    assert len(tree) == 84 + 83


@pytest.mark.parametrize("width", [1, 5, 40])
def test_bulk_insertion_equals_single_insertions(width: int) -> None:
    chance = random.Random(width)
    rows = [[chance.randrange(100) for _ in range(width)] for _ in range(300)]
    bulk, plain = Tree(), Tree()
    bulk.reserve_leaves(100)
    leaves = [bulk.leaf(predicate) for predicate in range(100)]
    bulk.insert_conjunctions(np.array([[leaves[p] for p in row] for row in rows], np.int32), 7)
    for predicate in range(100):
        plain.insert(predicate, predicate)
    for number, row in enumerate(rows, 100):
        plain.insert(number, Plan(AND, tuple(row)))
    assert joints(bulk).keys() == joints(plain).keys()
    for number in range(300):
        assert bulk.subtree(bulk.root(7 + number)) == plain.subtree(plain.root(100 + number))
    bulk.delete_many(np.arange(7, 307, dtype=np.int32))
    assert len(joints(bulk)) == 0
