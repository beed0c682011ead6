"""Merging the results of several shards, without Spark."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tamis.spark.match.merge_shards import EVENT, merge_answers, number_events

PAIRS = pa.struct([("subscription", pa.string()), ("priority", pa.int64())])
SCHEMA = pa.schema(
    [
        ("kept", pa.string()),
        (EVENT, pa.int64()),
        ("subscriptions", pa.list_(PAIRS)),
        ("index_version", pa.int64()),
        ("error", pa.string()),
    ]
)


def _batch(*rows: tuple[str, int, list[tuple[str, int]] | None, str | None]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(
        [
            {
                "kept": kept,
                EVENT: event,
                "subscriptions": None
                if found is None
                else [{"subscription": id, "priority": by} for id, by in found],
                "index_version": 3,
                "error": error,
            }
            for kept, event, found, error in rows
        ],
        SCHEMA,
    )


def _lists(batches: list[pa.RecordBatch], limit: int | None) -> list[tuple[object, ...]]:
    found = merge_answers(batches, limit, "error", pa.string())
    return sorted(
        (row["kept"], row["subscriptions"], row["error"])
        for batch in found
        for row in batch.to_pylist()
    )


ANSWERS = [
    _batch(("x", 7, [("b", 1), ("c", 0)], None), ("y", 9, [("e", 2)], None), ("w", 1, [], None)),
    _batch(),
    _batch(("x", 7, [("d", 5), ("a", 1)], None), ("z", 4, [("q", 9)], None)),
    _batch(("z", 4, None, "no seven"), ("z", 4, [("p", 1)], None)),
]


@pytest.mark.parametrize("limit", [None, 4, 3, 1, 0])
def test_merged_lists_are_by_priority_and_id(limit: int | None) -> None:
    found = _lists(ANSWERS, limit)
    assert found == [
        ("w", [], None),
        ("x", ["d", "a", "b", "c"][:limit], None),
        ("y", ["e"][:limit], None),
        ("z", None, "no seven"),  # one shard could not evaluate it
    ]


def test_pairs_keep_their_priorities() -> None:
    (batch,) = merge_answers(ANSWERS[:1], 1, "error", PAIRS)
    rows = {row["kept"]: row["subscriptions"] for row in batch.to_pylist()}
    ones = {"x": ("b", 1), "y": ("e", 2)}
    expected = {kept: [{"subscription": id, "priority": by}] for kept, (id, by) in ones.items()}
    assert rows == {**expected, "w": []}
    assert batch.schema.names == ["kept", "subscriptions", "index_version", "error"]


def test_no_rows_give_no_rows() -> None:
    assert _lists([], None) == _lists([_batch()], None) == []


def test_numbers_differ_between_partitions() -> None:
    events = pa.RecordBatch.from_pydict({"a": [1, 2, 3]})
    numbers = [
        number
        for partition in (0, 1, 1 << 29)
        for batch in number_events([events, events], partition)
        for number in batch.column(EVENT).to_pylist()
    ]
    assert len(set(numbers)) == len(numbers) == 18
