"""Invariants of every A-Tree at any time (thesis §3.7, appendix), checked by walking over it."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from tamis.engines.atree import AtreeEngine
from tamis.engines.atree.tree import Tree
from tamis.kernels.atree.node_store import (
    AND,
    ARENA_TOP,
    AT_LEAST,
    COMPARE,
    COUNT,
    FIRST_MADE,
    LEAF,
    NAND,
    NOR,
    NOT,
    OR,
    TOP,
    VALUE,
    XOR,
    TreeStore,
)

COMMUTATIVE = (AND, OR, XOR, NAND, NOR, COUNT, AT_LEAST)
ASKING = (XOR, NOT, NAND, NOR)  # need to know where their operands are false


class Seen(NamedTuple):
    """The properties of a node that may not change while it lives."""

    function: tuple[int, int, int]
    children: tuple[int, ...]
    level: int


Picture = dict[int, Seen]


def picture(tree: Tree) -> Picture:
    """Return all nodes with their properties."""
    return {
        node: Seen(tree.function_parts(node), tuple(tree.children(node)), tree.level(node))
        for node in tree.nodes()
    }


def check(engine: AtreeEngine, priorities: Mapping[str, int]) -> Picture:
    """Check an engine that holds subscriptions of these priorities, by id."""
    seen = picture(engine.tree)
    assert len(engine.tree) == len(seen)
    check_room(engine.tree.store)
    check_levels(engine.tree, seen)
    check_children(engine.tree, seen)
    check_uses(engine, seen, priorities)
    check_books(engine, seen)
    return seen


def check_room(store: TreeStore) -> None:
    """Check that nothing was written beyond the end of an array."""
    assert store.counters[TOP] <= len(store.nodes)
    assert store.counters[ARENA_TOP] <= len(store.arena)
    assert (store.slots != 0).sum() < len(store.slots)


def check_levels(tree: Tree, seen: Picture) -> None:
    population = Counter(node.level for node in seen.values())
    # Theorem 1 and Corollary 1: no level up to the highest is empty.
    assert sorted(population) == list(range(1, tree.highest + 1))
    assert tree.populations == [population[level] for level in sorted(population)]
    for _, children, level in seen.values():  # Equation 3.1
        assert level == 1 + max((seen[child].level for child in children), default=0)


def check_children(tree: Tree, seen: Picture) -> None:
    parents: dict[int, list[int]] = {node: [] for node in seen}
    for node, (function, children, _) in seen.items():
        # Theorem 3: two children, but for what takes one operand, and for leaves.
        assert len(children) in _arities(function), (function, children)
        for child in children:
            parents[child].append(node)
    for node in seen:
        assert Counter(tree.parents(node)) == Counter(parents[node])
    # No two nodes are the same function of the same children.
    said = Counter(_saying(tree, node, seen[node]) for node in seen)
    assert max(said.values(), default=1) == 1, said.most_common(1)


def check_uses(engine: AtreeEngine, seen: Picture, priorities: Mapping[str, int]) -> None:
    tree = engine.tree
    codes = {id: code for code, id in enumerate(engine._ids) if id is not None}
    assert codes.keys() == priorities.keys()
    uses: Counter[int] = Counter()
    highest: dict[int, int] = {}
    roots: dict[int, list[int]] = {node: [] for node in seen}
    for id, code in codes.items():
        root = tree.root(code)
        roots[root].append(code)
        below = tree.subtree(root)
        assert below[0] == root and len(below) == len(set(below))
        assert set(below) == _below(seen, root)
        uses.update(below)  # once, however many ways lead there
        for node in below:
            highest[node] = max(highest.get(node, priorities[id]), priorities[id])
    for node, (_, children, _) in seen.items():
        assert tree.uses(node) == uses[node] > 0
        assert sorted(tree.subscriptions(node)) == sorted(roots[node])
        for child in children:  # Theorem 2
            assert tree.uses(node) <= tree.uses(child)
        assert engine._priorities.node_priority(node) == highest[node]  # §4.1


def check_books(engine: AtreeEngine, seen: Picture) -> None:
    """Check that the index and the terms hold what the tree needs, and nothing else."""
    tree, index = engine.tree, engine.index
    leaves = {node for node, (function, _, _) in seen.items() if function[0] == LEAF}
    predicates = {tree.predicate(leaf): leaf for leaf in leaves}
    assert len(predicates) == len(leaves)
    assert predicates == {p: n for p, n in enumerate(tree.true_leaf.tolist()) if n >= 0}
    negated = {p: n for p, n in enumerate(tree.false_leaf.tolist()) if n >= 0}
    held = {number for number in range(index.capacity) if _is_held(engine, number)}
    assert held == predicates.keys() | negated.keys()
    assert index.stats()["references"] == len(predicates) + len(negated)
    # A leaf reports where it is false if a node needs it. (It may also report if none does any
    # more.)
    asked = set(negated.values())
    assert asked <= leaves and len(asked) == len(negated)
    for node, (function, _, _) in seen.items():
        if function[0] in ASKING:
            assert _below(seen, node) & leaves <= asked
    values = [node for node, (f, children, _) in seen.items() if f[0] == VALUE and not children]
    terms = tree.terms.entries.values()
    assert sorted(t.number for t in terms) == sorted(tree.predicate(node) for node in values)
    assert all(term.uses == 1 for term in terms)
    made = Counter(
        tree.function_parts(node) for node in seen if tree.function_of(node) >= FIRST_MADE
    )
    assert {tuple(f): number.uses for f, number in tree.functions.entries.items()} == made
    functions = {node: function[0] for node, (function, _, _) in seen.items()}
    assert tree.labels.keys() == {n for n, f in functions.items() if f in (VALUE, COMPARE)}


def check_empty(engine: AtreeEngine) -> None:
    """Check that nothing is left."""
    assert check(engine, {}) == {}
    assert (len(engine.tree), engine.tree.highest, engine.tree.populations) == (0, 0, [])
    assert (len(engine.index), engine.tree.labels) == (0, {})
    assert (engine.tree.terms.entries, engine.tree.functions.entries) == ({}, {})
    stats = engine.stats()
    assert stats["index_references"] == stats["index_terms"] == stats["subscriptions"] == 0


def _arities(function: tuple[int, int, int]) -> tuple[int, ...]:
    operator, k, _ = function
    if operator == LEAF or function == (VALUE, 0, 0):
        return (0,)
    if operator == NOT:
        return (1,)
    return (1, 2) if operator == VALUE and k > 0 else (2,)


def _saying(tree: Tree, node: int, seen: Seen) -> object:
    if seen.function[0] == LEAF:
        return tree.predicate(node)
    if not seen.children:
        return tree.labels[node]
    operands = seen.children
    return seen.function, tuple(sorted(operands)) if seen.function[0] in COMMUTATIVE else operands


def _below(seen: Picture, root: int) -> set[int]:
    found, pending = {root}, [root]
    while pending:
        for child in seen[pending.pop()].children:
            if child not in found:
                found.add(child)
                pending.append(child)
    return found


def _is_held(engine: AtreeEngine, number: int) -> bool:
    try:
        engine.index.predicate(number)
    except KeyError:
        return False
    return True
