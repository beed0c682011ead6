"""Limits so low that a few subscriptions are sealed, merged, laid out anew and checkpointed."""

from collections.abc import Callable

from tamis.engines.block import pending, upkeep
from tamis.keeping import journal


def make_small(put: Callable[..., object] = setattr) -> None:
    put(pending, "_SEALED", 8)
    put(pending, "_IDLE", 4)
    put(upkeep, "_WORTH", 4)
    put(journal, "PAUSE", 0.001)
    put(journal, "BEHIND", 64)
    put(journal, "WORTH", 16)
