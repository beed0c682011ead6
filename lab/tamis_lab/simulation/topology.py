"""Trees of brokers: a line, a star, a balanced tree, a random one.

A broker is numbered before those below it, and those below it follow directly: so the brokers
beyond a link are a range of numbers, or all others. Brokers with close numbers are close in the
tree (in a star as far as possible).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.errors import InputError
from tamis_lab.workloads.known_names import check_known

Ints = npt.NDArray[np.int32]

FANOUT: Final = 3  # of a balanced tree


class OverlayTree(NamedTuple):
    """Brokers 0, 1, … with a link from each but the first to its parent.

    >>> tree_of([-1, 0, 1, 0])
    OverlayTree(parent=array([-1,  0,  1,  0], dtype=int32), size=array([4, 2, 1, 1], dtype=int32))

    Attributes:
        parent: The broker above; -1 for the first.
        size: Number of brokers in the subtree, which are those from its own number on.
    """

    parent: Ints
    size: Ints

    @property
    def brokers(self) -> int:
        """Number of brokers."""
        return len(self.parent)

    def depths(self) -> Ints:
        """Return the number of links between each broker and the first."""
        depths = np.zeros(self.brokers, np.int32)
        for broker in range(1, self.brokers):
            depths[broker] = depths[self.parent[broker]] + 1
        return depths

    def degrees(self) -> Ints:
        """Return the number of neighbours of each broker."""
        degrees = np.bincount(self.parent[1:], minlength=self.brokers)
        degrees[1:] += 1
        return degrees.astype(np.int32)


def tree_of(parents: Sequence[int]) -> OverlayTree:
    """Return the tree with these parents, whose brokers must be numbered as described above.

    Raises:
        InputError: They are not, or this is not a tree.
    """
    count = len(parents)
    if not count or parents[0] != -1:
        raise InputError("the first broker, and no other, must have the parent -1", "brokers")
    size = np.ones(count, np.int32)
    for broker in range(count - 1, 0, -1):
        if not 0 <= parents[broker] < broker:
            raise InputError(f"broker {broker} comes before its parent", "brokers")
        size[parents[broker]] += size[broker]
    after = np.ones(count, np.int64)  # the number of the next broker below each
    after += np.arange(count)
    for broker in range(1, count):
        if after[parents[broker]] != broker:
            raise InputError(f"broker {broker} is not next to those below its parent", "brokers")
        after[parents[broker]] += size[broker]
    return OverlayTree(np.asarray(parents, np.int32), size)


def renumber_tree(parents: Sequence[int]) -> tuple[OverlayTree, Ints]:
    """Renumber any tree as an `OverlayTree`; return it, and the new numbers by old number.

    Args:
        parents: The parent of each broker; -1 for one of them.

    Raises:
        InputError: This is not a tree.
    """
    below: list[list[int]] = [[] for _ in parents]
    roots = []
    for broker, parent in enumerate(parents):
        if parent == -1:
            roots.append(broker)
        elif 0 <= parent < len(parents):
            below[parent].append(broker)
        else:
            raise InputError(f"the parent of broker {broker}, {parent}, does not exist", "brokers")
    if len(roots) != 1:
        raise InputError(f"{len(roots)} brokers have no parent; there must be one root", "brokers")
    numbers = np.full(len(parents), -1, np.int32)
    ordered: list[int] = []
    pending = roots
    while pending:
        broker = pending.pop()
        numbers[broker] = len(ordered)
        above = parents[broker]
        ordered.append(-1 if above == -1 else int(numbers[above]))
        pending += reversed(below[broker])
    if len(ordered) != len(parents):
        raise InputError("some brokers form a loop, apart from the others", "brokers")
    return tree_of(ordered), numbers


def line(brokers: int) -> OverlayTree:
    """Return a line of brokers."""
    return tree_of(range(-1, brokers - 1))


def star(brokers: int) -> OverlayTree:
    """Return a star around the first broker."""
    return tree_of([-1, *[0] * (brokers - 1)])


def balanced_tree(brokers: int, fanout: int = FANOUT) -> OverlayTree:
    """Return a tree with `fanout` brokers below each, and as few levels as possible."""
    return renumber_tree([-1, *((broker - 1) // fanout for broker in range(1, brokers))])[0]


def random_tree(brokers: int, seed: int) -> OverlayTree:
    """Return a random tree, all equally likely, from a random Prüfer sequence."""
    if brokers < 3:
        return line(brokers)
    drawn = np.random.default_rng(seed).integers(brokers, size=brokers - 2).tolist()
    left = np.bincount(drawn, minlength=brokers) + 1
    leaves = [broker for broker in range(brokers) if left[broker] == 1]
    heapq.heapify(leaves)
    links: list[list[int]] = [[] for _ in range(brokers)]
    for other in drawn:
        leaf = heapq.heappop(leaves)
        links[leaf].append(other)
        links[other].append(leaf)
        left[other] -= 1
        if left[other] == 1:
            heapq.heappush(leaves, other)
    one, other = leaves
    links[one].append(other)
    links[other].append(one)
    parents = [-1] * brokers
    pending = [0]
    while pending:
        broker = pending.pop()
        for each in links[broker]:
            if each != parents[broker]:
                parents[each] = broker
                pending.append(each)
    return renumber_tree(parents)[0]


_BUILDERS: dict[str, Callable[[int, int], OverlayTree]] = {
    "line": lambda brokers, seed: line(brokers),
    "star": lambda brokers, seed: star(brokers),
    "balanced": lambda brokers, seed: balanced_tree(brokers),
    "random": random_tree,
}
TOPOLOGIES: Final = tuple(_BUILDERS)


def topology(name: str, brokers: int, seed: int = 0) -> OverlayTree:
    """Return a tree by its name.

    >>> topology("star", 3).parent
    array([-1,  0,  0], dtype=int32)

    Raises:
        InputError: The name is unknown, or there are no brokers.
    """
    check_known("topology", [name], TOPOLOGIES, "topology")
    if brokers < 1:
        raise InputError("must be 1 or more", "brokers")
    return _BUILDERS[name](brokers, seed)
