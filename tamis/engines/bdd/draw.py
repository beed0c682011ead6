"""A diagram as a drawing, after Figures 1, 2 and 4: low edges dashed, output nodes thick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tamis.dot import quote
from tamis.engines.bdd.paper_nodes import PlainNode

_MAX_SHOWN = 5  # maximum number of ids at one node


def to_dot(nodes: Sequence[PlainNode], labels: Mapping[int, str]) -> str:
    """Return the diagram as a Graphviz digraph.

    Args:
        nodes: The nodes by number.
        labels: The predicates by variable.
    """
    lines = ["digraph bdd {", '  node [shape=ellipse, fontname="sans-serif"];']
    ranks: dict[int | None, list[str]] = {}
    for node in nodes:
        ranks.setdefault(node.variable, []).append(f"n{node.number}")
        lines.append(f"  n{node.number} [{_node_attributes(node, labels)}];")
        if node.variable is not None:
            lines.append(f'  n{node.number} -> n{node.low} [style=dashed, label="0"];')
            lines.append(f'  n{node.number} -> n{node.high} [label="1"];')
        if node.ids:
            names = sorted(map(str, node.ids))
            more = [f"and {len(names) - _MAX_SHOWN} more"] if len(names) > _MAX_SHOWN else []
            label = ", ".join([*names[:_MAX_SHOWN], *more])
            lines.append(f"  s{node.number} [shape=plaintext, label={quote(label)}];")
            lines.append(f"  s{node.number} -> n{node.number} [style=dotted, arrowhead=none];")
    for names in ranks.values():
        lines.append(f"  {{ rank=same; {'; '.join(names)}; }}")
    return "\n".join([*lines, "}"])


def _node_attributes(node: PlainNode, labels: Mapping[int, str]) -> str:
    thick = ", penwidth=3" if node.ids else ""
    if node.variable is None:
        return f'shape=box, label="{node.low}"{thick}'
    return f"label={quote(labels[node.variable])}, xlabel={quote(str(node.number))}{thick}"
