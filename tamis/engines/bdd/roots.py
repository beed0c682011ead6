"""The subscriptions, their roots in the diagram, and the attributes that they need.

A reduced diagram drops variables, and a restricted one drops more: `y AND (x OR NOT x)` is `y`.
Under `strict` an event must have x all the same, so the attributes of a query are stored beside it.
Many queries need the same attributes, which are stored once, under a small number: their *key*.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tamis.kernels.bdd.eval import Needs
from tamis.language.expr import Attribute, IsNull, Not
from tamis.matches import Id, ids_array
from tamis.paths import Path
from tamis.predicates import PredicateIndex


class Roots:
    """Subscriptions by a small number, their code.

    Attributes:
        edges: By code, the edge to the root.
        keys: By code, the key of the attributes that it needs.
        loose: The number of subscriptions that may match an event without an attribute they use.
        fresh: The codes added since `clear_changes`.
        withdrawn: The codes that existed at `clear_changes` and have been removed since.
        gone: The number of subscriptions removed since the last full layout.
        version: Changes when the set of presence predicates changes.
    """

    def __init__(self, index: PredicateIndex) -> None:
        """Start without subscriptions.

        Args:
            index: The index that interns the presence predicates.
        """
        self._index = index
        self.edges: list[int] = []
        self.keys: list[int] = []
        self._is_loose = bytearray()
        self.loose = 0
        self._ids: list[Id | None] = []
        self._priorities: list[int] = []
        self._codes: dict[Id, int] = {}
        self._free: list[int] = []
        self._key_of: dict[frozenset[Path], int] = {frozenset(): 0}
        self._paths: list[frozenset[Path]] = [frozenset()]
        self._predicates: list[list[int]] = [[]]
        self._key_counts: list[int] = [1]  # the key of the empty set is never freed
        self._free_keys: list[int] = []
        self._needs: Needs | None = None
        self.version = 0
        self.fresh: dict[int, None] = {}
        self.withdrawn: list[int] = []
        self.gone = 0

    def __len__(self) -> int:
        """Return the number of subscriptions."""
        return len(self._codes)

    def clear_changes(self) -> None:
        """Clear the sets of fresh and withdrawn codes."""
        self.fresh.clear()
        self.withdrawn.clear()

    def add(self, id: Id, priority: int, edge: int, required: frozenset[Path], loose: bool) -> None:
        """Add a subscription.

        Args:
            id: Its id.
            priority: Its priority.
            edge: The edge to its root.
            required: The attributes that an event must have.
            loose: Whether it uses attributes that are not required.
        """
        key = self._key(required)
        if self._free:
            code = self._free.pop()
            self.edges[code], self.keys[code] = edge, key
            self._ids[code], self._priorities[code] = id, priority
            self._is_loose[code] = loose
        else:
            code = len(self.edges)
            self.edges.append(edge)
            self.keys.append(key)
            self._ids.append(id)
            self._priorities.append(priority)
            self._is_loose.append(loose)
        self.loose += loose
        self._codes[id] = code
        self.fresh[code] = None

    def remove(self, id: Id) -> int:
        """Remove a subscription and return the edge to its root."""
        code = self._codes.pop(id)
        if self.fresh.pop(code, code) is not None:
            self.withdrawn.append(code)
            self.gone += 1
        self._free.append(code)
        self._ids[code] = None
        self.loose -= self._is_loose[code]
        self._release_key(self.keys[code])
        return self.edges[code]

    def codes_by_needs(self) -> list[int]:
        """Return all codes, grouped by the attributes that they need."""
        return sorted(self._codes.values(), key=lambda code: (self.keys[code], code))

    def ids_and_priorities(self, codes: NDArray[np.integer]) -> tuple[pa.Array, NDArray[np.int64]]:
        """Return the ids and the priorities of some codes."""
        listed = codes.tolist()
        ids = ids_array([self._ids[code] for code in listed])
        return ids, np.array([self._priorities[code] for code in listed], np.int64)

    def presence_predicates(self) -> list[int]:
        """Return all presence predicates without duplicates."""
        return sorted({predicate for one in self._predicates for predicate in one})

    def alive_edges(self) -> list[int]:
        """Return the edges of all subscriptions."""
        return [self.edges[code] for code in self._codes.values()]

    def set_edges(self, edges: Sequence[int]) -> None:
        """Replace all edges; they are in the order of `alive_edges`."""
        for code, edge in zip(self._codes.values(), edges, strict=True):
            self.edges[code] = edge

    def ids_by_root(self) -> dict[int, list[Id]]:
        """Return the ids by the edge to their root."""
        ids: dict[int, list[Id]] = {}
        for id, code in self._codes.items():
            ids.setdefault(self.edges[code], []).append(id)
        return ids

    # -- needed attributes ------------------------------------------------------------------------

    def needs(self) -> Needs:
        """Return the presence predicates of each key."""
        if self._needs is None:
            self._needs = needs_of(self._predicates)
        return self._needs

    def _key(self, required: frozenset[Path]) -> int:
        key = self._key_of.get(required)
        if key is None:
            predicates = [self._index.intern(presence(path)) for path in sorted(required)]
            if self._free_keys:
                key = self._free_keys.pop()
                self._paths[key], self._predicates[key] = required, predicates
                self._key_counts[key] = 0
            else:
                key = len(self._paths)
                self._paths.append(required)
                self._predicates.append(predicates)
                self._key_counts.append(0)
            self._key_of[required] = key
            self._needs = None
            self.version += 1
        self._key_counts[key] += 1
        return key

    def _release_key(self, key: int) -> None:
        self._key_counts[key] -= 1
        if not self._key_counts[key]:
            del self._key_of[self._paths[key]]
            for predicate in self._predicates[key]:
                self._index.release(predicate)
            self._predicates[key] = []
            self._free_keys.append(key)
            self._needs = None
            self.version += 1


def presence(path: Path) -> Not:
    """Return the presence predicate of an attribute: the leaf that is true where it is not NULL."""
    return Not(IsNull(Attribute(path)))


def needs_of(lists: Sequence[Sequence[int]]) -> Needs:
    """Pack lists of predicates, one per key, into arrays."""
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(one) for one in lists], out=offsets[1:])
    ids = np.fromiter((id for one in lists for id in one), np.int32, int(offsets[-1]))
    return Needs(offsets, ids)
