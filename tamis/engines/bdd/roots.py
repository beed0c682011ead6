"""Which subscriptions there are, where each ends in the diagram, and what it needs to be there.

A reduced diagram forgets variables, and a restricted one more of them: `y AND (x OR NOT x)` is `y`.
Under `strict` an event must have x all the same, so the attributes of a query are kept beside it.
Many queries need the same ones, which stand here once, under a small number: their *key*.
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
        keys: By code, the key of what it needs.
        loose: How many may match an event that lacks an attribute they look at.
        fresh: Codes that were added since `settled`.
        withdrawn: Codes that were there at `settled`, and have been removed since.
        gone: How many have been removed since all was laid out.
        version: Changes when other predicates say that attributes are there.
    """

    def __init__(self, index: PredicateIndex) -> None:
        """Begin with none.

        Args:
            index: Where the predicates that attributes are there are held.
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
        self._key_counts: list[int] = [1]  # the key of those that need nothing stays
        self._free_keys: list[int] = []
        self._needs: Needs | None = None
        self.version = 0
        self.fresh: dict[int, None] = {}
        self.withdrawn: list[int] = []
        self.gone = 0

    def __len__(self) -> int:
        """How many there are."""
        return len(self._codes)

    def clear_changes(self) -> None:
        """Begin anew with what is fresh, and what was withdrawn."""
        self.fresh.clear()
        self.withdrawn.clear()

    def add(self, id: Id, priority: int, edge: int, required: frozenset[Path], loose: bool) -> None:
        """Take a subscription.

        Args:
            id: Its id.
            priority: Its priority.
            edge: Where it ends.
            required: The attributes that an event must have.
            loose: Whether it looks at others too.
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
        """Forget a subscription; gives the edge to its root."""
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
        """All codes, those that need the same together."""
        return sorted(self._codes.values(), key=lambda code: (self.keys[code], code))

    def ids_and_priorities(self, codes: NDArray[np.integer]) -> tuple[pa.Array, NDArray[np.int64]]:
        """The ids of some codes, and their priorities."""
        listed = codes.tolist()
        ids = ids_array([self._ids[code] for code in listed])
        return ids, np.array([self._priorities[code] for code in listed], np.int64)

    def presence_predicates(self) -> list[int]:
        """All predicates that some attribute is there, each once."""
        return sorted({predicate for one in self._predicates for predicate in one})

    def alive_edges(self) -> list[int]:
        """The edges of all subscriptions."""
        return [self.edges[code] for code in self._codes.values()]

    def set_edges(self, edges: Sequence[int]) -> None:
        """Take other edges, in the order of `alive_edges`."""
        for code, edge in zip(self._codes.values(), edges, strict=True):
            self.edges[code] = edge

    def ids_by_root(self) -> dict[int, list[Id]]:
        """The ids by the edge to their root."""
        found: dict[int, list[Id]] = {}
        for id, code in self._codes.items():
            found.setdefault(self.edges[code], []).append(id)
        return found

    # -- what is needed ---------------------------------------------------------------------------

    def needs(self) -> Needs:
        """By key, the predicates that its attributes are there."""
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
    """The leaf that says that an attribute is there."""
    return Not(IsNull(Attribute(path)))


def needs_of(lists: Sequence[Sequence[int]]) -> Needs:
    """Lists of predicates, by key, as arrays."""
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(one) for one in lists], out=offsets[1:])
    ids = np.fromiter((id for one in lists for id in one), np.int32, int(offsets[-1]))
    return Needs(offsets, ids)
