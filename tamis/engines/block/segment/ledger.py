"""The ids, texts and priorities of the subscriptions of a segment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tamis.engines.block.layout.axes import pack_texts, take_texts
from tamis.kernels.block.words import Bytes, Longs
from tamis.matches import Id


@dataclass(frozen=True)
class Ledger:
    """Subscriptions by record.

    Attributes:
        numbers: The ids, if they are integers; else empty.
        id_bounds, ids: The ids, if they are texts; else empty.
        text_bounds, texts: The selectors as they were written.
        priorities: The priorities; empty if all are 0.
        tags: The hashes of the ids; see `tag_of`.
    """

    numbers: Longs
    id_bounds: np.ndarray
    ids: Bytes
    text_bounds: np.ndarray
    texts: Bytes
    priorities: Longs
    tags: np.ndarray

    @classmethod
    def of(
        cls, ids: Sequence[Id], texts: Sequence[str], priorities: Sequence[int], tags: Sequence[int]
    ) -> Ledger:
        """Create a ledger of subscriptions, in the order given."""
        numeric = bool(ids) and isinstance(ids[0], int)
        id_bounds, id_data = pack_texts([] if numeric else [id.encode() for id in ids])  # type: ignore[union-attr]
        text_bounds, text_data = pack_texts([text.encode() for text in texts])
        priority = np.array(priorities, np.int64)
        return cls(
            np.array(ids if numeric else [], np.int64),
            _compact_bounds(id_bounds),
            id_data,
            _compact_bounds(text_bounds),
            text_data,
            priority if priority.any() else priority[:0],
            np.array(tags, np.uint32),
        )

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.tags)

    def id(self, record: int) -> Id:
        """Return the id of a record."""
        if len(self.numbers):
            return int(self.numbers[record])
        low, high = self.id_bounds[record], self.id_bounds[record + 1]
        return self.ids[low:high].tobytes().decode()

    def is_id(self, record: int, id: Id) -> bool:
        """Return whether a record has this id."""
        if len(self.numbers):
            return bool(self.numbers[record] == id)
        if isinstance(id, int):
            return False
        low, high = self.id_bounds[record], self.id_bounds[record + 1]
        return self.ids[low:high].tobytes() == id.encode()

    def few_ids(self, records: Longs) -> list[Id]:
        """Return the ids of a few records."""
        if len(self.numbers):
            numbers: list[Id] = self.numbers[records].tolist()
            return numbers
        data = self.ids.data
        bounds = zip(
            self.id_bounds[records].tolist(), self.id_bounds[records + 1].tolist(), strict=True
        )
        return [str(data[low:high], "utf-8") for low, high in bounds]

    def text(self, record: int) -> str:
        """Return the selector of a record as it was written."""
        low, high = self.text_bounds[record], self.text_bounds[record + 1]
        return self.texts[low:high].tobytes().decode()

    def priority(self, record: int) -> int:
        """Return the priority of a record."""
        return int(self.priorities[record]) if len(self.priorities) else 0

    def ids_of(self, records: Longs) -> pa.Array:
        """Return the ids of some records."""
        if len(self.numbers):
            return pa.array(self.numbers[records])
        if len(records) > len(self) // 4:
            bounds = self.id_bounds
            kind = pa.string() if bounds.dtype == np.int32 else pa.large_string()
            buffers = [None, pa.py_buffer(bounds), pa.py_buffer(self.ids)]
            every = pa.Array.from_buffers(kind, len(self), buffers).cast(pa.string())
            return every if len(records) == len(self) else every.take(pa.array(records))
        bounds, data = take_texts(self.id_bounds.astype(np.int64, copy=False), self.ids, records)
        buffers = [None, pa.py_buffer(bounds.astype(np.int32)), pa.py_buffer(data)]
        return pa.Array.from_buffers(pa.string(), len(records), buffers)

    def priorities_of(self, records: Longs) -> Longs:
        """Return the priorities of some records."""
        if not len(self.priorities):
            return np.zeros(len(records), np.int64)
        return self.priorities[records]

    def select(self, records: Longs) -> Ledger:
        """Return a ledger of some records, in the order given."""
        id_bounds, ids = self.id_bounds, self.ids
        if not len(self.numbers):
            id_bounds, ids = take_texts(id_bounds.astype(np.int64), ids, records)
        text_bounds, texts = take_texts(self.text_bounds.astype(np.int64), self.texts, records)
        return Ledger(
            self.numbers[records] if len(self.numbers) else self.numbers,
            _compact_bounds(id_bounds),
            ids,
            _compact_bounds(text_bounds),
            texts,
            self.priorities[records] if len(self.priorities) else self.priorities,
            self.tags[records],
        )

    def concat(self, other: Ledger) -> Ledger:
        """Return a ledger of the records of both, one after the other."""
        return Ledger(
            np.concatenate([self.numbers, other.numbers]),
            _concat_bounds(self.id_bounds, other.id_bounds),
            np.concatenate([self.ids, other.ids]),
            _concat_bounds(self.text_bounds, other.text_bounds),
            np.concatenate([self.texts, other.texts]),
            np.concatenate([self._all_priorities(), other._all_priorities()])
            if len(self.priorities) or len(other.priorities)
            else self.priorities,
            np.concatenate([self.tags, other.tags]),
        )

    def _all_priorities(self) -> Longs:
        return self.priorities if len(self.priorities) else np.zeros(len(self), np.int64)


def _compact_bounds(bounds: np.ndarray) -> np.ndarray:
    return bounds.astype(np.int32) if bounds[-1] < 2**31 else bounds


def _concat_bounds(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    last = int(left[-1])
    joined = np.empty(len(left) + len(right) - 1, np.int64)
    joined[: len(left)] = left
    joined[len(left) :] = right[1:]
    joined[len(left) :] += last
    return _compact_bounds(joined)
