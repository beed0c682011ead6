"""What is exchanged over each link of a tree of brokers, and stored in each table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis_lab.kernels.false_claims import Conjunctions
from tamis_lab.kernels.overlay_tables import (
    COUNTED,
    Coverers,
    Demand,
    Tables,
    fill_predicate_brokers,
    fill_tables,
)
from tamis_lab.simulation.topology import OverlayTree

Words = npt.NDArray[np.uint64]


class NetworkTables(NamedTuple):
    """The tables of all brokers under covering, with a bit per broker.

    Attributes:
        up: By interest, the links, named by the broker below, over which it was sent to the parent.
        down: By interest, the links over which it was sent to the broker below.
        predicates: By predicate, the brokers that have it.
        counted: The counters of `tamis_lab.kernels.overlay_tables`, by broker.
    """

    up: Words
    down: Words
    predicates: Words
    counted: npt.NDArray[np.int64]


def word_count(brokers: int) -> int:
    """Return how many words of 64 bits have a bit for each broker."""
    return (brokers + 63) >> 6


def tables_of(wants: Demand, coverers: Coverers, tree: OverlayTree, begin: int, end: int) -> Tables:
    """Compute the tables for a range of interests."""
    shape = end - begin, word_count(tree.brokers)
    out = Tables(
        np.zeros(shape, np.uint64),
        np.zeros(shape, np.uint64),
        np.zeros(shape, np.uint64),
        np.zeros((COUNTED, tree.brokers), np.int64),
    )
    fill_tables(wants, coverers, tree.parent, tree.size, begin, out)
    return out


def network_tables(tables: Tables, parts: Conjunctions, predicates: int) -> NetworkTables:
    """Return the tables of all interests, with their predicates."""
    out = np.zeros((predicates, tables.held.shape[1]), np.uint64)
    fill_predicate_brokers(tables.held, parts.start, parts.predicate, parts.interest, out)
    return NetworkTables(tables.up, tables.down, out, tables.counted)


def predicates_by_broker(known: NetworkTables, brokers: int) -> npt.NDArray[np.int64]:
    """Return the number of predicates of each broker under covering."""
    counts = np.zeros(64 * known.predicates.shape[1], np.int64)
    for begin in range(0, len(known.predicates), 4096):
        rows = known.predicates[begin : begin + 4096].view(np.uint8)
        counts += np.unpackbits(rows, axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
    return counts[:brokers]
