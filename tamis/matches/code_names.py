"""The subscriptions that the codes of an answer stand for: their ids, and who comes first."""

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
    """The ids of a matcher as a column: int64, or string if there are none or only nulls."""
    some = next((id for id in ids if id is not None), "")
    return pa.array(ids, pa.int64() if isinstance(some, int) else pa.string())


class SubscriptionTable(NamedTuple):
    """By code, the id (null where no code leads) and the priority."""

    ids: pa.Array
    priorities: Ints

    def ids_of(self, code: Ints) -> npt.NDArray[Any]:
        """The ids that codes stand for; strings as Python's, each made once if most are wanted.

        Null ids must not turn the others into floats.
        """
        ids = self.ids
        few_strings = len(code) < len(ids) and ids.type != pa.int64()
        if few_strings or ids.null_count:
            ids, code = ids.take(pa.array(code)), np.arange(len(code))
        every: npt.NDArray[Any] = ids.to_numpy(zero_copy_only=False)
        return every[code]

    def ranked_codes(self, code: Ints) -> Ints:
        """The codes, highest priority first, and by id among equals."""
        code = code[self.id_order(code)]
        return code[np.argsort(self.priority_keys(code), kind="stable")]

    def ranks(self, code: Ints) -> Ints:
        """By code, its place among the `code` given; those of others mean nothing."""
        ranks = np.empty(len(self.ids), np.int64)
        ranks[self.ranked_codes(code)] = np.arange(len(code))
        return ranks

    def id_order(self, code: Ints) -> Ints:
        """Where the codes are, from the smallest id to the greatest."""
        order: Ints = pc.sort_indices(self.ids.take(pa.array(code))).to_numpy()
        return order

    def priority_keys(self, code: Ints) -> Ints:
        """Least for the highest priority; a minus would overflow at the lowest."""
        return ~self.priorities[code]

    def distinct_codes(self, *codes: Ints) -> Ints:
        """The codes that occur, each once."""
        seen = np.zeros(len(self.ids), np.bool_)
        for code in codes:
            seen[code] = True
        return np.flatnonzero(seen)
