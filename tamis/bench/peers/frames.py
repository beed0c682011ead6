"""Rules that become columns: so many to a query, as one of them all would be too large."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from tamis.bench.peers.peer import Texts

# Wider ones take no less time for a rule, and in Spark more memory than there is.
COLUMNS = 1_000

Chunk = tuple[list[int], list[str]]


def chunks(rules: list[tuple[int, Texts]], size: int = COLUMNS) -> Iterator[Chunk]:
    """Ids and texts of so many rules at a time."""
    pending = iter(rules)
    while part := list(islice(pending, size)):
        yield [number for number, _ in part], [texts[0] for _, texts in part]
