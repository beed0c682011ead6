"""Sparse events: as pairs in arrays, and from there as dicts or as columns.

A column has a slot for each event of its batch, whether or not the event has the attribute. With
20,000 names a batch of n events has up to 5.5 n columns, and thus up to 5.5 n * n slots: batches
should not be larger than about a thousand events.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tamis.events.batch import EventBatch
from tamis_lab.workloads.bloom2008.names import Numbers
from tamis_lab.workloads.random_draws import batch_of, check

# Two gibibytes of values.
_MOST_SLOTS = 1 << 28


class EventPairs(NamedTuple):
    """Events as names and values; each row is used up to its length.

    Attributes:
        names: The names by number, different within a row.
        values: Their values.
        lengths: Number of pairs of each event.
    """

    names: Numbers
    values: Numbers
    lengths: Numbers

    def as_dicts(self, words: tuple[str, ...]) -> Iterator[dict[str, object]]:
        """Yield the events as dicts."""
        for names, values, length in zip(
            self.names.tolist(), self.values.tolist(), self.lengths.tolist(), strict=True
        ):
            yield {words[name]: value for name, value in zip(names[:length], values, strict=False)}

    def as_batch(self, words: tuple[str, ...]) -> EventBatch:
        """Return the events as a batch, with a column for each name that occurs.

        Raises:
            InputError: The slots would not fit into memory.
        """
        there = np.arange(self.names.shape[1]) < self.lengths[:, None]
        occurring, column = np.unique(self.names[there], return_inverse=True)
        shape = len(occurring), len(self.lengths)
        check(shape[0] * shape[1] <= _MOST_SLOTS, "count", "fewer; `batches` gives any number")
        values = np.zeros(shape, np.int64)
        present = np.zeros(shape, np.bool_)
        event = np.repeat(np.arange(len(self.lengths)), self.lengths)
        values[column, event] = self.values[there]
        present[column, event] = True
        return batch_of([words[name] for name in occurring.tolist()], values, present.T)
