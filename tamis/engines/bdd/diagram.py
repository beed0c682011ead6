"""The shared diagram as flat records, kept in step with the library that makes it (paper §5).

Every node that a subscription can reach has a *slot* here: its two edges, its variable and the
number of edges that lead to it. An edge is twice a slot, and one more if it stands for the negation
of what it leads to: CUDD has one node for a function and its negation. Slot 0 is the terminal 1.

A diagram that is entered brings only those nodes that are new; one that leaves takes those
nobody else uses. CUDD finds equal nodes, so two equal subscriptions have one root.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from tamis.engines.bdd.cudd import manager

TRUE, FALSE = 0, 1  # edges


class DiagramNode(NamedTuple):
    """A node as it is taken from one diagram to another: two edges and a variable."""

    low: int
    high: int
    variable: int


class Diagram:
    """Nodes by slot, and the roots that hold them.

    Attributes:
        library: CUDD's manager.
        low: By slot, the edge to follow where the variable is false.
        high: By slot, the edge to follow where it is true; never a negation.
        label: By slot, the variable, as CUDD numbers it.
        uses: By variable, how many nodes have it.
        fresh: Slots of nodes that were made since somebody cleared this, children first.
        gone: How many of those that were not fresh have gone, since somebody set it to 0.
    """

    def __init__(self, unused: Callable[[int], None]) -> None:
        """Begin with the terminal alone.

        Args:
            unused: Called with a variable when the last node that has it has gone.
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
        # While a root is held, CUDD keeps every node below it where it is.
        self._roots: dict[int, Any] = {}
        self._root_counts: Counter[int] = Counter()
        self.uses: Counter[int] = Counter()
        self.fresh: dict[int, None] = {}
        self.gone = 0

    def __len__(self) -> int:
        """How many nodes there are, without the terminal."""
        return len(self._slots) - 1

    @property
    def roots(self) -> int:
        """How many functions are held as roots, a function and its negation as one."""
        return len(self._roots)

    @property
    def slots(self) -> int:
        """One more than the highest slot that was ever in use."""
        return len(self.low)

    def alive_slots(self) -> Iterable[int]:
        """The slots of all nodes, without the terminal."""
        return (slot for slot in self._slots.values() if slot)

    # -- roots ------------------------------------------------------------------------------------

    def add_root(self, function: Any) -> int:
        """Hold a function of CUDD's as a root, once more; gives its edge."""
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
        """Hold a root once less; what nobody reaches any more goes."""
        slot = edge >> 1
        if not slot:
            return
        self._root_counts[slot] -= 1
        function = None
        if not self._root_counts[slot]:
            del self._root_counts[slot]
            # To be let go only when the nodes have gone from here: CUDD may put others there.
            function = self._roots.pop(slot)
        self._release(slot)
        del function

    # -- nodes ------------------------------------------------------------------------------------

    def _assign_slots(self, function: Any, key: int) -> None:
        """Give a slot to every node below a function that has none."""
        slots = self._slots
        found: dict[int, tuple[int, int, int, int, int]] = {}
        pending = [(key, function)]
        while pending:
            key, function = pending.pop()
            if key in slots or key in found:
                continue
            low, high = function.low, function.high
            low_key, high_key = int(low), int(high)
            found[key] = (-function.level, key, low_key, high_key, function._index)
            pending.append((low_key & ~1, low))
            pending.append((high_key, high))
        # Children first: they are further down in the order.
        try:
            for _, key, low_key, high_key, variable in sorted(found.values()):
                low_edge = 2 * slots[low_key & ~1] | low_key & 1
                self._make(key, DiagramNode(low_edge, 2 * slots[high_key], variable))
        except BaseException:  # Ctrl-C: what no root holds CUDD may put elsewhere at any time
            for key in found:  # from the top down, each with what only it uses
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

    # -- another diagram of the same functions ----------------------------------------------------

    def nodes(self) -> tuple[list[int], list[DiagramNode]]:
        """All nodes, children first, and their slots."""
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
        """Take nodes of another diagram, in its slots, and hold roots; gives their edges here.

        Args:
            slots: The slots that the nodes had.
            nodes: Children first; their order of variables may be another.
            roots: Edges, as they were.
            variables: By variable as it was, the function that stands for it here.
        """
        library = self.library
        functions: dict[int, Any] = {0: library.true}

        def function(edge: int) -> Any:
            found = functions[edge >> 1]
            return ~found if edge & 1 else found

        for slot, (low, high, variable) in zip(slots, nodes, strict=True):
            functions[slot] = library.ite(variables(variable), function(high), function(low))
        return [self.add_root(function(edge)) for edge in roots]


def variable_name(variable: int) -> str:
    """What CUDD calls a variable, which `dd` finds by name only."""
    return f"v{variable}"


def _key(function: Any) -> int:
    """The address of a node, by which CUDD knows it."""
    return int(function) & ~1
