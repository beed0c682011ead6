"""Invariants of a poset and a forest, derived from the filters alone."""

from itertools import permutations

from tamis.engines.baselines.filter_engine import FilterEngine
from tamis.engines.baselines.filter_node import FilterNode
from tamis.engines.subscription import Subscription


def edges(engine: FilterEngine) -> set[tuple[object, object]]:
    """Return the edges from ids to ids; the ids of a node are joined."""
    return {(name(engine, n), name(engine, c)) for n in engine.nodes() for c in n.children}


def roots(engine: FilterEngine) -> set[str]:
    return {name(engine, node) for node in engine.order.roots}


def name(engine: FilterEngine, node: FilterNode) -> str:
    return "+".join(sorted(str(s.id) for s in engine.subscriptions_at(node)))


def filled(engine: FilterEngine, texts: dict[object, str]) -> FilterEngine:
    for id, text in texts.items():
        engine.add(Subscription.of(id, text))
    return engine


def check_links(engine: FilterEngine) -> None:
    """Check that both ends of a link know each other, and that nodes without parents are roots."""
    nodes = list(engine.nodes())
    for node in nodes:
        assert all(node in child.parents for child in node.children)
        assert all(node in parent.children for parent in node.parents)
        assert (node in engine.order.roots) == (not node.parents)
        assert node.codes
    assert all(root in nodes for root in engine.order.roots)


def check_poset(engine: FilterEngine) -> None:
    """Check that the edges are the transitive reduction of covering."""
    check_links(engine)
    nodes = list(engine.nodes())
    above = {(top, low) for top, low in permutations(nodes, 2) if top.filter.covers(low.filter)}
    assert not any((low, top) in above for top, low in above)
    between = {
        (top, low) for top, low in above for mid in nodes if {(top, mid), (mid, low)} <= above
    }
    assert {(top, low) for top in nodes for low in top.children} == above - between


def check_forest(engine: FilterEngine) -> None:
    """Check that each node has at most one parent, which covers it, and covers no sibling."""
    check_links(engine)
    for node in engine.nodes():
        assert len(node.parents) <= 1
        assert all(parent.filter.covers(node.filter) for parent in node.parents)
    for beside in [engine.order.roots, *(node.children for node in engine.nodes())]:
        for one, other in permutations(beside, 2):
            assert not one.filter.covers(other.filter)
