"""Matches given as masks against the same matches given as pairs."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from random import Random
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from tamis.errors import InputError
from tamis.matches import Id, Matches, Tiles, best, ids_array, pairs
from tests.matches.test_matches import INTS, TEXTS, check

# Seeded, not `st.randoms()`: large results would exceed the entropy of Hypothesis, which then draws
# small ones only.
RANDOMS = st.integers(0, 2**32).map(Random)

Pair = tuple[int, int]
Row = tuple[int, Id, int]


@dataclass
class Answer:
    """The matches of an engine, as pairs, masks, or both."""

    events: int
    pairs: list[Pair]
    ids: list[Id]
    priorities: list[int]

    def as_pairs(self) -> Matches:
        return self._made(self.pairs, None)

    def mixed(self, words: int, aligned: bool, share: float, random: Random) -> Matches:
        """Return a share of the pairs as masks of this many words, in blocks or not, unsorted."""
        bare, masks = [], {}
        for event, code in self.pairs:
            if random.random() >= share:
                bare.append((event, code))
                continue
            word = event // 64
            first = word - (word % words if aligned else random.randrange(min(word + 1, words)))
            mask = masks.setdefault((first, code), [0] * words)
            mask[word - first] |= 1 << event % 64
        if self.events and self.ids and random.random() < 0.5:  # a row may be empty
            masks.setdefault((0, 0), [0] * words)
        rows = list(masks.items())
        random.shuffle(rows)
        random.shuffle(bare)
        first, code = np.array([at for at, _ in rows], np.int64).reshape(-1, 2).T
        bits = np.array([mask for _, mask in rows], np.uint64).reshape(-1, words)
        return self._made(bare, Tiles(first * 64, code, bits))

    def rows(self) -> list[Row]:
        rows = [(event, self.ids[code], self.priorities[code]) for event, code in self.pairs]
        return sorted(rows, key=lambda row: (row[0], -row[2], row[1]))

    def _made(self, some: list[Pair], tiles: Tiles | None) -> Matches:
        event, code = np.array(some, np.int64).reshape(-1, 2).T
        priorities = np.array(self.priorities, np.int64)
        return Matches(self.events, event, code, ids_array(self.ids), priorities, tiles)


@st.composite
def answers(draw) -> Answer:
    ids = draw(st.lists(draw(st.sampled_from([INTS, TEXTS])), unique=True, max_size=9))
    some = st.just([0] * len(ids)) | st.lists(INTS, min_size=len(ids), max_size=len(ids))
    priorities = draw(some)
    # Four words and more, so that blocks of two or three may overlap.
    events = draw(st.sampled_from([0, 1, 5, 63, 64, 65, 200, 300]))
    density = draw(st.sampled_from([0.02, 0.4, 1.0]))
    random = draw(RANDOMS)
    every = [(event, code) for event in range(events) for code in range(len(ids))]
    return Answer(events, [p for p in every if random.random() < density], ids, priorities)


FORMS = st.tuples(
    st.integers(1, 3),
    st.booleans(),
    st.sampled_from([0.0, 0.5, 1.0]),
    RANDOMS,
)


@pytest.fixture(params=["few", "many"], scope="module", autouse=True)
def _ways(request):
    """Run as it is, and with the code paths for many pairs."""
    if request.param == "few":
        yield
    else:
        with mock.patch.object(pairs, "_FEW", 0):
            yield


def cut(rows: list[Row], limit: int) -> list[Row]:
    kept: dict[int, list[Row]] = {}
    for row in rows:
        kept.setdefault(row[0], []).append(row)
    return [row for some in kept.values() for row in some[: max(limit, 0)]]


@given(answers(), FORMS)
def test_tiles_answer_like_pairs(answer: Answer, form) -> None:
    made = answer.mixed(*form)
    check(made, answer.events, answer.rows())  # counts come before sorting
    made = answer.mixed(*form)
    assert [made.of_event(event) for event in range(answer.events)] == made.per_event()
    again = pickle.loads(pickle.dumps(answer.mixed(*form)))
    assert again == made == answer.as_pairs()
    assert repr(again) == repr(made)


@given(answers(), FORMS)
def test_a_missing_pair_is_unequal(answer: Answer, form) -> None:
    whole = answer.as_pairs()
    if answer.pairs:
        answer.pairs.pop()
        assert answer.mixed(*form) != whole


@given(answers(), FORMS, st.booleans())
def test_every_limit_keeps_the_best(answer: Answer, form, ordered: bool) -> None:
    rows = answer.rows()
    made = answer.mixed(*form)
    if ordered:
        assert len(made.event) == len(rows)
    for limit in [*range(-1, len(answer.ids) + 2), 10**30]:
        check(made.limited(limit), answer.events, cut(rows, limit))
    check(made, answer.events, rows)


def test_overlapping_rows_are_merged_by_rank() -> None:
    """The better subscription is in a row of the next block, which starts later."""
    none, masks = np.zeros(0, np.int64), np.array([[0, 4], [4, 0]], np.uint64)
    tiles = Tiles(np.array([64, 128]), np.array([0, 1]), masks)
    made = Matches(200, none, none, pa.array(["a", "b"]), np.array([0, 5]), tiles)
    assert made.limited(1).per_event()[130] == ["b"]
    assert made.per_event()[130] == ["b", "a"]


@given(answers(), FORMS)
def test_bitmaps_hold_the_events(answer: Answer, form) -> None:
    expected: dict[Id, BitMap] = {}
    for event, code in answer.pairs:
        expected.setdefault(answer.ids[code], BitMap()).add(event)
    made = answer.mixed(*form)
    assert made.bitmaps() == expected
    made.per_event()
    assert made.bitmaps() == expected


@given(answers(), FORMS)
def test_counts_and_bitmaps_create_no_pairs(answer: Answer, form) -> None:
    made = answer.mixed(*form)
    with mock.patch.object(made, "_ordered_pairs", side_effect=AssertionError):
        len(made), repr(made), made.counts(), made.event_counts(), made.limited(2), made.bitmaps()
    if len(made._found.tiles.code):
        with mock.patch.object(best, "_best_of_tiles", side_effect=AssertionError):
            for event in range(answer.events):
                made.of_event(event)


@pytest.mark.parametrize("size", [1, 4096, 4097, 65536])
@pytest.mark.parametrize("key", [0, 2])
@pytest.mark.parametrize("tiled", [True, False])
def test_bitmaps_span_containers(size: int, key: int, tiled: bool) -> None:
    """Containers are lists up to 4,096 events, and bits above; another subscription differs."""
    events, words = 5 * 65536 - 100, 24  # so that rows cross the bounds of containers
    rng = np.random.default_rng(size)
    matched = np.zeros((2, -(-events // (64 * words)) * 64 * words), np.bool_)
    matched[0, key * 65536 + rng.permutation(65536)[:size]] = True
    matched[1, [0, 65535, 65536, events - 1]] = True
    code, event = np.nonzero(matched)
    none = np.zeros(0, np.int64)
    masks = np.packbits(matched, axis=1, bitorder="little").view(np.uint64).reshape(-1, words)
    rows = np.arange(len(masks))
    per_code = len(rows) // 2
    tiles = Tiles(rows % per_code * 64 * words, rows // per_code, masks)
    found = (none, none) if tiled else (event, code)
    made = Matches(events, *found, pa.array(["a", "b"]), none, tiles if tiled else None).bitmaps()
    expected = {"a": BitMap(event[code == 0].tolist()), "b": BitMap(event[code == 1].tolist())}
    assert made == expected
    if size < 65536:  # pyroaring makes a run of numbers
        assert all(made[id].serialize() == expected[id].serialize() for id in made)


def test_bitmaps_are_written_in_several_passes() -> None:
    """The bitmaps take some megabytes."""
    count, events = 500, 65536
    rng = np.random.default_rng(0)
    masks = rng.integers(0, 2**63, (count, 1024), np.uint64)
    none, codes = np.zeros(0, np.int64), np.arange(count)
    tiles = Tiles(np.zeros(count, np.int64), codes, masks)
    made = Matches(events, none, none, pa.array(codes), codes, tiles).bitmaps()
    for code in (0, 127, 128, 250, 499):
        bits = np.unpackbits(masks[code].view(np.uint8), bitorder="little")
        assert list(made[code]) == np.flatnonzero(bits).tolist()


def test_too_many_events_for_bitmaps_are_refused() -> None:
    one = np.zeros(1, np.int64)
    with pytest.raises(InputError, match="holds at most"):
        Matches(2**32 + 1, one, one, pa.array([1]), one).bitmaps()


@pytest.mark.parametrize("limit", [1, 3, 10, 100])
@pytest.mark.parametrize("shuffled", [True, False])
def test_a_limit_on_many_pairs_keeps_the_best(limit: int, shuffled: bool) -> None:
    """The heaps hold more than a few matches."""
    rng = np.random.default_rng(limit)
    event, code = np.nonzero(rng.random((60, 500)) < 0.5)
    if shuffled:
        order = rng.permutation(len(event))
        event, code = event[order], code[order]
    ids, priorities = pa.array(rng.permutation(500)), rng.integers(-2, 3, 500)
    made = Matches(60, event, code, ids, priorities)
    expected = [some[:limit] for some in Matches(60, event, code, ids, priorities).per_event()]
    with mock.patch.object(best, "sort_pairs", side_effect=AssertionError):
        assert made.limited(limit).per_event() == expected


def test_ids_become_a_typed_column() -> None:
    assert ids_array([]).type == pa.string()
    assert ids_array(["a", None]) == pa.array(["a", None])
    assert ids_array([None, -(2**63)]) == pa.array([None, -(2**63)], pa.int64())
