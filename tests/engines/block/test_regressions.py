"""Cases that once failed, or nearly did."""

from __future__ import annotations

import pytest

import tamis
from tamis.engines.block.draft import draft
from tamis.engines.block.terms import Terms
from tamis.engines.subscription import Subscription
from tamis.errors import FunctionError
from tests.engines.block.oracle_comparison import engine_of
from tests.engines.block.ways import forced, segments, taken


def matcher_of(**options: object) -> tamis.Matcher:
    return tamis.Matcher(engine="block", **options)


def test_ids_may_be_of_the_other_type_once_all_are_removed() -> None:
    matcher = matcher_of()
    matcher.add(1, "a = 1")
    matcher.remove(1)
    matcher.add("one", "a = 1")
    assert matcher.match({"a": 1}) == ["one"]
    matcher.remove("one")
    matcher.add(2, "a = 1")
    assert matcher.match({"a": 1}) == [2]


def whole(value: object) -> object:
    """Fails on text."""
    return value + 1  # type: ignore[operator]


def test_a_function_is_not_called_on_old_events() -> None:
    """Plans use a sample of earlier events, which the function may not support."""
    matcher = matcher_of(functions={"whole": whole})
    matcher.add("text", "a = 'x'")
    matcher.match_batch([{"a": "x"}] * 100)
    for id, text in enumerate(["whole(a) > 1", "contains(whole(a), 'x')", "whole(a) = b"]):
        matcher.add(f"s{id}", text)
    assert matcher.match({"a": 1, "b": 2}) == ["s0", "s2"]


def test_maintenance_survives_a_function_that_fails() -> None:
    with forced("planned", _SEALED=600):
        matcher = matcher_of(functions={"whole": whole})
        for id in range(1300):
            matcher.add(id, f"a = {id} AND whole(b) > 1")
        with pytest.raises(FunctionError):
            matcher.match_batch([{"a": 3, "b": "x"}] * 100)
        engine_of(matcher).settle()
        assert matcher.match_batch([{"a": 3, "b": 5}] * 100).counts() == {3: 100}


def test_a_selector_with_too_many_attributes_is_left_to_the_oracle() -> None:
    """More attributes than the words of a segment can number."""
    matcher = matcher_of()
    names = [f"a{i}" for i in range(66_000)]
    matcher.add("all", " AND ".join(f"{name} = 1" for name in names))
    matcher.add("one", "a1 = 1")
    assert matcher.match(dict.fromkeys(names, 1)) == ["all", "one"]
    assert matcher.match(dict.fromkeys(names[1:], 1)) == ["one"]
    assert taken(engine_of(matcher))["oracle"] == 1


def test_a_draft_with_too_many_attributes_is_sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft, "AXES", draft.MOST_WORDS + 50)
    matcher = matcher_of()
    for id in range(200):
        matcher.add(id, f"a{id} = 1 AND b{id} = 2")
    assert matcher.match({"a7": 1, "b7": 2, "a8": 1}) == [7]


def test_a_draft_is_full_before_its_constants_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rank has 24 bits: a draft is full before its constants might take more."""
    monkeypatch.setattr(draft, "MOST_POINTS", 300)
    monkeypatch.setattr(draft, "MOST_CONSTANTS", 2 * draft.MOST_WORDS + 300 + 700)
    drafted = draft.Draft(Terms())
    while drafted.has_room:
        drafted.add(Subscription.of(1, f"k IN ({', '.join(map(str, range(90)))})"))
    assert len(drafted) == 8
    with pytest.raises(draft.TooManyWords):
        drafted.add(Subscription.of(1, f"k IN ({', '.join(map(str, range(400)))})"))
    matcher = matcher_of()
    matcher.add(1, f"k IN ({', '.join(map(str, range(400)))})")
    assert matcher.match({"k": 305}) == [1] and taken(engine_of(matcher))["oracle"] == 1


def test_the_greatest_integer_ranks_above_small_constants() -> None:
    """Its distance from the least constant does not fit into 64 bits."""
    matcher = matcher_of()
    for id in range(20):
        matcher.add(id, f"a >= {id - 10}")
    found = matcher.match_batch([{"a": 2**63 - 1}, {"a": -(2**63)}, {"a": None}])
    assert found.event_counts().tolist() == [20, 0, 0]


def test_a_block_that_is_no_multiple_of_512_events_is_refused() -> None:
    """Kernels would write beyond the end of its masks."""
    with forced("blocks"):
        matcher = matcher_of()
        matcher.add("s", "a > 1")
        assert matcher.match({"a": 2}) == ["s"]
        for segment in segments(engine_of(matcher)):
            segment.block_size = 64
        with pytest.raises(ValueError, match="multiple of 512"):
            matcher.match_batch([{"a": 2}])


@pytest.mark.parametrize("text", ["whole(a) > 1", "contains(whole(a), 'x')"])
def test_a_function_that_fails_can_be_removed(text: str) -> None:
    matcher = matcher_of(functions={"whole": whole})
    matcher.add("text", "a = 'x'")
    matcher.add("bad", text)
    with pytest.raises(FunctionError):
        matcher.match({"a": "x"})
    matcher.remove("bad")
    assert matcher.match({"a": "x"}) == ["text"]


def test_a_draft_of_long_lists_can_be_rebuilt(monkeypatch) -> None:
    """The limit on the values of a selector does not apply to all selectors together."""
    monkeypatch.setattr(draft, "MOST_POINTS", 100)
    drafted = draft.Draft(Terms())
    for n in range(3):
        drafted.add(Subscription.of(n, f"k IN ({', '.join(map(str, range(n, n + 90)))})"))
    assert len(drafted.select([0, 2]).rules().sets.ranks) == 180
