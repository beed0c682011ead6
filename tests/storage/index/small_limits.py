"""Limits so low that a few subscriptions are sealed, merged, placed again and checkpointed."""

from collections.abc import Callable

from tamis.engines.block import maintenance
from tamis.engines.block.draft import head
from tamis.storage.index import journal


def make_small(put: Callable[..., object] = setattr) -> None:
    put(head, "_SEALED", 8)
    put(head, "_IDLE", 4)
    put(maintenance, "_WORTH", 4)
    put(journal, "PAUSE", 0.001)
    put(journal, "BEHIND", 64)
    put(journal, "WORTH", 16)
