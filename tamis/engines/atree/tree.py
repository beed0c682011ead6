"""The A-Tree itself: a forest of shared binary nodes that grows and shrinks with subscriptions.

It knows numbers only: predicates are numbers, subscriptions are numbers, expressions are plans.
What they stand for is the engine's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.engines.atree.plan import (
    Made,
    Operand,
    Plan,
    counting,
    is_flat,
    made_in,
    most_chain_levels,
    most_levels,
    most_nodes,
)
from tamis.errors import TamisError, UnsupportedExpression
from tamis.kernels import atree_delete, atree_insert, atree_stats, atree_store
from tamis.kernels.atree_store import (
    AND,
    AT_LEAST,
    BLOCK,
    COUNT,
    COUNTERS,
    FIELDS,
    FIRST_MADE,
    FREE_NODE,
    KIND,
    LEAF,
    LEFT,
    LIVE,
    MAX_NODES,
    NAND,
    NOR,
    NOT,
    OR,
    RIGHT,
    ROOT,
    TOP,
    VALUE,
    XOR,
    Ints,
    Store,
)

MAX_LEVEL = atree_store.LEVEL_MASK
_FILLED = 0.8  # how full the table of nodes may be
_ASKING = (XOR, NOT, NAND, NOR)  # functions that ask their operands where they are false


@dataclass(slots=True)
class _Number:
    """The number of a function, and how many nodes have it."""

    number: int
    uses: int = 0


class Tree:
    """An A-Tree.

    >>> tree = Tree()
    >>> tree.insert(0, Plan(AND, (7, 8, 9))), tree.insert(1, Plan(OR, (Plan(AND, (7, 8)), 5)))
    ([], [])
    >>> len(tree), tree.highest  # 4 leaves, 7 AND 8, that AND 9, that OR 5
    (7, 3)
    >>> tree.delete(0), tree.delete(1)
    ([9], [5, 7, 8])
    >>> len(tree), tree.highest
    (0, 0)

    Attributes:
        store: The arrays, for kernels.
        true_leaf: By predicate, the leaf that is true where it holds, or -1.
        false_leaf: By predicate, the leaf that is false where it holds, or -1.
        labels: What nodes stand for, by node, where the plan said it.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self.store = Store(
            nodes=np.zeros((64, FIELDS), np.int32),
            slots=np.zeros(128, np.uint32),
            arena=np.zeros(BLOCK, np.int32),
            counters=np.zeros(COUNTERS, np.int64),
            levels=np.zeros(32, np.int64),
            functions=np.zeros((FIRST_MADE, 3), np.int32),
            subscriptions=np.zeros((64, 2), np.int32),
        )
        self.store.counters[FREE_NODE] = -1
        self.store.counters[atree_store.ARENA_TOP] = 1  # 0 means none
        self.true_leaf = np.full(64, -1, np.int32)
        self.false_leaf = np.full(64, -1, np.int32)
        self.labels: dict[int, object] = {}
        self._functions: dict[Made, _Number] = {}
        self._free_functions: list[int] = []
        self._terms: dict[object, int] = {}
        self._free_terms: list[int] = []

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Own the arrays, which pickle may lend: they must be able to grow."""
        self.__dict__.update(state)
        self.store = Store._make(array.copy() for array in self.store)

    def __len__(self) -> int:
        """The number of nodes."""
        return int(self.store.counters[LIVE])

    @property
    def highest(self) -> int:
        """The highest level: 1 if there are only leaves, 0 if there is nothing."""
        # No level below the highest is empty (Corollary 1), and there is one more than needed.
        return int(np.argmin(self.store.levels[1:] > 0))

    @property
    def populations(self) -> list[int]:
        """How many nodes there are at each level, from 1 on."""
        populations: list[int] = self.store.levels[1 : self.highest + 1].tolist()
        return populations

    @property
    def counts(self) -> bool:
        """Whether there is a k-of-n."""
        return any(made.operator == AT_LEAST for made in self._functions)

    @property
    def bytes(self) -> int:
        """The memory of all arrays, with what is reserved."""
        return sum(a.nbytes for a in (*self.store, self.true_leaf, self.false_leaf))

    # -- insertion --------------------------------------------------------------------------------

    def insert(self, subscription: int, plan: Operand) -> list[int]:
        """Add a subscription; the leaves that are asked from now on where they are false.

        Its number is the caller's to choose: small, and not in use.

        Raises:
            UnsupportedExpression: It has too many levels; nothing has changed.
            TamisError: There is no room; nothing has changed.
        """
        if isinstance(plan, Plan) and plan.function in (AND, OR) and is_flat(plan):
            # Most are of this kind: one call of a kernel, instead of one per part.
            predicates = np.array(plan.operands, np.int32)
            size = 2 * len(predicates)
            self._reserve(size, size, subscription + 1, 1 + most_chain_levels(len(predicates)))
            self._reserve_leaves(predicates.max())
            atree_insert.insert_flat(
                self.store,
                plan.function,
                self.true_leaf,
                predicates,
                subscription,
            )
            return []
        size = most_nodes(plan)
        self._reserve(size, 2 * size + 1, subscription + 1, most_levels(plan))
        builder = _Builder(self, self._numbers(plan))
        root = builder.root(plan)
        atree_insert.subscribe(self.store, root, subscription)
        return builder.asked

    def _numbers(self, plan: Operand) -> dict[Made, int]:
        """The numbers of the functions that a plan needs, before anything else is made."""
        numbers: dict[Made, int] = {}
        try:
            for made in made_in(plan):
                if made not in numbers:
                    numbers[made] = self.function(made)
        except BaseException:
            for made in numbers:
                self._give_back(made)
            raise
        return numbers

    def _give_back(self, made: Made) -> None:
        if not self._functions[made].uses:
            self._free_functions.append(self._functions.pop(made).number)

    def insert_conjunctions(self, leaves: Ints, first: int) -> None:
        """Add conjunctions of leaves (see `leaf`), a row each, numbered from `first` on."""
        rows, width = leaves.shape
        done = 0
        while done < rows:
            self._reserve(width, 2 * width, first + rows, width)
            done = atree_insert.insert_conjunctions(self.store, leaves, first, done)

    def leaf(self, predicate: int) -> int:
        """The leaf of a predicate, made if it is not there; `reserve_leaves` comes before."""
        self._reserve_leaves(predicate)
        node = int(self.true_leaf[predicate])
        if node < 0:
            node = self.true_leaf[predicate] = atree_store.new_leaf(self.store, predicate)
        return int(node)

    def has_leaf(self, predicate: int) -> bool:
        """Whether a predicate has a leaf."""
        return predicate < len(self.true_leaf) and self.true_leaf[predicate] >= 0

    def ask_false(self, leaf: int, negated: int) -> None:
        """Say which predicate holds where a leaf is false."""
        self._reserve_leaves(negated)
        self.store.nodes[leaf, RIGHT] = negated
        self.false_leaf[negated] = leaf

    def function(self, made: Made) -> int:
        """The number of a function.

        Raises:
            TamisError: There are too many different ones.
        """
        found = self._functions.get(made)
        if found is None:
            number = FIRST_MADE + len(self._functions)
            if self._free_functions:
                number = self._free_functions.pop()
            if number > atree_store.FUNCTION_MASK:
                raise TamisError("an A-Tree has at most 16,368 different functions")
            if number >= len(self.store.functions):
                larger = np.zeros((2 * number, 3), np.int32)
                larger[: len(self.store.functions)] = self.store.functions
                self.store = self.store._replace(functions=larger)
            self.store.functions[number] = made
            found = self._functions[made] = _Number(number)
        return found.number

    def used(self, made: Made) -> None:
        """Count one more node that has a function."""
        self._functions[made].uses += 1

    def term(self, term: object) -> int:
        """The number of a value without parts."""
        number = self._terms.get(term)
        if number is None:
            number = self._free_terms.pop() if self._free_terms else len(self._terms)
            self._terms[term] = number
        return number

    def reserve_leaves(self, count: int) -> None:
        """Make room for so many leaves more."""
        self._reserve(count, 0)

    def _reserve(self, nodes: int, entries: int, subscriptions: int = 0, depth: int = 1) -> None:
        """Make room.

        Args:
            nodes: For so many nodes more.
            entries: For so many entries of lists more: parents, and subscriptions.
            subscriptions: For subscriptions with numbers below this.
            depth: For so many levels.
        """
        if depth > MAX_LEVEL:
            raise UnsupportedExpression(f"more than {MAX_LEVEL:,} levels of nodes", "atree")
        if depth + 2 > len(self.store.levels):
            levels = np.zeros(2 * (depth + 2), np.int64)
            levels[: len(self.store.levels)] = self.store.levels
            self.store = self.store._replace(levels=levels)
        store = self.store
        if subscriptions > len(store.subscriptions):
            size = max(subscriptions, _stretched(store.subscriptions))
            store.subscriptions.resize((size, 2), refcheck=False)
        if atree_insert.has_room(store, nodes, entries):
            return
        # Arrays are stretched in place, and a little at a time: at tens of millions of nodes a copy
        # would double the memory for a moment, and what is in reserve counts too.
        wanted = int(store.counters[LIVE]) + nodes
        if wanted > len(store.nodes):
            size = min(max(wanted, _stretched(store.nodes)), MAX_NODES)
            if wanted > MAX_NODES:
                raise TamisError(f"an A-Tree has at most {MAX_NODES:,} nodes")
            store.nodes.resize((size, FIELDS), refcheck=False)
            if size > _FILLED * len(store.slots):
                del store
                self._rehash(int(1.15 * size / _FILLED))
                store = self.store
        wanted = int(store.counters[atree_store.ARENA_TOP]) + entries * BLOCK
        if wanted > len(store.arena):
            store.arena.resize(max(wanted, _stretched(store.arena)), refcheck=False)

    def _reserve_leaves(self, predicate: int) -> None:
        if predicate >= len(self.true_leaf):
            self.true_leaf = _longer(self.true_leaf, predicate + 1)
            self.false_leaf = _longer(self.false_leaf, predicate + 1)

    def _rehash(self, size: int) -> None:
        """Make a new table; the old one goes first, as all it says is in the nodes."""
        self.store = self.store._replace(slots=np.zeros(0, np.uint32))
        self.store = self.store._replace(slots=np.zeros(size, np.uint32))
        atree_store.enter_all(self.store)

    # -- deletion ---------------------------------------------------------------------------------

    def delete(self, subscription: int) -> list[int]:
        """Forget a subscription; the predicates that are no longer used."""
        return self._forgotten(atree_delete.delete(self.store, subscription))

    def delete_many(self, subscriptions: Ints) -> list[int]:
        """Forget many; the predicates that are no longer used."""
        return self._forgotten(atree_delete.delete_many(self.store, subscriptions))

    def _forgotten(self, nodes: Ints) -> list[int]:
        gone: list[int] = []
        for node, function, left, right in nodes.tolist():
            label = self.labels.pop(node, None)
            if function == VALUE:
                self._free_terms.append(self._terms.pop(label))
            elif function == LEAF:
                self.true_leaf[left] = -1
                gone.append(left)
                if right >= 0:
                    self.false_leaf[right] = -1
                    gone.append(right)
            else:
                made = Made(*self.store.functions[function].tolist())
                self._functions[made].uses -= 1
                self._give_back(made)
        return gone

    # -- looking around ---------------------------------------------------------------------------

    def nodes(self) -> Iterator[int]:
        """All nodes, by number."""
        kinds = self.store.nodes[: self.store.counters[TOP], KIND]
        functions = kinds & atree_store.FUNCTION_MASK
        yield from np.flatnonzero(functions != atree_store.FREE).tolist()

    def function_of(self, node: int) -> int:
        """The function of a node."""
        return int(self.store.nodes[node, KIND]) & atree_store.FUNCTION_MASK

    def described(self, node: int) -> tuple[int, int, int]:
        """The function of a node as operator, k and n."""
        function = self.function_of(node)
        if function < FIRST_MADE:
            return function, 0, 0
        operator, k, n = self.store.functions[function].tolist()
        return operator, k, n

    def level(self, node: int) -> int:
        """The level of a node (Equation 3.1): 1 for leaves."""
        return int(atree_store.level_of(self.store.nodes[node, KIND]))

    def uses(self, node: int) -> int:
        """How many subscriptions use a node."""
        return int(self.store.nodes[node, atree_store.USES])

    def children(self, node: int) -> list[int]:
        """The children of a node: two, or one of NOT and the like, or none."""
        return [int(c) for c in atree_insert.children(self.store, node) if c >= 0]

    def parents(self, node: int) -> list[int]:
        """The parents of a node; twice, if both its operands are this one."""
        found = atree_store.entries(self.store, node, atree_store.PARENTS)
        return [entry >> 2 for entry in found.tolist()]

    def subscriptions(self, node: int) -> list[int]:
        """The subscriptions that have a node as their root."""
        found: list[int] = atree_store.entries(self.store, node, atree_store.SUBSCRIPTIONS).tolist()
        return found

    def predicate(self, leaf: int) -> int:
        """The predicate of a leaf."""
        return int(self.store.nodes[leaf, LEFT])

    def sharing(self, subscriptions: Sequence[int]) -> tuple[float, float]:
        """The average fraction of a subscription's nodes, and internal nodes, that others use."""
        shared, internal = atree_stats.sharing(self.store, np.array(subscriptions, np.int32))
        return float(shared), float(internal)

    def root(self, subscription: int) -> int:
        """The root of a subscription."""
        return int(self.store.subscriptions[subscription, ROOT])

    def below(self, node: int) -> list[int]:
        """A node and all nodes below it."""
        found: list[int] = atree_insert.nodes_of(self.store, node).tolist()
        return found


class _Builder:
    """Makes the nodes of one plan, those of a part that occurs twice only once."""

    def __init__(self, tree: Tree, numbers: dict[Made, int]) -> None:
        self._tree = tree
        self._numbers = numbers
        self._roots: dict[int, int] = {}
        self.asked: list[int] = []

    def root(self, plan: Operand) -> int:
        if isinstance(plan, int):
            return self._tree.leaf(plan)
        found = self._roots.get(id(plan))
        if found is None:
            found = self._roots[id(plan)] = self._made(plan)
            if plan.label is not None:
                self._tree.labels[found] = plan.label
        return found

    def _made(self, plan: Plan) -> int:
        function = plan.function
        if function == VALUE:
            return self._node(VALUE, self._tree.term(plan.label), -1)
        nodes = [self.root(operand) for operand in plan.operands]
        if isinstance(function, Made):
            return self._node_of(function, *nodes)
        if function == NOT:
            return self._node(NOT, nodes[0], -1)
        if function in (XOR, AT_LEAST):
            nodes.sort()
        else:
            nodes = sorted(set(nodes))
        if function == AT_LEAST:
            pair = sorted((self._chain(COUNT, nodes[:-1]), nodes[-1]))
            return self._node_of(counting(plan), *pair)
        if function in (NAND, NOR):
            if len(nodes) == 1:
                return self._node(NOT, nodes[0], -1)
            plain = AND if function == NAND else OR
            pair = sorted((self._chain(plain, nodes[:-1]), nodes[-1]))
            return self._node(function, *pair)
        return self._chain(function, nodes)

    def _node_of(self, made: Made, left: int, right: int = -1) -> int:
        before = len(self._tree)
        node = self._node(self._numbers[made], left, right)
        if len(self._tree) > before:
            self._tree.used(made)
        return node

    def _chain(self, function: int, nodes: Sequence[int]) -> int:
        if len(nodes) == 1:
            return nodes[0]
        before = len(self._tree)
        root = atree_insert.insert_chain(self._tree.store, function, np.array(nodes, np.int32))
        if function == XOR and len(self._tree) > before:
            self._ask(int(root))
        return int(root)

    def _node(self, function: int, left: int, right: int) -> int:
        store = self._tree.store
        node = int(atree_store.find(store, function, left, right))
        if node < 0:
            node = int(atree_store.new_node(store, function, left, right))
            if function in _ASKING:
                self._ask(node)
        return node

    def _ask(self, root: int) -> None:
        """Have the operands of a new XOR, NOT, NAND or NOR say where they are false."""
        tree = self._tree
        pending = [root]
        while pending:
            node = pending.pop()
            for child in tree.children(node):
                self.asked += atree_insert.want_false(tree.store, child).tolist()
                if tree.function_of(node) == XOR == tree.function_of(child):
                    pending.append(child)


def _stretched(array: NDArray[np.int32]) -> int:
    """How long an array is to become: half as long again, but no more than a sixteenth if large."""
    return len(array) + max(len(array) // 16, min(len(array) // 2, 4096))


def _longer(array: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    longer = np.full(max(size, 2 * len(array)), -1, np.int32)
    longer[: len(array)] = array
    return longer
