"""Nodes learn of each other and of their links; cycles are found, and broken correctly."""

import random
from collections import defaultdict
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.routing.membership import Link, Membership, OverlayLoop, Path


class Overlay:
    """Nodes in memory; messages arrive in any order, but those of one link in theirs."""

    def __init__(self, seed: int = 0) -> None:
        self.nodes: dict[str, Membership] = {}
        self.told: dict[tuple[str, str], dict[str, Path]] = defaultdict(dict)
        self.draw = random.Random(seed)
        self.links: set[Link] = set()

    def link(self, one: str, other: str, made: int) -> Link:
        link = Link.between(one, other, made, f"link{made}")
        self.links.add(link)
        for end in link.ends:
            self.nodes.setdefault(end, Membership(end)).join(link.other(end), link)
        return link

    def unlink(self, link: Link) -> None:
        self.links.discard(link)
        for end in link.ends:
            self.nodes[end].forget(link.other(end))
            self.told.pop((end, link.other(end)), None)

    def settle(self, refuse: bool = False) -> None:
        """Exchange messages until nothing is new; remove links of cycles meanwhile."""
        while True:
            pending = [
                (name, neighbour)
                for name, node in self.nodes.items()
                for neighbour in node.links
                if node.advertised_paths(neighbour) != self.told[name, neighbour]
            ]
            loops = [
                loop.youngest
                for name, node in self.nodes.items()
                if refuse and (loop := node.find_loop()) and name in loop.youngest.ends
            ]
            if loops and (not pending or self.draw.random() < 0.5):
                self.unlink(self.draw.choice(loops))
            elif pending:
                name, neighbour = self.draw.choice(pending)
                self._tell(name, neighbour)
            else:
                return

    def _tell(self, name: str, neighbour: str) -> None:
        new = self.nodes[name].advertised_paths(neighbour)
        old = self.told[name, neighbour]
        for node in old.keys() | new.keys():
            self.nodes[neighbour].hear(name, node, new.get(node))
        self.told[name, neighbour] = new

    def components(self) -> set[frozenset[str]]:
        return components(self.nodes, self.links)


def components(nodes: object, links: set[Link]) -> set[frozenset[str]]:
    of = {node: {node} for node in nodes}  # type: ignore[attr-defined]
    for link in links:
        one, other = (of[end] for end in link.ends)
        if one is not other:
            one |= other
            for node in other:
                of[node] = one
    return {frozenset(each) for each in of.values()}


def names(count: int) -> list[str]:
    return [f"n{i}" for i in range(count)]


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[str, str]]:
    found = names(draw(st.integers(2, 9)))
    return [(found[draw(st.integers(0, i - 1))], found[i]) for i in range(1, len(found))]


@st.composite
def graphs(draw: st.DrawFn) -> list[tuple[str, str]]:
    found = names(draw(st.integers(3, 8)))
    pairs = [(a, b) for i, a in enumerate(found) for b in found[i + 1 :]]
    return draw(st.lists(st.sampled_from(pairs), min_size=2, max_size=14, unique=True))


@given(trees(), st.integers(0, 1_000))
def test_in_a_tree_every_node_knows_all_nodes_and_links(
    edges: list[tuple[str, str]], seed: int
) -> None:
    overlay = Overlay(seed)
    for made, (one, other) in enumerate(edges):
        overlay.link(one, other, made)
    overlay.settle()
    for name, node in overlay.nodes.items():
        assert node.nodes == overlay.nodes.keys() - {name}
        assert node.all_links == overlay.links
        assert node.find_loop() is None
        for other in node.nodes:
            way = node.way(other)
            assert way is not None and way[0] == name and way[-1] == other
            ends = {link.ends for link in overlay.links}
            assert all(tuple(sorted(pair)) in ends for pair in pairwise(way))
            assert node.way(other, without=way[1]) is None


@given(trees(), st.data())
def test_removing_a_link_removes_the_nodes_beyond_it(
    edges: list[tuple[str, str]], data: st.DataObject
) -> None:
    overlay = Overlay()
    made = [overlay.link(*edge, number) for number, edge in enumerate(edges)]
    overlay.settle()
    overlay.unlink(data.draw(st.sampled_from(made)))
    overlay.settle()
    for name, node in overlay.nodes.items():
        (mine,) = (each for each in overlay.components() if name in each)
        assert node.nodes == mine - {name}


@settings(max_examples=200)
@given(graphs(), st.integers(0, 1_000))
def test_any_graph_is_reduced_to_the_tree_of_its_oldest_links(
    edges: list[tuple[str, str]], seed: int
) -> None:
    overlay = Overlay(seed)
    for made, (one, other) in enumerate(edges):
        overlay.link(one, other, made)
    before, all_links = overlay.components(), sorted(overlay.links)
    overlay.settle(refuse=True)
    assert overlay.components() == before
    # Kruskal: a link is left if the older ones do not connect its ends.
    left: set[Link] = set()
    for link in all_links:
        if not any(set(link.ends) <= part for part in components(overlay.nodes, left)):
            left.add(link)
    assert overlay.links == left


@pytest.mark.parametrize("size", [3, 4, 5, 6, 7])
def test_all_nodes_on_a_cycle_see_the_same_youngest_link(size: int) -> None:
    overlay = Overlay(size)
    found = names(size)
    links = [overlay.link(found[i], found[(i + 1) % size], (i * 5) % 11) for i in range(size)]
    overlay.link("n0", "tail", 100)
    overlay.settle()
    for name in found:
        loop = overlay.nodes[name].find_loop()
        assert isinstance(loop, OverlayLoop)
        assert loop.youngest == max(links) and sorted(loop.nodes) == sorted(found)


def test_an_older_id_of_the_same_link_is_not_a_loop() -> None:
    lyon = Membership("lyon")
    lyon.join("rome", Link.between("lyon", "rome", 9, "new"))
    lyon.hear("rome", "lyon", (Link.between("lyon", "rome", 1, "old"),))
    assert lyon.find_loop() is None
