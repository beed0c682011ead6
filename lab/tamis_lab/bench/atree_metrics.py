"""Figures of a filled A-Tree: its size, SNPS and SMPE; and one tree behind several filters."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy

from tamis.engines import Engine
from tamis.engines.atree import AtreeEngine
from tamis.engines.atree.filters import FILTERS
from tamis.events.batch import EventBatch
from tamis_lab.harness.measure import Row


def tree_sizes(engine: AtreeEngine, subscriptions: int) -> Row:
    """Return nodes and bytes of the tree, and SNPS over all nodes and over internal nodes."""
    shared, shared_internal = engine.tree.sharing(range(subscriptions))
    return {
        "nodes": len(engine.tree),
        "bytes": engine.tree.bytes,
        "snps": shared,
        "snps_internal": shared_internal,
    }


def smpe(engine: Engine, batch: EventBatch, subscriptions: int) -> float:
    """Return SMPE: the fraction of the subscriptions that an event matches, on average."""
    if isinstance(engine, AtreeEngine):
        # A tree that was filled with arrays has no ids: its subscriptions are numbers.
        matches = len(engine.match_codes(batch)[0])
    else:
        matches = len(engine.match(batch))
    return matches / len(batch) / subscriptions


def filter_views(engine: AtreeEngine, filters: Iterable[str] = FILTERS) -> dict[str, AtreeEngine]:
    """Return one engine per filter, all on the same tree.

    The tree must be one that every filter can use: AND and OR only, or filters with queues only.
    """
    views = {}
    for name in filters:
        views[name] = copy(engine)  # shares the tree, but no scratch memory
        views[name].filter = FILTERS[name]
    return views
