"""Gryphon's matching tree (Aguilera et al., PODC 1999; thesis §2.2), the version for equalities.

Attributes have an order, in which every path down the tree tests them. A subscription that does not
test an attribute follows the don't-care edge. Nodes that would have only a don't-care edge are left
out (the paper's elimination of trivial tests), so an attribute is tested only where some
subscription tests it. Phase 1 finds the values of an event, with equality for all types.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis.covering.constraint import constraint_of
from tamis.covering.coverage import conjunction
from tamis.dot import quote
from tamis.engines.array_growth import extend_array
from tamis.engines.baselines.conjuncts import Leaf, conjuncts
from tamis.engines.number_pool import NumberPool
from tamis.engines.roster import Roster
from tamis.engines.subscription import Subscription
from tamis.errors import UnsupportedExpression, shorten
from tamis.events.batch import EventBatch
from tamis.kernels.baselines.gryphon import (
    EDGES,
    HIGHEST,
    NO,
    NODES,
    ROOT,
    Ints,
    SearchTree,
    insert,
    rehash,
    remove,
    search,
)
from tamis.language.expr import Attribute, Comparison, Literal, ValueExpr
from tamis.matches import Id, Matches
from tamis.predicates import PredicateIndex
from tamis.values import Type

_INITIAL_SIZE = 64
_ONE_SPELLING = {Type.INT, Type.STR, Type.BOOL, Type.TIMESTAMP}
_HINT = (
    "it supports equalities with constants only; the engines block and atree support all selectors"
)


class GryphonEngine:
    """A parallel search tree over equalities.

    Attributes:
        index: The equalities, as predicates; their numbers are the values in the tree.
    """

    name: ClassVar[str] = "gryphon"

    def __init__(self) -> None:
        """Create an engine without subscriptions."""
        self.index = PredicateIndex()
        self._roster = Roster()
        self._terms: NumberPool[ValueExpr] = NumberPool()
        self._term_of = np.full(_INITIAL_SIZE, NO, np.int32)
        self._impossible: set[int] = set()
        self._tree = SearchTree(
            np.full(_INITIAL_SIZE, NO, np.int32),
            np.full(_INITIAL_SIZE, NO, np.int32),
            np.full(_INITIAL_SIZE, NO, np.int32),
            np.zeros(_INITIAL_SIZE, np.int32),
            np.full(2 * _INITIAL_SIZE, NO, np.int64),
            np.zeros(2 * _INITIAL_SIZE, np.int32),
            np.zeros((_INITIAL_SIZE, 2), np.int32),
            np.array([0, NO, 1, 1, 0], np.int64),
        )

    def add(self, subscription: Subscription) -> None:
        """Add a subscription.

        Raises:
            UnsupportedExpression: It is not a conjunction of equalities. The engine is unchanged.
        """
        equalities = self._equalities(subscription)
        code = self._roster.add(subscription)
        if equalities is None:
            self._impossible.add(code)
            return
        path = []
        for equality in equalities:
            term = self._terms.number(equality.left)
            self._terms.add_use(equality.left)
            path.append((term, self.index.intern(equality)))
        attributes, values = _sort_path(path)
        self._reserve(len(path), code)
        self._term_of[values] = attributes
        insert(self._tree, attributes, values, code)

    def remove(self, id: Id) -> None:
        """Remove a subscription."""
        code = self._roster.number(id)
        subscription = self._roster[code]
        self._roster.remove(id)
        if code in self._impossible:
            self._impossible.remove(code)
            return
        equalities = self._equalities(subscription) or []
        path = []
        for equality in equalities:
            value = self.index.find(equality)
            assert value is not None
            path.append((self._terms.entries[equality.left].number, value))
        remove(self._tree, *_sort_path(path), code, self._max_depth)
        for equality, (_, value) in zip(equalities, path, strict=True):
            self._terms.drop_use(equality.left)
            self.index.release(value)

    def match(self, batch: EventBatch, limit: int | None = None) -> Matches:
        """Return all subscriptions that each event of the batch satisfies."""
        codes, ends = self.match_codes(batch)
        return self._roster.matches_from_ends(ends, codes)

    def match_codes(self, batch: EventBatch) -> tuple[Ints, NDArray[np.int64]]:
        """Return the subscriptions by number, unordered within events, and each event's end."""
        satisfied = self.index.satisfied_predicates(batch)
        return search(self._tree, self._term_of, self._max_depth, *satisfied)

    # -- introspection ----------------------------------------------------------------------------

    def stats(self) -> Mapping[str, object]:
        """Return sizes by name; `edges` counts the edges of values, not the don't-care edges."""
        return {
            "subscriptions": len(self._roster),
            "nodes": int(self._tree.numbers[NODES]),
            "edges": int(self._tree.numbers[EDGES]),
            "levels": len(self._terms.entries),
            "bytes": sum(array.nbytes for array in (*self._tree, self._term_of)),
            **{f"index_{name}": size for name, size in self.index.stats().items()},
        }

    def to_dot(self) -> str:
        """Return the tree, after Figure 2.1 of the thesis: tests, values and *, subscriptions."""
        terms = {entry.number: str(term) for term, entry in self._terms.entries.items()}
        lines = ["digraph gryphon {", "  node [shape=box];"]
        for node, edges in self._nodes_with_edges():
            tested = int(self._tree.attributes[node])
            label = "" if tested == NO else terms[tested]
            ids = ", ".join(sorted(str(self._roster[code].id) for code in self._codes_at(node)))
            lines.append(f"  n{node} [label={quote(label)}, xlabel={quote(ids)}];")
            lines += [f"  n{node} -> n{to} [label={quote(value)}];" for value, to in edges]
        return "\n".join([*lines, "}"])

    def _nodes_with_edges(self) -> Iterator[tuple[int, list[tuple[str, int]]]]:
        """Iterate over the nodes from the root down, with the label and target of each edge."""
        tree = self._tree
        edges: dict[int, list[tuple[str, int]]] = {}
        slots = np.flatnonzero(tree.keys != NO)
        for key, target in zip(
            tree.keys[slots].tolist(), tree.targets[slots].tolist(), strict=True
        ):
            equality = self.index.predicate(key & 0xFFFFFFFF)
            assert isinstance(equality, Comparison)
            edges.setdefault(key >> 32, []).append((str(equality.right), target))
        pending = [int(tree.numbers[ROOT])]
        while pending:
            node = pending.pop()
            outgoing = sorted(edges.get(node, []))
            if tree.stars[node] != NO:
                outgoing.append(("*", int(tree.stars[node])))
            yield node, outgoing
            pending += [target for _, target in reversed(outgoing)]

    def _codes_at(self, node: int) -> Iterator[int]:
        code = int(self._tree.heads[node])
        while code != NO:
            yield code
            code = int(self._tree.links[code, 0])

    # -- internals --------------------------------------------------------------------------------

    @property
    def _max_depth(self) -> int:
        """The longest possible path: each term is tested once at most."""
        return self._terms.capacity

    def _equalities(self, subscription: Subscription) -> list[Comparison] | None:
        """Return the equalities of a subscription, normalized; None if nothing satisfies it."""
        leaves = conjuncts(subscription, self.name)
        plain = _plain_equalities(leaves)
        if plain is not None:
            return plain
        filter = conjunction(leaves)
        if filter is None:
            return None
        for other in filter.others:
            raise self._unsupported_error("a test of several attributes", other)
        equalities = []
        for term, constraint in filter.terms.items():
            point = constraint.point
            if point is None:
                raise self._unsupported_error(
                    "a test that is not an equality", _tests_of(term, leaves)
                )
            equalities.append(Comparison("=", term, Literal.of(point[1])))
        return equalities

    def _unsupported_error(self, construct: str, test: object) -> UnsupportedExpression:
        return UnsupportedExpression(f"{construct} ({shorten(str(test))})", self.name, _HINT)

    def _reserve(self, tests: int, code: int) -> None:
        """Reserve room for one more subscription."""
        tree = self._tree
        nodes = int(tree.numbers[HIGHEST]) + 2 * tests
        if nodes > len(tree.attributes):
            size = max(nodes, 2 * len(tree.attributes))
            tree = tree._replace(
                attributes=extend_array(tree.attributes, size, NO),
                stars=extend_array(tree.stars, size, NO),
                heads=extend_array(tree.heads, size, NO),
                degrees=extend_array(tree.degrees, size, NO),
            )
        if code >= len(tree.links):
            tree = tree._replace(links=np.concatenate([tree.links, np.zeros_like(tree.links)]))
        if 2 * (int(tree.numbers[EDGES]) + tests) > len(tree.keys):
            size = 2 * len(tree.keys)
            while 2 * (int(tree.numbers[EDGES]) + tests) > size:
                size *= 2
            larger = tree._replace(
                keys=np.full(size, NO, np.int64), targets=np.zeros(size, np.int32)
            )
            rehash(tree, larger)
            tree = larger
        self._tree = tree
        if self.index.capacity > len(self._term_of):
            size = len(self._term_of) + self.index.capacity
            self._term_of = extend_array(self._term_of, size, NO)


def _plain_equalities(leaves: tuple[Leaf, ...]) -> list[Comparison] | None:
    """Return equalities of distinct attributes with literals; they need no constraints."""
    equalities: dict[ValueExpr, Comparison] = {}
    for leaf in leaves:
        if type(leaf) is not Comparison or leaf.op != "=" or type(leaf.left) is not Attribute:
            return None
        constant = leaf.right
        # A DBL may equal an INT, which is the preferred spelling; an INT is its own preferred
        # spelling.
        if type(constant) is not Literal or constant.type not in _ONE_SPELLING:
            return None
        equalities[leaf.left] = leaf
    return list(equalities.values()) if len(equalities) == len(leaves) else None


def _tests_of(term: ValueExpr, leaves: tuple[Leaf, ...]) -> str:
    constraints = [(leaf, constraint_of(leaf)) for leaf in leaves]
    return " AND ".join(
        str(leaf) for leaf, found in constraints if found is not None and found[0] == term
    )


def _sort_path(path: list[tuple[int, int]]) -> tuple[Ints, Ints]:
    attributes, values = np.array(sorted(path), np.int32).reshape(-1, 2).T.copy()
    return attributes, values
