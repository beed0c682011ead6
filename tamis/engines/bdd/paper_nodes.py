"""The diagram without negated edges, as the paper draws and numbers it.

A node here that somebody reaches by a negated edge is two there: itself, and its negation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tamis.engines.bdd.diagram import FALSE, TRUE, Diagram
from tamis.matches import Id


class PlainNode(NamedTuple):
    """A node of a plain diagram.

    Attributes:
        number: From 1, from the top of the order; the terminals are last, 0 before 1.
        variable: Its variable; None for a terminal.
        low: The number to follow where the variable is false; of a terminal, its value.
        high: The number to follow where it is true; of a terminal, its value.
        ids: The subscriptions that it is the output node of.
    """

    number: int
    variable: int | None
    low: int
    high: int
    ids: tuple[Id, ...]


def plain_nodes(
    diagram: Diagram, levels: Sequence[int], roots: Mapping[int, Sequence[Id]]
) -> list[PlainNode]:
    """All nodes of the plain diagram, by number.

    Args:
        diagram: With negated edges.
        levels: By variable, how far down it is in the order.
        roots: By edge, the subscriptions that end there.
    """
    found: dict[int, tuple[int, int]] = {}
    pending = list(roots)
    while pending:
        edge = pending.pop()
        if edge in found:
            continue
        if edge in (TRUE, FALSE):
            found[edge] = edge, edge
            continue
        slot, negated = edge >> 1, edge & 1
        found[edge] = diagram.low[slot] ^ negated, diagram.high[slot] ^ negated
        pending += found[edge]

    def place(edge: int) -> tuple[int, int]:
        if edge in (TRUE, FALSE):
            return len(levels), -edge
        # By who asks for it first, so that the picture follows the subscriptions.
        return levels[diagram.label[edge >> 1]], order[edge]

    order = {edge: number for number, edge in enumerate(_walk_order(found, roots))}
    numbers = {edge: number for number, edge in enumerate(sorted(found, key=place), 1)}
    return [
        PlainNode(number, None, 1 - edge, 1 - edge, tuple(roots.get(edge, ())))
        if edge in (TRUE, FALSE)
        else PlainNode(
            number,
            diagram.label[edge >> 1],
            numbers[found[edge][0]],
            numbers[found[edge][1]],
            tuple(roots.get(edge, ())),
        )
        for edge, number in numbers.items()
    ]


def _walk_order(found: Mapping[int, tuple[int, int]], roots: Mapping[int, object]) -> list[int]:
    """Edges in the order of a walk from the roots, the high ones first."""
    seen: dict[int, None] = {}
    pending = list(reversed(list(roots)))
    while pending:
        edge = pending.pop()
        if edge not in seen:
            seen[edge] = None
            if edge not in (TRUE, FALSE):
                pending += found[edge]
    return list(seen)
