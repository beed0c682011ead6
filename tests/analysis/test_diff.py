"""Changes between two versions of a set of subscriptions."""

import pytest

from tamis.analysis import Change, diff
from tamis.errors import DuplicateSubscription, InputError
from tamis.language import evaluate, parse
from tamis.language.sequence_oracle import completions


def one(old: str, new: str, **options: object) -> Change:
    (change,) = diff([("r", old)], [("r", new)], **options)
    return change


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("x > 5", "5 < x", "reworded"),
        ("NOT (x > 5)", "x <= 5", "reworded"),
        ("x > 5 OR x > 7", "x > 5", "reworded"),
        ("x > 5", "x > 4", "widened"),
        ("x > 5", "x > 6", "narrowed"),
        ("x > 5", "x < 5", "changed"),
        ("x > 5", "x > 5 AND y", "narrowed"),
        ("TRUE", "x = x OR x IS NULL", "narrowed"),
        ("s RLIKE 'a'", "s RLIKE 'a' AND s IS NOT NULL", "reworded"),
        ("s RLIKE '^xa'", "s RLIKE '^x'", "undecided"),
        ("FIRST a THEN b", "FIRST a THEN NOT NOT b", "reworded"),
        ("FIRST a THEN b", "FIRST a THEN b THEN c", "changed"),
        ("FIRST a THEN b WITHIN 5 SECONDS", "FIRST a THEN b WITHIN 6 SECONDS", "changed"),
        ("FIRST a THEN b", "b", "changed"),
    ],
)  # fmt: skip
def test_each_kind_of_change_is_recognised(old: str, new: str, kind: str) -> None:
    change = one(old, new)
    assert change.kind == kind
    for event, mine, other in ((change.lost, old, new), (change.gained, new, old)):
        if event is not None:
            assert evaluate(parse(mine), event) is True
            assert evaluate(parse(other), event) is not True
    assert (change.lost is None) is (kind not in ("narrowed", "changed") or bool(change.stream))


def test_a_stream_of_events_distinguishes_sequences() -> None:
    old, new = "FIRST a = 1 THEN b PER host", "FIRST a = 1 THEN b AND c PER host"
    change = one(old, new)
    events = list(change.stream)
    times = list(range(len(events)))
    last = len(events) - 1
    assert last in completions(parse(old), events, times)
    assert last not in completions(parse(new), events, times)


def test_unchanged_subscriptions_are_left_out() -> None:
    old = [("a", "x > 1"), ("b", "y"), ("c", "z")]
    new = [("d", "w"), ("c", "z"), ("a", "x > 1", 5)]
    assert [(c.kind, c.id) for c in diff(old, new)] == [
        ("added", "d"), ("reprioritized", "a"), ("removed", "b"),
    ]  # fmt: skip
    assert diff(old, old) == []


def test_changed_priorities_are_reported_with_other_changes() -> None:
    (change,) = diff([("a", "x > 1", 2)], [("a", "x > 0", 3)])
    assert (change.kind, change.priorities) == ("widened", (2, 3))
    assert "priority 2 became 3" in change.message
    assert change.to_dict()["priorities"] == [2, 3]


def test_invalid_selectors_are_reported() -> None:
    assert [c.kind for c in diff([("a", "x >")], [("a", "x > 1"), ("b", "y =")])] == ["bad", "bad"]
    with pytest.raises(DuplicateSubscription):
        diff([("a", "x"), ("a", "y")], [])
    with pytest.raises(InputError):
        diff([], ["x"])


def test_changes_depend_on_schema_and_semantics() -> None:
    assert one("x > 1", "x >= 2", schema={"x": "INT"}).kind == "reworded"
    assert one("x > 1", "x >= 2", schema={"x": "DBL"}).kind == "narrowed"
    assert one("y", "y AND (x OR NOT x)", semantics="strict").lost == {"y": True}
