"""Rules that become columns, in chunks: one query with all of them would be too large."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from tamis_lab.peers.peer import Texts

Chunk = tuple[list[int], list[str]]


def chunks(rules: list[tuple[int, Texts]], size: int) -> Iterator[Chunk]:
    """Yield the ids and texts of `size` rules at a time."""
    pending = iter(rules)
    while part := list(islice(pending, size)):
        yield [number for number, _ in part], [texts[0] for _, texts in part]
