"""Ids, texts and priorities by record, and records by id, against lists and dicts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.engines.block import stack
from tamis.engines.block.draft import head
from tamis.engines.block.id_table import IdTable, tag_of
from tamis.engines.block.segment.ledger import Ledger

rows = st.one_of(
    *(
        st.lists(
            st.tuples(ids, st.text(max_size=4), st.sampled_from([0, 0, 0, 5, -(2**63), 2**63 - 1])),
            max_size=8,
        )
        for ids in (st.text(min_size=1, max_size=3), st.integers(-(2**63), 2**63 - 1))
    )
)


def ledger_of(held: list[tuple]) -> Ledger:
    ids = [id for id, _, _ in held]
    return Ledger.of(ids, [t for _, t, _ in held], [p for *_, p in held], list(map(tag_of, ids)))


def check(ledger: Ledger, held: list[tuple]) -> None:
    assert len(ledger) == len(held)
    every = range(len(held))
    assert [(ledger.id(r), ledger.text(r), ledger.priority(r)) for r in every] == held
    assert ledger.tags.tolist() == [tag_of(id) for id, _, _ in held]
    for records in (list(every), list(every)[::-1][:1], list(every)[1:2]):
        chosen = np.array(records, np.int64)
        assert ledger.ids_of(chosen).to_pylist() == [held[r][0] for r in records]
        assert ledger.priorities_of(chosen).tolist() == [held[r][2] for r in records]


@given(left=rows, right=rows, draw=st.randoms(use_true_random=False))
def test_select_and_concat_keep_the_records(left, right, draw) -> None:
    if left and right and type(left[0][0]) is not type(right[0][0]):
        left = []  # all ids of a matcher are of one type, unless all earlier ones were removed
    first, second = ledger_of(left), ledger_of(right)
    check(first, left)
    check(first.concat(second), left + right)
    records = draw.sample(range(len(left)), draw.randint(0, len(left)))
    kept = [left[r] for r in records]
    check(first.select(np.array(records, np.int64)), kept)
    check(first.select(np.array(records, np.int64)).concat(second), kept + right)


def test_an_empty_ledger_can_be_followed_by_ids_of_the_other_type() -> None:
    numbers, names = [(1, "a", 0), (2, "b", 3)], [("x", "c", 0), ("y", "d", 4)]
    none = np.zeros(0, np.int64)
    check(ledger_of(numbers).select(none).concat(ledger_of(names)), names)
    check(ledger_of(names).select(none).concat(ledger_of(numbers)), numbers)


@given(
    st.lists(
        st.tuples(st.sampled_from(["put", "drop", "move"]), st.integers(0, 3), st.integers(0, 99)),
        max_size=60,
    ),
    st.sampled_from([2, 1024]),
)
def test_the_id_table_finds_codes_by_tag(steps, size) -> None:
    """The table is small enough to grow, and tags collide."""
    table, model, code = IdTable(), {}, 0
    table._slots = np.zeros(size, np.uint64)
    for kind, tag, which in steps:
        codes = model.setdefault(tag, [])
        if kind == "put":
            table.put(np.array([tag, tag]), np.array([code, code + 1]))
            codes += [code, code + 1]
            code += 2
        elif codes and kind == "drop":
            gone = codes.pop(which % len(codes))
            (at,) = [at for at, held in candidates(table, tag) if held == gone]
            table.drop(at)
        elif codes:
            table.move(np.array([tag]), np.array([codes[0]]), np.array([code]))
            codes[0] = code
            code += 1
        for other in range(4):
            found = [held for _, held in candidates(table, other)]
            assert sorted(found) == sorted(model.get(other, []))
    table.clear()
    assert not any(candidates(table, tag) for tag in range(4))


def candidates(table: IdTable, tag: int) -> list[tuple[int, int]]:
    """Return the slots and codes of a tag."""
    found = []
    at, code = table.next(tag)
    while at >= 0:
        found.append((at, code))
        at, code = table.next(tag, at)
    return found


def test_ids_that_share_a_tag_are_distinguished(monkeypatch: pytest.MonkeyPatch) -> None:
    for part in (head, stack):
        monkeypatch.setattr(part, "tag_of", lambda id: len(str(id)) & 1)
    monkeypatch.setattr(head, "_SEALED", 8)
    matcher = tamis.Matcher(engine="block")
    for i in range(60):
        matcher.add(f"s{i}", f"a = {i}", i % 5)
    for i in range(0, 60, 3):
        matcher.remove(f"s{i}")
    matcher._engine.settle()  # type: ignore[attr-defined]
    for i in range(60):
        assert matcher.match({"a": i}) == ([] if i % 3 == 0 else [f"s{i}"])
        assert (f"s{i}" in matcher._engine) == (i % 3 != 0)  # type: ignore[operator]
    for i in range(0, 60, 3):
        matcher.add(f"s{i}", f"b = {i}")
    for i in range(60):
        matcher.remove(f"s{i}")
    assert len(matcher._engine) == 0  # type: ignore[arg-type]
