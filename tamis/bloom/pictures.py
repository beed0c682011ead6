"""Drawings of the structures, after Figures 1 to 3 of the DEBS 2008 paper."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tamis.dot import quote

if TYPE_CHECKING:
    from tamis.bloom.bfposet import BFPoset
    from tamis.bloom.filter_tree import FilterTree

_MAX_SHOWN = 5  # maximum number of addresses at one node
_ROOT = "{null}"


def poset_lines(poset: BFPoset) -> Iterator[str]:
    """Draw Figure 1: a root per attribute, and each constraint below those that cover it."""
    for number, (attribute, diagram) in enumerate(poset.diagrams()):
        top = f"p{number}"
        yield f"  {top} [shape=box, label={quote(attribute)}];"
        yield f"  {top}n [label={quote(_ROOT)}];"
        yield f"  {top} -> {top}n;"
        names = {group: f"{top}c{place}" for place, group in enumerate(diagram)}
        for group, name in names.items():
            texts = ", ".join(sorted(stored.text for stored in group.members))
            label = f"{texts}\n{poset.filter_with_covers(group.members[0].predicate)!r}"
            yield f"  {name} [shape=box, style=rounded, label={quote(label)}];"
            for upper in [names[above] for above in group.above] or [f"{top}n"]:
                yield f"  {upper} -> {name};"


def tree_lines(tree: FilterTree) -> Iterator[str]:
    """Draw Figures 2 and 3: the bits of each node, and addresses as leaves."""
    for number, parent, bits, addresses in tree.walk():
        label = _ROOT if parent is None else "{" + ",".join(map(str, bits)) + "}"
        yield f"  t{number} [label={quote(label)}];"
        if parent is not None:
            yield f"  t{parent} -> t{number};"
        if addresses:
            names = sorted(map(str, addresses))
            more = [f"and {len(names) - _MAX_SHOWN} more"] if len(names) > _MAX_SHOWN else []
            label = ", ".join([*names[:_MAX_SHOWN], *more])
            yield f"  a{number} [shape=box, label={quote(label)}];"
            yield f"  t{number} -> a{number};"


def digraph(name: str, lines: Iterator[str]) -> str:
    """Return a complete Graphviz digraph."""
    return "\n".join([f"digraph {name} {{", '  node [fontname="sans-serif"];', *lines, "}"])
