"""Who is in the overlay, and over which links: a path vector; pure, no I/O.

Each node tells each neighbour of all nodes that it reaches otherwise, itself among them, and of the
links on the way. In an acyclic graph nobody is heard of over two neighbours. If somebody is, the
two paths hold a cycle; everybody on it comes to know it, sees the same youngest link in it, and the
two ends of that one give it up. The youngest link of a cycle is in no spanning tree of the oldest
links, so however many cycles are found at a time, in whatever order, the graph stays connected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Link(NamedTuple):
    """A link, as all nodes know it; the larger is the younger.

    Attributes:
        made: When it was made, in nanoseconds since 1970.
        id: Its name, unique.
        ends: The two nodes, in order.
    """

    made: int
    id: str
    ends: tuple[str, str]

    @classmethod
    def between(cls, one: str, other: str, made: int, id: str) -> Link:
        """A link of two nodes, the same whoever of them makes it.

        >>> Link.between("rome", "lyon", 5, "x") == Link.between("lyon", "rome", 5, "x")
        True
        """
        return cls(made, id, (min(one, other), max(one, other)))

    def other(self, end: str) -> str:
        """The end that is not this one."""
        return self.ends[0] if self.ends[1] == end else self.ends[1]


# The links from a node that is told of to the one that tells, in this order.
Path = tuple[Link, ...]


class OverlayLoop(NamedTuple):
    """A cycle: its nodes, beginning anywhere, and its youngest link."""

    nodes: tuple[str, ...]
    youngest: Link


class Membership:
    """What one node knows.

    >>> lyon = Membership("lyon")
    >>> lyon.join("rome", Link.between("lyon", "rome", 1, "a"))
    >>> lyon.hear("rome", "rome", ())
    >>> lyon.hear("rome", "oslo", (Link.between("oslo", "rome", 2, "b"),))
    >>> lyon.way("oslo")
    ('lyon', 'rome', 'oslo')
    """

    def __init__(self, name: str) -> None:
        """Begin alone."""
        self.name = name
        self.links: dict[str, Link] = {}
        self._heard: dict[str, dict[str, Path]] = {}

    def join(self, neighbour: str, link: Link) -> None:
        """A link is there, or has another id now."""
        self.links[neighbour] = link

    def leave(self, neighbour: str) -> None:
        """It is gone; what was heard over it is kept for when it comes back, but not believed."""
        self.links.pop(neighbour, None)

    def forget(self, neighbour: str) -> None:
        """It is gone for good, and all that was heard over it."""
        self.leave(neighbour)
        self._heard.pop(neighbour, None)

    def hear(self, neighbour: str, node: str, path: Path | None) -> None:
        """A neighbour reaches a node, or (None) no more."""
        heard = self._heard.setdefault(neighbour, {})
        if path is None:
            heard.pop(node, None)
        else:
            heard[node] = path

    def heard_paths(self, neighbour: str) -> Mapping[str, Path]:
        """All that a neighbour has told."""
        return self._heard.get(neighbour, {})

    @property
    def nodes(self) -> frozenset[str]:
        """All that are reached from here, without this one."""
        return frozenset(node for _, node, _ in self._paths())

    @property
    def all_links(self) -> frozenset[Link]:
        """All links that are known."""
        return frozenset(link for _, _, path in self._paths() for link in path)

    def advertised_paths(self, neighbour: str) -> dict[str, Path]:
        """What a neighbour is to know now: for each node the shortest path, not over itself."""
        told: dict[str, Path] = {self.name: ()}
        for node, (path, source) in self._best_paths().items():
            if source != neighbour and node not in (self.name, neighbour):
                told[node] = path
        return told

    def way(self, node: str, without: str | None = None) -> tuple[str, ...] | None:
        """The nodes from here to one, both ends among them; None if it is not reached.

        Args:
            node: The one.
            without: A neighbour over whom not to go.
        """
        found = [path for source, each, path in self._paths() if each == node and source != without]
        if not found:
            return None
        best: Path = min(found, key=_rank)
        return _walk_links(self.name, reversed(best))

    def find_loop(self) -> OverlayLoop | None:
        """A cycle through what is known, if there is one."""
        seen: dict[str, Path] = {self.name: ()}
        for _, node, path in sorted(self._paths(), key=lambda each: (_rank(each[2]), each[0])):
            if node in seen and set(seen[node]) != set(path):
                # What both have in common leads to the cycle, and is not in it.
                return _find_cycle(set(seen[node]) ^ set(path))
            seen.setdefault(node, path)
        return None

    def _paths(self) -> Iterable[tuple[str, str, Path]]:
        """Neighbour, node, and the links from the node to here."""
        for neighbour, link in self.links.items():
            yield neighbour, neighbour, (link,)
            for node, path in self._heard.get(neighbour, {}).items():
                if node != neighbour and link not in path:
                    yield neighbour, node, (*path, link)

    def _best_paths(self) -> dict[str, tuple[Path, str]]:
        """For each node, the shortest path, and over which neighbour it goes."""
        best: dict[str, tuple[Path, str]] = {}
        for source, node, path in self._paths():
            if node not in best or _rank(path) < _rank(best[node][0]):
                best[node] = path, source
        return best


def _rank(path: Path) -> tuple[int, Path]:
    return len(path), path


def _walk_links(start: str, links: Iterable[Link]) -> tuple[str, ...]:
    nodes = [start]
    for link in links:
        nodes.append(link.other(nodes[-1]))
    return tuple(nodes)


def _find_cycle(links: set[Link]) -> OverlayLoop | None:
    """A simple cycle among links of which every node has an even number."""
    if not links:
        return None
    first = max(links)
    at, left, nodes = first.ends[1], links - {first}, [first.ends[0], first.ends[1]]
    while at != first.ends[0]:
        following = next((link for link in sorted(left) if at in link.ends), None)
        if following is None:
            return None
        left.remove(following)
        at = following.other(at)
        nodes.append(at)
    # Two links of one pair are one link, of which an older name is still about.
    return OverlayLoop(tuple(nodes[:-1]), first) if len(nodes) > 3 else None
