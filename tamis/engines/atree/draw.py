"""An A-Tree as a drawing, after Figure 3.5: leaves at the bottom, subscriptions at their nodes."""

from __future__ import annotations

from collections.abc import Sequence

from tamis.dot import quote
from tamis.engines.atree.tree import Tree
from tamis.kernels.atree.node_store import (
    AND,
    AT_LEAST,
    COMPARE,
    COUNT,
    LEAF,
    NAND,
    NOR,
    NOT,
    OR,
    VALUE,
    XOR,
)
from tamis.language.expr import Comparison, Node
from tamis.matches import Id
from tamis.predicates import PredicateIndex

_SYMBOLS = {
    AND: "∧",
    OR: "∨",  # noqa: RUF001
    XOR: "⊕",
    NOT: "¬",
    NAND: "⊼",
    NOR: "⊽",
    COUNT: "count",
}
_MAX_SHOWN = 5  # maximum number of ids at one node


def to_dot(tree: Tree, index: PredicateIndex, ids: Sequence[Id | None]) -> str:
    """Return the tree as a Graphviz digraph, level by level."""
    lines = ["digraph atree {", "  rankdir=BT;", '  node [shape=circle, fontname="sans-serif"];']
    levels: dict[int, list[str]] = {}
    for node in tree.nodes():
        levels.setdefault(tree.level(node), []).append(f"n{node}")
        lines.append(f"  n{node} [{_node_attributes(tree, index, node)}];")
        lines += [f"  n{child} -> n{node};" for child in tree.children(node)]
        roots = tree.subscriptions(node)
        if roots:
            names = sorted(str(ids[code]) for code in roots)
            more = [f"and {len(names) - _MAX_SHOWN} more"] if len(names) > _MAX_SHOWN else []
            label = ", ".join([*names[:_MAX_SHOWN], *more])
            lines.append(f"  s{node} [shape=plaintext, label={quote(label)}];")
            lines.append(f"  s{node} -> n{node} [style=dotted, dir=none, constraint=false];")
    for level in sorted(levels):
        lines.append(f"  {{ rank=same; {'; '.join(levels[level])}; }}  // level {level}")
    return "\n".join([*lines, "}"])


def _node_attributes(tree: Tree, index: PredicateIndex, node: int) -> str:
    function = tree.function_of(node)
    if function == LEAF:
        text = str(index.predicate(tree.predicate(node)))
        return f"shape=box, label={quote(text)}"
    if function in _SYMBOLS:
        return f"label={quote(_SYMBOLS[function])}"
    label = tree.labels.get(node)
    operator, k, n = tree.function_parts(node)
    if operator == AT_LEAST:
        return f"label={quote(f'≥{k} of {n}')}"
    if operator == COMPARE and isinstance(label, Comparison):
        return f"shape=diamond, label={quote(label.op)}"
    assert operator == VALUE
    if tree.children(node):
        return f"shape=ellipse, label={quote(_operator(label))}"
    return f"shape=box, style=rounded, label={quote(str(label))}"


def _operator(label: object) -> str:
    if not isinstance(label, Node):
        return str(label)
    for name in ("op", "function", "name"):
        value = getattr(label, name, None)
        if isinstance(value, str):
            return value
    return "-"
