"""A snapshot of an overlay, with counters summed over the brokers of a node, and its drawing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tamis.dot import quote

_SUMS = (
    "events_in",
    "events_out",
    "bytes_in",
    "bytes_out",
    "filter_bytes_in",
    "filter_bytes_out",
)


@dataclass
class NodeSnapshot:
    """A node.

    Attributes:
        name: The name of the node.
        brokers: The number of its brokers; 0 if the node does not answer.
        routing: Its routing strategy.
        figures: Counts of subscriptions, events, deliveries, evaluations, checks and false
            positives.
        table: The sizes of its router.
        links: The counters of its links at this end, by neighbour.
        down: The servers to which it cannot open a link, and why.
    """

    name: str
    brokers: int = 0
    routing: str = ""
    figures: dict[str, int] = field(default_factory=dict)
    table: dict[str, Any] = field(default_factory=dict)
    links: dict[str, dict[str, Any]] = field(default_factory=dict)
    down: dict[str, str] = field(default_factory=dict)


@dataclass
class OverlaySnapshot:
    """All nodes of an overlay and the links between them, including those of silent nodes.

    Attributes:
        nodes: The nodes, by name.
        links: The links, as pairs of names.
        silent: The nodes that do not answer, and why.
    """

    nodes: dict[str, NodeSnapshot]
    links: list[tuple[str, str]]
    silent: dict[str, str]

    @property
    def is_converged(self) -> bool:
        """Whether every advertised interest has arrived, as far as the nodes report."""
        if self.silent or any(not node.brokers or node.down for node in self.nodes.values()):
            return False
        for name, node in self.nodes.items():
            for neighbour, link in node.links.items():
                there = self.nodes.get(neighbour, NodeSnapshot(neighbour)).links.get(name)
                if there is None or not link["to_tell"] == link["told"] == there["received"]:
                    return False
        return True


def overlay_snapshot(answer: dict[str, Any]) -> OverlaySnapshot:
    """Build a snapshot from the answers of nodes; see `tamis.broker.overlay.discovery`."""
    nodes: dict[str, NodeSnapshot] = {}
    links: set[tuple[str, str]] = set()
    for name, node in answer["nodes"].items():
        brokers = [each for each in node["brokers"] if each.get("overlay")]
        nodes[name] = _node_snapshot(name, brokers, node.get("waiting", {}))
        for each in brokers:
            links |= {(one, other) for one, other in each["overlay"]["known_links"]}
    for pair in links:
        for end in pair:
            nodes.setdefault(end, NodeSnapshot(end))
    silent = {name: str(why) for name, why in answer.get("silent", {}).items()}
    return OverlaySnapshot(dict(sorted(nodes.items())), sorted(links), silent)


def _node_snapshot(
    name: str, brokers: list[dict[str, Any]], waiting: dict[str, int]
) -> NodeSnapshot:
    node = NodeSnapshot(name, len(brokers))
    if not brokers:
        return node
    first = brokers[0]["overlay"]
    node.routing, node.table = first["node"]["routing"], first["table"]
    node.down = {where: why for each in brokers for where, why in each["overlay"]["down"].items()}
    node.figures = {
        "subscriptions": brokers[0]["subscriptions"],
        **{each: sum(one[each] for one in brokers) for each in ("events", "deliveries")},
        **{
            each: sum(one["overlay"][each] for one in brokers)
            for each in ("evaluations", "checks", "false_positives", "looped")
        },
    }
    for neighbour, link in first["links"].items():
        ends = [one["overlay"]["links"].get(neighbour, {}) for one in brokers]
        node.links[neighbour] = {
            "by": link["by"],
            "up": any(end.get("up", False) for end in ends),
            "trouble": next((end["trouble"] for end in ends if end.get("trouble")), ""),
            "refused": link["refused"],
            **{each: sum(end.get(each, 0) for end in ends) for each in _SUMS},
            "waiting": waiting.get(neighbour, 0),
            **{each: link[each] for each in ("interests_told", "interests_received")},
            **{each: _common_value(ends, each) for each in ("to_tell", "told", "received")},
        }
    return node


def _common_value(ends: list[dict[str, Any]], field: str) -> str:
    """Return the value that all brokers of a node report; "…", which none has, if they differ."""
    values = {end.get(field, "") for end in ends}
    return values.pop() if len(values) == 1 else "…"


def dot(snapshot: OverlaySnapshot) -> str:
    """Return the graph in the language of Graphviz."""
    lines = ["graph overlay {", "  layout=neato; overlap=false; splines=true;"]
    lines.append('  node [shape=box, style="rounded,filled", fillcolor=white, fontname=Helvetica];')
    lines.append("  edge [fontname=Helvetica, fontsize=9];")
    lines += [f"  {line}" for line in _dot_nodes(snapshot)]
    lines += [f"  {line}" for line in _dot_links(snapshot)]
    return "\n".join([*lines, "}"]) + "\n"


def _dot_nodes(snapshot: OverlaySnapshot) -> Iterator[str]:
    for name, node in snapshot.nodes.items():
        if not node.brokers:
            label = quote(f"{name}\nsilent")
            yield f'{quote(name)} [label={label}, style="dashed,rounded"];'
            continue
        figures = node.figures
        about = [
            name,
            f"{figures['subscriptions']:,} subscriptions",
            f"{figures['evaluations']:,} evaluations, {figures['checks']:,} checks",
            f"{figures['false_positives']:,} false positives",
        ]
        label = quote("\n".join(about))
        yield f"{quote(name)} [label={label}];"


def _dot_links(snapshot: OverlaySnapshot) -> Iterator[str]:
    for one, other in snapshot.links:
        there = [snapshot.nodes[end].links.get(to) for end, to in ((one, other), (other, one))]
        lines = [
            f"{end} → {to}: {link['events_out']:,} events, {link['interests_told']:,} interests"
            + f", {link['waiting']:,} waiting" * bool(link["waiting"])
            for end, to, link in ((one, other, there[0]), (other, one, there[1]))
            if link is not None
        ]
        known = [link for link in there if link is not None]
        down = not any(link["up"] for link in known)
        style = ", style=dashed" if down else ""
        label = quote("\n".join(lines))
        yield f"{quote(one)} -- {quote(other)} [label={label}{style}];"
