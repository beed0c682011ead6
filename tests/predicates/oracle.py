"""The expected answers of the index, by evaluating every predicate on every event."""

from itertools import pairwise
from unittest import mock

import numpy as np

from tamis.events.batch import EventBatch
from tamis.language.evaluate import evaluate
from tamis.predicates import PredicateIndex, ladder

# With no room for tables, every ladder is a large one.
LARGE = -(10**9)


def expected(held: dict[int, object], batch: EventBatch) -> list[set[int]]:
    return [{id for id, p in held.items() if evaluate(p, row) is True} for row in batch.rows()]


def answers(index: PredicateIndex, batch: EventBatch) -> list[set[int]]:
    """Return the result of `satisfied_predicates`, after checking its form."""
    offsets, ids = index.satisfied_predicates(batch)
    assert offsets.dtype == np.int64 and ids.dtype == np.int32
    assert len(offsets) == len(batch) + 1 and offsets[0] == 0 and offsets[-1] == len(ids)
    rows = [ids[a:b].tolist() for a, b in pairwise(offsets)]
    assert all(len(row) == len(set(row)) for row in rows), "an id twice"
    return [set(row) for row in rows]


def mask_answers(index: PredicateIndex, batch: EventBatch, ids: object = None) -> list[set[int]]:
    """Return the result of `masks`, transposed."""
    masks = index.masks(batch, ids)
    names = range(index.capacity) if ids is None else ids.tolist()
    assert masks.dtype == np.uint64 and masks.shape == (len(names), (len(batch) + 63) // 64)
    bits = np.unpackbits(masks.view(np.uint8), axis=1, bitorder="little").astype(bool)
    assert not bits[:, len(batch) :].any()
    return [
        {id for id, row in zip(names, bits, strict=True) if row[event]}
        for event in range(len(batch))
    ]


def check(predicates: list[object], events: list[dict[str, object]]) -> None:
    """Check both forms of the result against the oracle, with small and large ladders."""
    batch = EventBatch.of(events)
    for room in (1024, LARGE):
        with mock.patch.object(ladder, "_MIN_TABLE_SIZE", room):
            index = PredicateIndex()
            held = {index.intern(p): p for p in predicates}
            wanted = expected(held, batch)
            assert answers(index, batch) == wanted
            assert mask_answers(index, batch) == wanted
