"""The shared diagram as flat records, kept in sync with the library that builds it (paper §5).

Every node that a subscription can reach has a *slot* here: its two edges, its variable and its
reference count. An edge is twice a slot, plus one if it stands for the negation of its target: CUDD
has one node for a function and its negation. Slot 0 is the terminal 1.

Adding a diagram creates slots only for nodes that are new; removing one frees the nodes that no
other diagram uses. CUDD finds equal nodes, so two equal subscriptions have one root.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from tamis.engines.bdd.cudd import manager

TRUE, FALSE = 0, 1  # edges


class DiagramNode(NamedTuple):
    """A node as it is copied from one diagram to another: two edges and a variable."""

    low: int
    high: int
    variable: int


class Diagram:
    """Nodes by slot, and the roots that keep them alive.

    Attributes:
        library: CUDD's manager.
        low: By slot, the edge to follow where the variable is false.
        high: By slot, the edge to follow where it is true; never a negation.
        label: By slot, the variable, as CUDD numbers it.
        uses: By variable, the number of nodes that have it.
        fresh: The slots of nodes created since the caller last cleared this, children first.
        gone: The number of nodes freed, other than fresh ones, since the caller last set it to 0.
    """

    def __init__(self, unused: Callable[[int], None]) -> None:
        """Create a diagram with the terminal only.

        Args:
            unused: Called with a variable when the last node that has it is freed.
        """
        self.library: Any = manager()
        self._unused = unused
        self.low = array("i", [TRUE])
        self.high = array("i", [TRUE])
        self.label = array("i", [-1])
        self._references = array("i", [1])
        self._keys = array("q", [_key(self.library.true)])
        self._slots: dict[int, int] = {self._keys[0]: 0}
        self._free: list[int] = []
        # While a root is referenced, CUDD does not move the nodes below it.
        self._roots: dict[int, Any] = {}
        self._root_counts: Counter[int] = Counter()
        self.uses: Counter[int] = Counter()
        self.fresh: dict[int, None] = {}
        self.gone = 0

    def __len__(self) -> int:
        """Return the number of nodes without the terminal."""
        return len(self._slots) - 1

    @property
    def roots(self) -> int:
        """The number of functions referenced as roots; a function and its negation count as one."""
        return len(self._roots)

    @property
    def slots(self) -> int:
        """One more than the highest slot that was ever in use."""
        return len(self.low)

    def alive_slots(self) -> Iterable[int]:
        """Iterate over the slots of all nodes without the terminal."""
        return (slot for slot in self._slots.values() if slot)

    # -- roots ------------------------------------------------------------------------------------

    def add_root(self, function: Any) -> int:
        """Add a reference to a CUDD function as a root and return its edge."""
        key = int(function)
        regular = key & ~1
        slot = self._slots.get(regular)
        if slot is None:
            self._assign_slots(function, regular)
            slot = self._slots[regular]
        if slot:
            if slot not in self._roots:
                self._roots[slot] = function
            self._root_counts[slot] += 1
            self._references[slot] += 1
        return 2 * slot | key & 1

    def remove_root(self, edge: int) -> None:
        """Drop a reference to a root and free the nodes that are no longer reachable."""
        slot = edge >> 1
        if not slot:
            return
        self._root_counts[slot] -= 1
        function = None
        if not self._root_counts[slot]:
            del self._root_counts[slot]
            # Keep the reference until our nodes are freed: CUDD may reuse their addresses.
            function = self._roots.pop(slot)
        self._release(slot)
        del function

    # -- nodes ------------------------------------------------------------------------------------

    def _assign_slots(self, function: Any, key: int) -> None:
        """Create a slot for every node below a function that has none."""
        slots = self._slots
        new_nodes: dict[int, tuple[int, int, int, int, int]] = {}
        pending = [(key, function)]
        while pending:
            key, function = pending.pop()
            if key in slots or key in new_nodes:
                continue
            low, high = function.low, function.high
            low_key, high_key = int(low), int(high)
            new_nodes[key] = (-function.level, key, low_key, high_key, function._index)
            pending.append((low_key & ~1, low))
            pending.append((high_key, high))
        # Children first: they are lower in the order.
        try:
            for _, key, low_key, high_key, variable in sorted(new_nodes.values()):
                low_edge = 2 * slots[low_key & ~1] | low_key & 1
                self._make(key, DiagramNode(low_edge, 2 * slots[high_key], variable))
        except BaseException:  # Ctrl-C: CUDD may move nodes without a root at any time
            for key in new_nodes:  # from the top down, each with the nodes that only it uses
                slot = slots.get(key)
                if slot is not None and not self._references[slot]:
                    self._references[slot] = 1
                    self._release(slot)
            raise

    def _make(self, key: int, node: DiagramNode) -> None:
        if self._free:
            slot = self._free.pop()
            self.low[slot], self.high[slot], self.label[slot] = node
            self._keys[slot] = key
            self._references[slot] = 0
        else:
            slot = len(self.low)
            self.low.append(node.low)
            self.high.append(node.high)
            self.label.append(node.variable)
            self._keys.append(key)
            self._references.append(0)
        self._slots[key] = slot
        self._references[node.low >> 1] += 1
        self._references[node.high >> 1] += 1
        self.uses[node.variable] += 1
        self.fresh[slot] = None

    def _release(self, slot: int) -> None:
        references = self._references
        pending = [slot]
        while pending:
            slot = pending.pop()
            references[slot] -= 1
            if references[slot]:
                continue
            del self._slots[self._keys[slot]]
            self._free.append(slot)
            if self.fresh.pop(slot, slot) is not None:
                self.gone += 1
            variable = self.label[slot]
            self.uses[variable] -= 1
            if not self.uses[variable]:
                del self.uses[variable]
                self._unused(variable)
            pending.append(self.low[slot] >> 1)
            pending.append(self.high[slot] >> 1)

    # -- copies to another diagram ----------------------------------------------------------------

    def nodes(self) -> tuple[list[int], list[DiagramNode]]:
        """Return the slots of all nodes, and the nodes, children first."""
        perm = self.library.level_of_var
        levels = {v: perm(variable_name(v)) for v in self.uses}
        slots = sorted(self.alive_slots(), key=lambda slot: -levels[self.label[slot]])
        return slots, [DiagramNode(self.low[s], self.high[s], self.label[s]) for s in slots]

    def rebuild(
        self,
        slots: Sequence[int],
        nodes: Sequence[DiagramNode],
        roots: Iterable[int],
        variables: Callable[[int], Any],
    ) -> list[int]:
        """Copy the nodes of another diagram, add roots, and return the edges of the roots here.

        Args:
            slots: The slots of the nodes in the other diagram.
            nodes: The nodes, children first; the order of variables may differ.
            roots: Edges of the other diagram.
            variables: Returns, for a variable of the other diagram, its function here.
        """
        library = self.library
        functions: dict[int, Any] = {0: library.true}

        def function(edge: int) -> Any:
            target = functions[edge >> 1]
            return ~target if edge & 1 else target

        for slot, (low, high, variable) in zip(slots, nodes, strict=True):
            functions[slot] = library.ite(variables(variable), function(high), function(low))
        return [self.add_root(function(edge)) for edge in roots]


def variable_name(variable: int) -> str:
    """Return the name of a variable in CUDD; `dd` finds variables by name only."""
    return f"v{variable}"


def _key(function: Any) -> int:
    """Return the address of a node, which identifies it in CUDD."""
    return int(function) & ~1
