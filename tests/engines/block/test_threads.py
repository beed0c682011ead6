"""One thread changes subscriptions while others match; and several share the events of a batch."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Iterator
from itertools import count as count_from
from unittest import mock

import pytest

import tamis
from tamis.engines.block.match.rank_rows import Columns, _attributes
from tamis.engines.block.terms import Terms
from tamis.language import parse
from tamis.language.expr import Attribute, Negate, ValueExpr
from tamis.predicates.term_values import Sheet
from tests.engines.block.oracle_comparison import engine_of, filled
from tests.engines.block.random_cases import FUNCTIONS, drawn_events, drawn_selectors
from tests.engines.block.ways import forced
from tests.soak import count

# Touched by nobody: "k0", "k1" …; each with a text predicate, so that the index is shared.
STEADY = {f"k{i}": f"a = {i} OR b LIKE '%{i}' OR a + 1 = {i + 101}" for i in range(10)}


@pytest.fixture
def switching_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(before)


def test_matching_is_consistent_while_subscriptions_change(switching_often: None) -> None:
    """Subscriptions present before and after a call are found; those absent are not."""
    with forced("planned", _SEALED=40, _IDLE=8, _QUIET=2000):
        matcher = tamis.Matcher(engine="block")
        for id, text in STEADY.items():
            matcher.add(id, text)
        history: dict[str, list[float]] = {}  # added, and removed, at these moments
        errors: list[BaseException] = []
        done = threading.Event()
        threads = [
            threading.Thread(target=_guarded, args=(errors, done, _change, matcher, history)),
            *(
                threading.Thread(target=_guarded, args=(errors, done, _look, matcher, history, n))
                for n in range(2)
            ),
        ]
        for thread in threads:
            thread.start()
        done.wait(count(2, 8))
        done.set()
        for thread in threads:
            thread.join()
        engine_of(matcher).settle()
    if errors:
        raise errors[0]
    assert len(history) > 100


def _guarded(errors, done, work, *arguments) -> None:
    try:
        while not done.is_set():
            work(*arguments)
    except BaseException as error:
        errors.append(error)
        done.set()


def _change(matcher: tamis.Matcher, history: dict[str, list[float]]) -> None:
    """Add a subscription with terms and predicates of its own, and remove an old one."""
    id = f"new{len(history)}"
    number = len(history)
    forms = [
        f"a >= 0 AND x{number % 90} IS NULL",
        f"b RLIKE '{number % 50}$' OR a > -1",
        "b <> ''",
        f"a * {number % 70} >= 0",
        f"a = {number % 12} OR b LIKE '%' OR c{number} = 1",
    ]
    matcher.add(id, forms[number % len(forms)])
    history[id] = [time.perf_counter()]
    old = f"new{number - 60 - number % 7}"
    if len(history.get(old, [])) == 1:
        history[old].append(time.perf_counter())
        matcher.remove(old)
        history[old].append(time.perf_counter())


def _look(matcher: tamis.Matcher, history: dict[str, list[float]], seed: int) -> None:
    draw = random.Random(seed + time.perf_counter_ns())
    size = draw.choice([1, 3, 70, 600])
    events = [{"a": draw.randrange(12), "b": f"t{draw.randrange(12)}"} for _ in range(size)]
    before = {id: list(times) for id, times in history.copy().items()}
    begin = time.perf_counter()
    found = matcher.match_batch(events).per_event()
    known = {id: list(times) for id, times in history.copy().items()}
    for event, ids in zip(events, found, strict=True):
        assert len(ids) == len(set(ids))
        steady = {f"k{event['a']}", f"k{event['b'][1:]}"} & set(STEADY)
        steady |= {id for id in STEADY if event["b"].endswith(id[1:])}
        assert {id for id in ids if id in STEADY} == steady
        for id, times in before.items():  # of those that were added by then
            if len(known[id]) == 1:
                assert id in ids
            elif len(times) == 3 and times[2] < begin:
                assert id not in ids


def test_terms_added_while_events_are_read_are_ignored() -> None:
    """Another thread may add terms at any time; this batch does not need them."""
    terms = Terms()
    for text in ("a + 1 > 2", "b + 1 > 2"):
        terms.slot(parse(text).left)
        terms.slot(parse(text).left.left)
    batch = tamis.EventBatch.of([{"a": 1, "b": 2, "c": 3}])
    cells = Sheet.cells
    slots = count_from(10)

    def meanwhile(sheet: Sheet, term: ValueExpr) -> object:
        terms.slot(Negate(Attribute((f"new{next(slots)}",))))
        return cells(sheet, term)

    with mock.patch.object(Sheet, "cells", meanwhile):
        assert Columns(batch, terms).cells == 4
    read = []
    for slot, *_ in _attributes(batch, terms):
        read.append(slot)
        terms.slot_of_path((f"new{next(slots)}",))
    assert len(read) == 2


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_share_a_batch(threads: int) -> None:
    draw = random.Random(threads)
    selectors = drawn_selectors(draw, 80)
    alone = filled(tamis.Matcher(engine="block", functions=FUNCTIONS), selectors)
    shared = filled(tamis.Matcher(engine="block", functions=FUNCTIONS, threads=threads), selectors)
    events = tamis.EventBatch.of(drawn_events(draw, 4200, 0.7))
    for size in [0, 1, 2049, 4097]:
        batch = events.slice(0, size)
        assert shared.match_batch(batch) == alone.match_batch(batch)
    for way in ("blocks", "covers"):
        with forced(way):
            again = filled(
                tamis.Matcher(engine="block", functions=FUNCTIONS, threads=threads), selectors
            )
            assert again.match_batch(events) == alone.match_batch(events)
