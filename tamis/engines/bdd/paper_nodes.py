"""The diagram without negated edges, as the paper draws and numbers it.

A node that is reached by a negated edge here becomes two nodes: itself and its negation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tamis.engines.bdd.diagram import FALSE, TRUE, Diagram
from tamis.matches import Id


class PlainNode(NamedTuple):
    """A node of a plain diagram.

    Attributes:
        number: Its number, from 1 at the top of the order; the terminals are last, 0 before 1.
        variable: Its variable; None for a terminal.
        low: The number to follow where the variable is false; for a terminal, its value.
        high: The number to follow where it is true; for a terminal, its value.
        ids: The subscriptions whose output node it is.
    """

    number: int
    variable: int | None
    low: int
    high: int
    ids: tuple[Id, ...]


def plain_nodes(
    diagram: Diagram, levels: Sequence[int], roots: Mapping[int, Sequence[Id]]
) -> list[PlainNode]:
    """Return all nodes of the plain diagram, by number.

    Args:
        diagram: The diagram with negated edges.
        levels: By variable, its level in the order.
        roots: By edge, the subscriptions with that root.
    """
    children: dict[int, tuple[int, int]] = {}
    pending = list(roots)
    while pending:
        edge = pending.pop()
        if edge in children:
            continue
        if edge in (TRUE, FALSE):
            children[edge] = edge, edge
            continue
        slot, negated = edge >> 1, edge & 1
        children[edge] = diagram.low[slot] ^ negated, diagram.high[slot] ^ negated
        pending += children[edge]

    def place(edge: int) -> tuple[int, int]:
        if edge in (TRUE, FALSE):
            return len(levels), -edge
        # By first use, so that the drawing follows the subscriptions.
        return levels[diagram.label[edge >> 1]], order[edge]

    order = {edge: number for number, edge in enumerate(_walk_order(children, roots))}
    numbers = {edge: number for number, edge in enumerate(sorted(children, key=place), 1)}
    return [
        PlainNode(number, None, 1 - edge, 1 - edge, tuple(roots.get(edge, ())))
        if edge in (TRUE, FALSE)
        else PlainNode(
            number,
            diagram.label[edge >> 1],
            numbers[children[edge][0]],
            numbers[children[edge][1]],
            tuple(roots.get(edge, ())),
        )
        for edge, number in numbers.items()
    ]


def _walk_order(children: Mapping[int, tuple[int, int]], roots: Mapping[int, object]) -> list[int]:
    """Return the edges in the order of a walk from the roots, the high ones first."""
    seen: dict[int, None] = {}
    pending = list(reversed(list(roots)))
    while pending:
        edge = pending.pop()
        if edge not in seen:
            seen[edge] = None
            if edge not in (TRUE, FALSE):
                pending += children[edge]
    return list(seen)
