"""Sequences over every engine and under every semantics, against the enumeration."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis.errors import UnsupportedExpression
from tests.engines.variants import WHOLE
from tests.engines.variants import matcher as new_matcher
from tests.sequences.arrivals import expected
from tests.strategies import bool_exprs, events

engines = pytest.mark.parametrize("engine", WHOLE)

STEPS = ("a", "b", "c", "a AND NOT b", "c IS NULL", "a OR c")


@st.composite
def streams(draw: st.DrawFn):
    """Draw sequences of a few small steps, events with keys and times, and batches."""
    texts = draw(st.lists(_texts(), min_size=1, max_size=4))
    count = draw(st.integers(0, 9))
    stream, time = [], 0
    for _ in range(count):
        time += draw(st.sampled_from([0, 0, 1, 3, 6, 15, -1, -4]))
        event: dict[str, object] = {
            name: True for name in draw(st.sets(st.sampled_from("abc"), max_size=3))
        }
        event["k"] = draw(st.sampled_from([1, 1.0, 2, "1", True, None, [1]]))
        event["t"] = draw(st.sampled_from([time] * 9 + [None]))
        stream.append(event)
    cuts = sorted(draw(st.sets(st.integers(0, count), max_size=3)) | {0, count})
    return texts, stream, cuts


@st.composite
def _texts(draw: st.DrawFn) -> str:
    text = "FIRST " + " THEN ".join(draw(st.lists(st.sampled_from(STEPS), min_size=2, max_size=3)))
    within = draw(st.sampled_from(["", " WITHIN 5 SECONDS", " WITHIN 15 SECONDS"]))
    return text + within + draw(st.sampled_from(["", " PER k"]))


def micros(event: dict[str, object]) -> int | None:
    time = event["t"]
    return None if time is None else time * 1_000_000  # type: ignore[operator]


@engines
@settings(max_examples=60)
@given(streams())
def test_every_engine_equals_the_oracle(engine: str, drawn) -> None:
    texts, stream, cuts = drawn
    matcher = new_matcher(engine, time="t")
    matcher.add("simple", "a OR b OR c", priority=1)
    for number, text in enumerate(texts):
        matcher.add(f"q{number}", text)
    found: dict[str, list[int]] = {f"q{number}": [] for number in range(len(texts))}
    arrived: list[int] = []
    for low, high in pairwise(cuts):
        answer = matcher.match_batch(stream[low:high])
        for i, id in answer:
            if id != "simple":
                found[id].append(low + i)
        assert [i for i, id in answer if id == "simple"] == [
            i for i, event in enumerate(stream[low:high]) if event.keys() & set("abc")
        ]
        timed = [i for i in range(low, high) if stream[i]["t"] is not None]
        arrived += sorted(timed, key=lambda i: stream[i]["t"])
    times = [micros(stream[i]) for i in arrived]
    for number, text in enumerate(texts):
        meant = expected(text, [stream[i] for i in arrived], times)
        assert found[f"q{number}"] == sorted(arrived[i] for i in meant), text


@engines
@settings(max_examples=40)
@given(streams())
def test_single_events_by_arrival_equal_the_oracle(engine: str, drawn) -> None:
    """Without a time attribute the clock counts, and no event is late."""
    texts, stream, _ = drawn
    now = iter(range(0, 1000, 4))
    clock = [0.0]
    matcher = new_matcher(engine, time=lambda: clock[0])
    for number, text in enumerate(texts):
        matcher.add(number, text)
    found: list[list[object]] = []
    times = []
    for event in stream:
        clock[0] = float(next(now))
        times.append(int(clock[0]) * 1_000_000)
        found.append(matcher.match(event))
    for number, text in enumerate(texts):
        meant = expected(text, stream, times)
        assert [i for i, ids in enumerate(found) if number in ids] == meant


@engines
@pytest.mark.parametrize("semantics", ["sql", "strict"])
@settings(max_examples=40)
@given(
    steps=st.lists(bool_exprs(2), min_size=2, max_size=3),
    batch=st.lists(events(), min_size=2, max_size=6),
)
def test_any_selector_can_be_a_step(
    engine: str, semantics: str, steps: list[object], batch: list
) -> None:
    """A step is satisfied exactly when it would match as a subscription of its own."""
    matcher = new_matcher(engine, semantics=semantics)
    try:
        matcher.add("all", "FIRST (" + ") THEN (".join(map(str, steps)) + ")")
        for number, step in enumerate(steps):
            matcher.add(f"s{number}", str(step))
    except UnsupportedExpression:
        return
    answer = matcher.match_batch(batch).per_event()
    flags = [{f"s{n}": f"s{n}" in ids for n in range(len(steps))} for ids in answer]
    meant = expected(
        "FIRST " + " THEN ".join(f"s{n}" for n in range(len(steps))), flags, [0] * len(batch)
    )
    assert [i for i, ids in enumerate(answer) if "all" in ids] == meant


@engines
def test_strict_requires_what_each_step_names(engine: str) -> None:
    matcher = new_matcher(engine, semantics="strict")
    matcher.add("s", "FIRST a OR b THEN c PER k")
    assert matcher.match({"a": True, "k": 1}) == []  # no b: not the first step
    assert matcher.match({"c": True, "k": 1}) == []
    assert matcher.match({"a": True, "b": False, "k": 1}) == []
    assert matcher.match({"c": True, "k": 1}) == ["s"]  # which names neither a nor b


@engines
def test_defaults_count_as_values(engine: str) -> None:
    schema = {"a": ("BOOL", False), "b": ("BOOL", True), "k": ("STR", "none"), "t": ("INT", None)}
    matcher = new_matcher(engine, schema=schema, semantics="default", time="t")
    matcher.add("s", "FIRST a THEN b PER k")
    assert matcher.match({"a": True, "t": 1}) == []
    assert matcher.match({"k": "none", "t": 2}) == ["s"]
    assert matcher.match({"k": "other", "t": 3}) == []


@engines
def test_an_event_refused_by_total_changes_nothing(engine: str) -> None:
    schema = {"a": "BOOL", "b": "BOOL"}
    matcher = new_matcher(engine, schema=schema, semantics="total")
    matcher.add("s", "FIRST a THEN b")
    with pytest.raises(tamis.errors.EventError):
        matcher.match_batch([{"a": True, "b": True}, {"a": True}])
    assert matcher.match({"a": False, "b": True}) == []


def test_a_step_that_is_refused_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.engines.atree.planner.MAX_COUNTED", 3)
    matcher = new_matcher("atree")
    matcher.add("old", "FIRST a THEN b")
    with pytest.raises(UnsupportedExpression):
        matcher.add("new", "FIRST a THEN c THEN AT LEAST 2 OF (d, e, f, g)")
    assert list(matcher) == ["old"] and matcher.stats()["sequence_steps"] == 2
    matcher.remove("old")
    matcher.add("new", "FIRST a THEN c")
    assert matcher.stats()["sequence_steps"] == 2
