"""Segments of arrays on disk: crash-safe, memory-mapped, with a log of the changes after them.

The store is independent of engines: a segment is a mapping of names to arrays, a change a tuple.
"""

from __future__ import annotations

from tamis.storage.store.store import Store
from tamis.storage.store.view import MappedSegment, View

__all__ = ["MappedSegment", "Store", "View"]
