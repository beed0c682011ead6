"""The facade: what it accepts, what it refuses, and that an error changes nothing."""

import pickle

import numpy as np
import pyarrow as pa
import pytest

import tamis
from tamis import errors
from tamis.engines.subscription import Subscription


@pytest.fixture
def matcher() -> tamis.Matcher:
    matcher = tamis.Matcher()
    matcher.add("cheap", "price < 10", priority=1)
    matcher.add("red", "colour = 'red'")
    return matcher


def test_subscriptions_are_added_replaced_and_removed(matcher) -> None:
    assert matcher.match({"price": 5, "colour": "red"}) == ["cheap", "red"]
    matcher.replace("cheap", "price < 3")
    assert matcher.match({"price": 5, "colour": "red"}) == ["red"]
    assert matcher["cheap"].priority == 1
    matcher.replace("red", "colour = 'red'", priority=7)
    assert matcher.match({"price": 2, "colour": "red"}) == ["red", "cheap"]
    matcher.remove("red")
    assert "red" not in matcher and list(matcher) == ["cheap"] and len(matcher) == 1


def test_a_parsed_subscription_is_added_like_its_text(matcher: tamis.Matcher) -> None:
    matcher.add_subscription(Subscription.of("blue", "colour = 'blue'", 3))
    assert matcher.match({"price": 2, "colour": "blue"}) == ["blue", "cheap"]
    with pytest.raises(errors.DuplicateSubscription):
        matcher.add_subscription(Subscription.of("blue", "price > 1"))
    with pytest.raises(errors.SubscriptionError):
        matcher.add_subscription(Subscription.of(1, "price > 1"))
    assert list(matcher) == ["cheap", "red", "blue"]


@pytest.mark.parametrize(
    ("id", "selector", "priority", "error"),
    [
        ("cheap", "a = 1", 0, errors.DuplicateSubscription),
        ("new", "a = ", 0, errors.SelectorSyntaxError),
        ("", "a", 0, errors.SubscriptionError),
        (1, "a", 0, errors.SubscriptionError),
        (True, "a", 0, errors.SubscriptionError),
        (None, "a", 0, errors.SubscriptionError),
        ([], "a", 0, errors.SubscriptionError),
        ("\ud800", "a", 0, errors.SubscriptionError),
        ("new", "a", 1.5, errors.SubscriptionError),
        ("new", "a", True, errors.SubscriptionError),
        ("new", "a", 2**63, errors.SubscriptionError),
        ("new", None, 0, errors.SelectorSyntaxError),
        ("new", "FIRST a THEN", 0, errors.SelectorSyntaxError),
    ],
)
def test_refused_additions_change_nothing(matcher, id, selector, priority, error) -> None:
    with pytest.raises(error):
        matcher.add(id, selector, priority)
    assert list(matcher) == ["cheap", "red"]
    assert matcher.match({"price": 5, "colour": "red"}) == ["cheap", "red"]


def test_a_refused_replacement_leaves_the_old_one(matcher) -> None:
    for selector in ("price <", "FIRST a THEN"):
        with pytest.raises(errors.TamisError):
            matcher.replace("cheap", selector)
    assert matcher.match({"price": 5}) == ["cheap"]


@pytest.mark.parametrize("id", ["nobody", 5, None, [], ""])
def test_unknown_ids_raise(matcher, id) -> None:
    assert id not in matcher
    for call in (
        lambda: matcher.remove(id),
        lambda: matcher.replace(id, "a"),
        lambda: matcher.explain(id, {}),
        lambda: matcher[id],
    ):
        with pytest.raises(errors.UnknownSubscription) as caught:
            call()
        assert caught.value.id == id


def test_integer_ids_stay_integers() -> None:
    matcher = tamis.Matcher()
    matcher.add(10, "a = 1")
    matcher.add(9, "a = 1")
    assert matcher.match({"a": 1}) == [9, 10]
    assert matcher.match_batch([{"a": 1}]).subscription.dtype == np.int64
    with pytest.raises(errors.SubscriptionError):
        matcher.add("x", "a")
    matcher.remove(9)
    matcher.remove(10)
    matcher.add("x", "a = 1")
    assert matcher.match({"a": 1}) == ["x"]


ROWS = [("a", "x = 1"), ("b", "x = 2", 5), ("c", "x = 1", -1)]


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        iter(ROWS),
        pa.table(
            {"id": ["a", "b", "c"], "selector": ["x = 1", "x = 2", "x = 1"], "priority": [0, 5, -1]}
        ),
        pa.table(
            {
                "priority": [None, 5, -1],
                "selector": ["x = 1", "x = 2", "x = 1"],
                "id": ["a", "b", "c"],
                "owner": ["u", "v", "w"],
            }
        ).to_batches()[0],
    ],
)
def test_add_many_takes_tuples_and_tables(rows) -> None:
    matcher = tamis.Matcher()
    done = matcher.add_many(rows)
    assert (done.count, done.rejected) == (3, [])
    assert matcher.match({"x": 1}) == ["a", "c"]
    assert matcher["b"].priority == 5


BAD = [("d", "x = 1"), ("e", "x = "), ("d", "y"), ("f", "y"), "g", ("h",), (1, "y")]


def test_add_many_is_all_or_nothing(matcher) -> None:
    with pytest.raises(errors.SelectorSyntaxError) as caught:
        matcher.add_many(BAD)
    assert caught.value.__notes__ == ["row 1 of add_many; no row was added"]
    assert list(matcher) == ["cheap", "red"]


def test_add_many_undoes_rows_of_a_failed_generator(matcher) -> None:
    def rows():
        yield "d", "x = 1"
        raise RuntimeError("the caller's own trouble")

    for bad in ("fail", "skip"):
        with pytest.raises(RuntimeError):
            matcher.add_many(rows(), bad=bad)
        assert list(matcher) == ["cheap", "red"]


@pytest.mark.parametrize("kind", [str, int])
def test_add_many_undoes_many_rows(kind) -> None:
    matcher = tamis.Matcher(engine="block")
    matcher.add(kind(-1), "x = 1")
    rows = [(kind(number), "x = 1") for number in range(9_000)]
    with pytest.raises(errors.DuplicateSubscription):
        matcher.add_many([*rows, rows[5]])
    assert list(matcher) == [kind(-1)] and matcher.match({"x": 1}) == [kind(-1)]


def test_add_many_skips_bad_rows(matcher) -> None:
    done = matcher.add_many(BAD, bad="skip")
    assert done.count == 2 and list(matcher) == ["cheap", "red", "d", "f"]
    assert [(r.row, r.id, type(r.error)) for r in done.rejected] == [
        (1, "e", errors.SelectorSyntaxError),
        (2, "d", errors.DuplicateSubscription),
        (4, None, errors.InputError),
        (5, "h", errors.InputError),
        (6, 1, errors.SubscriptionError),
    ]


@pytest.mark.parametrize(
    "rows",
    [
        5,
        "abc",
        {"a": 1},
        None,
        pa.table({"id": ["a"]}),
        pa.table({"selector": ["a"]}),
        pa.table([["a"], ["b"], ["x"]], names=["id", "id", "selector"]),
        pa.table({"id": ["a"], "selector": pa.array([b"\xff"]).view(pa.string())}),
    ],
)
def test_add_many_refuses_other_shapes(matcher, rows) -> None:
    with pytest.raises(errors.InputError):
        matcher.add_many(rows)


@pytest.mark.parametrize(
    "arguments",
    [{"semantics": "fuzzy"}, {"engine": "warp"}, {"engine": []}, {"semantics": "default"},
     {"semantics": "total"}, {"schema": {"a": "COMPLEX"}}, {"schema": 5}],
)  # fmt: skip
def test_invalid_settings_are_refused(arguments) -> None:
    with pytest.raises(errors.TamisError):
        tamis.Matcher(**arguments)


@pytest.mark.parametrize("limit", [-1, 1.5, "1", True])
def test_invalid_limits_are_refused(matcher, limit) -> None:
    with pytest.raises(errors.InputError):
        matcher.match({}, limit=limit)


@pytest.mark.parametrize("events", [None, 5, "x", {"a": 1}, [1], [None], [[("a", 1)]]])
def test_invalid_events_are_refused(matcher, events) -> None:
    with pytest.raises(errors.EventError):
        matcher.match_batch(events)


def test_matches_have_pairs_counts_and_tables() -> None:
    matcher = tamis.Matcher()
    matcher.add("p", "a > 0", priority=1)
    matcher.add("q", "a > 1", priority=2)
    found = matcher.match_batch([{"a": 2}, {"a": 0}, {"a": 1}])
    assert found.per_event() == [["q", "p"], [], ["p"]]
    assert [found.of_event(i) for i in range(3)] == found.per_event()
    assert list(found) == [(0, "q"), (0, "p"), (2, "p")] and len(found) == 3
    assert found.counts() == {"p": 2, "q": 1}
    assert found.event_counts().tolist() == [2, 0, 1]
    assert found.event.tolist() == [0, 0, 2] and found.subscription.tolist() == ["q", "p", "p"]
    assert found.to_arrow() == pa.table(
        {"event": [0, 0, 2], "subscription": ["q", "p", "p"], "priority": [2, 1, 1]}
    )
    assert pickle.loads(pickle.dumps(found)) == found
    assert found != matcher.match_batch([{"a": 2}, {"a": 0}])
    for event in (-1, 3):
        with pytest.raises(errors.InputError):
            found.of_event(event)


def test_empty_matchers_and_batches_match_nothing() -> None:
    found = tamis.Matcher().match_batch([])
    assert (len(found), found.per_event(), found.counts()) == (0, [], {})
    assert found.to_arrow().num_rows == 0
    assert tamis.Matcher().match({"a": 1}) == []
