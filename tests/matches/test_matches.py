"""The order of matches against a plain sort of tuples."""

import pickle
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.matches import Id, Matches, matches, pairs
from tamis.values import INT_MAX, INT_MIN

INTS = st.integers(-3, 3) | st.integers(INT_MIN, INT_MAX) | st.sampled_from([INT_MIN, INT_MAX])
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=3)


@dataclass
class Found:
    """The matches of an engine."""

    events: int
    pairs: list[tuple[int, int]]
    ids: list[Id]
    priorities: list[int]
    kind: pa.DataType

    def matches(self) -> Matches:
        event, code = np.array(self.pairs, np.int64).reshape(-1, 2).T
        ids = pa.array(self.ids, self.kind)
        return Matches(self.events, event, code, ids, np.array(self.priorities, np.int64))

    def rows(self) -> list[tuple[int, Id, int]]:
        rows = [(event, self.ids[code], self.priorities[code]) for event, code in self.pairs]
        return sorted(rows, key=lambda row: (row[0], -row[2], row[1]))


@st.composite
def found(draw) -> Found:
    values, kind = draw(st.sampled_from([(INTS, pa.int64()), (TEXTS, pa.string())]))
    ids = draw(st.lists(values, unique=True, max_size=12))
    if draw(st.booleans()):
        ids.sort()
    some = st.just([0] * len(ids)) | st.lists(INTS, min_size=len(ids), max_size=len(ids))
    priorities = draw(some)
    events = draw(st.integers(0, 8))
    every = [(event, code) for event in range(events) for code in range(len(ids))]
    pairs = draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    parts = draw(st.integers(0, 2))  # 0 leaves them as they are, 1 groups them by event
    pairs.sort(key=lambda pair: pair[:parts])
    return Found(events, pairs, ids, priorities, kind)


@pytest.fixture(params=["few", "many"], scope="module", autouse=True)
def _ways(request):
    """Run as it is, and with the code path for many pairs, in small slices."""
    if request.param == "few":
        yield
    else:
        with mock.patch.multiple(pairs, _FEW=0, _SLICE=5):
            yield


def never_ordered():
    """Fail if anything is sorted."""
    fails = mock.Mock(side_effect=AssertionError)
    return mock.patch.multiple(matches, sort_pairs=fails, best_of_both=fails)


def check(made: Matches, events: int, rows: list[tuple[int, Id, int]]) -> None:
    ids = [[row[1] for row in rows if row[0] == event] for event in range(events)]
    assert len(made) == len(rows) and made.events == events
    assert made.event_counts().tolist() == [len(some) for some in ids]
    assert made.counts() == Counter(row[1] for row in rows)
    assert made.per_event() == ids
    assert [made.of_event(event) for event in range(events)] == ids
    assert list(made) == [row[:2] for row in rows]
    assert made.event.tolist() == [row[0] for row in rows]
    assert made.subscription.tolist() == [row[1] for row in rows]
    assert made.priority.tolist() == [row[2] for row in rows]
    table = made.to_arrow()
    assert list(zip(*table.to_pydict().values(), strict=True)) == rows
    assert table.schema.names == ["event", "subscription", "priority"]


@given(found(), st.randoms(use_true_random=False))
def test_the_order_is_by_event_priority_and_id(found: Found, random) -> None:
    made, rows = found.matches(), found.rows()
    check(made, found.events, rows)
    random.shuffle(found.pairs)
    again = found.matches()
    assert again == made and pickle.loads(pickle.dumps(again)) == made
    if rows:
        found.pairs.pop()
        assert found.matches() != made


@given(found(), st.integers(-1, 12) | st.just(10**30))
def test_limited_keeps_the_first_of_each_event(found: Found, limit: int) -> None:
    rows = [
        row
        for _, some in groupby(found.rows(), lambda row: row[0])
        for row in list(some)[: max(limit, 0)]
    ]
    made = found.matches()
    check(made.limited(limit), found.events, rows)
    check(made, found.events, found.rows())


@given(found())
def test_counting_needs_no_order(found: Found) -> None:
    made = found.matches()
    with never_ordered():
        len(made), repr(made), made.counts(), made.event_counts(), made.limited(12)


@given(found())
def test_matches_are_sorted_once(found: Found) -> None:
    made = found.matches()
    first = made.event
    with never_ordered():
        check(made, found.events, found.rows())
        made.limited(1).per_event()
    assert made.event is first


@given(found())
def test_ids_that_nothing_matched_may_be_null(found: Found) -> None:
    rows = found.rows()
    matched = {code for _, code in found.pairs}
    found.ids = [id if code in matched else None for code, id in enumerate(found.ids)]
    check(found.matches(), found.events, rows)


@pytest.mark.parametrize("spread", [1, 2**17, 2**52])
@pytest.mark.parametrize("by", ["event", "subscription", "nothing"])
@pytest.mark.parametrize("kind", [pa.int64(), pa.string()])
@pytest.mark.parametrize("priorities", [1, 3])
def test_many_pairs_are_sorted_in_slices(
    spread: int, by: str, kind: pa.DataType, priorities: int
) -> None:
    """There is more than a slice of pairs; events far apart need long keys."""
    rng = np.random.default_rng(7)
    event, code = np.divmod(rng.choice(400 * 700, 20_000, replace=False), 700)
    if by != "nothing":
        order = np.lexsort((code, event) if by == "event" else (event, code))
        event, code = event[order], code[order]
    event *= spread
    ids = pa.array(np.arange(700)).cast(kind)
    priority = rng.integers(0, priorities, 700)
    made = Matches(400 * spread, event, code, ids, priority)
    names = ids.to_pylist()
    rows = sorted((e, -priority[c], names[c]) for e, c in zip(event, code, strict=True))
    assert made.event.tolist() == [row[0] for row in rows]
    assert made.priority.tolist() == [-row[1] for row in rows]
    assert made.subscription.tolist() == [row[2] for row in rows]
