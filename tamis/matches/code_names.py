"""The subscriptions behind the codes of matches: their ids and their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Id = str | int
Ints = npt.NDArray[np.int64]


def ids_array(ids: Sequence[Id | None]) -> pa.Array:
    """Return ids as a column: int64, or string if there are none or only nulls."""
    some = next((id for id in ids if id is not None), "")
    return pa.array(ids, pa.int64() if isinstance(some, int) else pa.string())


class SubscriptionTable(NamedTuple):
    """The id and the priority of each code; the id of an unused code is null."""

    ids: pa.Array
    priorities: Ints

    def ids_of(self, code: Ints) -> npt.NDArray[Any]:
        """Return the ids of codes; strings are Python's, created once each if most are needed.

        Null ids must not turn the others into floats.
        """
        ids = self.ids
        few_strings = len(code) < len(ids) and ids.type != pa.int64()
        if few_strings or ids.null_count:
            ids, code = ids.take(pa.array(code)), np.arange(len(code))
        every: npt.NDArray[Any] = ids.to_numpy(zero_copy_only=False)
        return every[code]

    def ranked_codes(self, code: Ints) -> Ints:
        """Return the codes by priority, highest first, and then by id."""
        code = code[self.id_order(code)]
        return code[np.argsort(self.priority_keys(code), kind="stable")]

    def ranks(self, code: Ints) -> Ints:
        """Return the rank of each code among those given; ranks of other codes are undefined."""
        ranks = np.empty(len(self.ids), np.int64)
        ranks[self.ranked_codes(code)] = np.arange(len(code))
        return ranks

    def id_order(self, code: Ints) -> Ints:
        """Return the positions of the codes in order of their ids."""
        order: Ints = pc.sort_indices(self.ids.take(pa.array(code))).to_numpy()
        return order

    def priority_keys(self, code: Ints) -> Ints:
        """Return sort keys, lowest for the highest priority; negation could overflow."""
        return ~self.priorities[code]

    def distinct_codes(self, *codes: Ints) -> Ints:
        """Return the distinct codes."""
        seen = np.zeros(len(self.ids), np.bool_)
        for code in codes:
            seen[code] = True
        return np.flatnonzero(seen)
