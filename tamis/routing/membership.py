"""The members of the overlay and its links, as a path vector; no I/O.

Each node tells each neighbour about all nodes that it reaches through others, including itself, and
about the links on the path. In an acyclic graph, no node is reported by two neighbours. If one is,
the two paths contain a cycle. All nodes on the cycle learn of it and see the same youngest link in
it, and the two ends of that link remove it. The youngest link of a cycle is not in the spanning
tree of the oldest links. So the graph stays connected, however many cycles are found at a time and
in whatever order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Link(NamedTuple):
    """A link, as all nodes know it; the larger is the younger.

    Attributes:
        made: When it was created, in nanoseconds since 1970.
        id: Its unique id.
        ends: The two nodes, sorted.
    """

    made: int
    id: str
    ends: tuple[str, str]

    @classmethod
    def between(cls, one: str, other: str, made: int, id: str) -> Link:
        """Create a link of two nodes; the order of the nodes does not matter.

        >>> Link.between("rome", "lyon", 5, "x") == Link.between("lyon", "rome", 5, "x")
        True
        """
        return cls(made, id, (min(one, other), max(one, other)))

    def other(self, end: str) -> str:
        """Return the opposite end."""
        return self.ends[0] if self.ends[1] == end else self.ends[1]


# The links from the reported node to the node that reports it, in this order.
Path = tuple[Link, ...]


class OverlayLoop(NamedTuple):
    """A cycle: its nodes, starting anywhere, and its youngest link."""

    nodes: tuple[str, ...]
    youngest: Link


class Membership:
    """The knowledge of one node about the overlay.

    >>> lyon = Membership("lyon")
    >>> lyon.join("rome", Link.between("lyon", "rome", 1, "a"))
    >>> lyon.hear("rome", "rome", ())
    >>> lyon.hear("rome", "oslo", (Link.between("oslo", "rome", 2, "b"),))
    >>> lyon.way("oslo")
    ('lyon', 'rome', 'oslo')
    """

    def __init__(self, name: str) -> None:
        """Create a node without links."""
        self.name = name
        self.links: dict[str, Link] = {}
        self._heard: dict[str, dict[str, Path]] = {}

    def join(self, neighbour: str, link: Link) -> None:
        """Add a link to a neighbour, or replace its id."""
        self.links[neighbour] = link

    def leave(self, neighbour: str) -> None:
        """Remove a link; keep the reports of the neighbour for its return, but ignore them."""
        self.links.pop(neighbour, None)

    def forget(self, neighbour: str) -> None:
        """Remove a link for good, with the reports of the neighbour."""
        self.leave(neighbour)
        self._heard.pop(neighbour, None)

    def hear(self, neighbour: str, node: str, path: Path | None) -> None:
        """Record that a neighbour reaches a node, or (None) no longer reaches it."""
        heard = self._heard.setdefault(neighbour, {})
        if path is None:
            heard.pop(node, None)
        else:
            heard[node] = path

    def heard_paths(self, neighbour: str) -> Mapping[str, Path]:
        """Return the paths that a neighbour has reported."""
        return self._heard.get(neighbour, {})

    @property
    def nodes(self) -> frozenset[str]:
        """All nodes that can be reached, without this one."""
        return frozenset(node for _, node, _ in self._paths())

    @property
    def all_links(self) -> frozenset[Link]:
        """All known links."""
        return frozenset(link for _, _, path in self._paths() for link in path)

    def advertised_paths(self, neighbour: str) -> dict[str, Path]:
        """Return the shortest path to each node that does not go through the neighbour itself."""
        advertised: dict[str, Path] = {self.name: ()}
        for node, (path, source) in self._best_paths().items():
            if source != neighbour and node not in (self.name, neighbour):
                advertised[node] = path
        return advertised

    def way(self, node: str, without: str | None = None) -> tuple[str, ...] | None:
        """Return the nodes on the shortest path to a node, with both ends; None if unreachable.

        Args:
            node: The destination.
            without: A neighbour to avoid.
        """
        paths = [path for source, each, path in self._paths() if each == node and source != without]
        if not paths:
            return None
        best: Path = min(paths, key=_rank)
        return _walk_links(self.name, reversed(best))

    def find_loop(self) -> OverlayLoop | None:
        """Return a cycle among the known paths, if there is one."""
        seen: dict[str, Path] = {self.name: ()}
        for _, node, path in sorted(self._paths(), key=lambda each: (_rank(each[2]), each[0])):
            if node in seen and set(seen[node]) != set(path):
                # The common part of both paths leads to the cycle and is not in it.
                return _find_cycle(set(seen[node]) ^ set(path))
            seen.setdefault(node, path)
        return None

    def _paths(self) -> Iterable[tuple[str, str, Path]]:
        """Iterate over neighbours, nodes, and the links from the node to here."""
        for neighbour, link in self.links.items():
            yield neighbour, neighbour, (link,)
            for node, path in self._heard.get(neighbour, {}).items():
                if node != neighbour and link not in path:
                    yield neighbour, node, (*path, link)

    def _best_paths(self) -> dict[str, tuple[Path, str]]:
        """Return, for each node, the shortest path and the neighbour that it goes through."""
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
    """Return a simple cycle among links of which every node has an even number."""
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
    # Two links between the same nodes are one link; the older id has not disappeared yet.
    return OverlayLoop(tuple(nodes[:-1]), first) if len(nodes) > 3 else None
