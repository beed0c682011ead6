"""A matcher with sequences supports everything that other subscriptions do."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep

import pyarrow as pa
import pytest

import tamis
from tamis import errors
from tamis.engines import DEFAULT, ENGINES
from tamis.engines.subscription import Subscription
from tamis.events.batch import EventBatch
from tamis.sequences.event_time import EventClock
from tamis.sequences.sequence_engine import Sequences
from tests.engines.variants import VARIANTS
from tests.engines.variants import matcher as new_matcher

OUTAGE = "FIRST status = 'down' THEN status = 'up' WITHIN 60 SECONDS PER host"


def event(host: object, status: str, at: object) -> dict[str, object]:
    return {"host": host, "status": status, "at": at}


@pytest.fixture(params=VARIANTS)
def matcher(request: pytest.FixtureRequest) -> tamis.Matcher:
    made = new_matcher(request.param, time="at")
    made.add("outage", OUTAGE, priority=1)
    made.add("up", "status = 'up'")
    made.add("urgent", "status = 'up' AND host = 'a'", priority=5)
    return made


def test_matches_are_in_order_of_priority(matcher: tamis.Matcher) -> None:
    assert matcher.match(event("a", "down", 0)) == []
    assert matcher.match(event("a", "up", 1)) == ["urgent", "outage", "up"]
    assert matcher.match(event("a", "up", 2), limit=2) == ["urgent", "outage"]
    assert matcher.match(event("a", "up", 3), limit=0) == []
    assert matcher.match(event("b", "up", 3)) == ["up"]


def test_batches_match_like_single_events(matcher: tamis.Matcher) -> None:
    stream = [event("a", "down", 0), event("b", "up", 1), event("a", "up", 2), event("a", "up", 99)]
    answer = matcher.match_batch(pa.Table.from_pylist(stream))
    assert answer.per_event() == [[], ["up"], ["urgent", "outage", "up"], ["urgent", "up"]]
    assert answer.counts() == {"up": 3, "urgent": 2, "outage": 1}
    assert answer.event_counts().tolist() == [0, 1, 3, 2]
    assert list(answer.bitmaps()["outage"]) == [2]
    assert answer.to_arrow().column("priority").to_pylist() == [0, 5, 1, 0, 5, 0]
    again = matcher.match_batch([event("a", "down", 100), event("a", "up", 101)], limit=2)
    assert again.per_event() == [[], ["urgent", "outage"]]


def test_counts_are_those_of_a_batch(matcher: tamis.Matcher) -> None:
    stream = [event("a", "down", 0), event("a", "up", 1), event("a", "up", 2)]
    assert matcher.counts(stream) == {"up": 2, "urgent": 2, "outage": 2}
    assert matcher.counts([event("a", "up", 3)])["outage"] == 1  # counting is matching


def test_a_batch_is_processed_in_order_of_time(matcher: tamis.Matcher) -> None:
    answer = matcher.match_batch([event("b", "up", 5), event("b", "down", 4)])
    assert answer.per_event() == [["outage", "up"], []]


def test_late_events_are_ignored_and_counted(matcher: tamis.Matcher) -> None:
    matcher.match(event("a", "down", 100))
    assert "outage" not in matcher.match(event("a", "up", 99))  # before the event it would follow
    matcher.match(event("b", "down", 40))  # another key may lag 60 seconds behind
    assert "outage" in matcher.match(event("b", "up", 41))
    matcher.match(event("c", "down", 39))
    assert "outage" not in matcher.match(event("c", "up", 42))
    assert matcher.stats()["sequence_late"] == 2


def test_a_key_that_lags_behind_keeps_its_state(matcher: tamis.Matcher) -> None:
    matcher.match(event("b", "down", 45))
    matcher.match(event("a", "down", 106))
    assert "outage" in matcher.match(event("b", "up", 50))  # 56 late, of the 60 that it may be
    matcher.match(event("a", "down", 166))
    assert matcher.stats()["sequence_keys"] == 1  # 45 is more than twice 60 before 166


@pytest.mark.parametrize("lost", [{"host": None}, {"at": None}, {"at": "noon"}, {"host": ["a"]}])
def test_events_without_key_or_time_are_ignored(matcher: tamis.Matcher, lost) -> None:
    for status in ("down", "up"):
        assert "outage" not in matcher.match({**event("a", status, 1), **lost})
    assert matcher.stats()["sequence_keys"] == 0


def test_steps_are_hidden(matcher: tamis.Matcher) -> None:
    matcher.add("again", OUTAGE)
    matcher.match_batch([event("a", "down", 0), event("a", "up", 1)])
    assert list(matcher) == ["up", "urgent", "outage", "again"] and len(matcher) == 4
    stats = matcher.stats()
    assert stats["subscriptions"] == 4 and stats["sequences"] == 2 and stats["sequence_steps"] == 2
    assert matcher["outage"].text == OUTAGE and matcher["outage"].priority == 1
    if matcher.engine == "block":
        assert {row.id for row in matcher.costs()} <= {"up", "urgent"}
        with pytest.raises(errors.InputError, match="is a sequence"):
            matcher.plan("outage")


def test_removing_a_sequence_drops_its_states(matcher: tamis.Matcher) -> None:
    matcher.match(event("a", "down", 0))
    matcher.remove("outage")
    assert matcher.match(event("a", "up", 1)) == ["urgent", "up"]
    assert "outage" not in matcher and "sequences" not in matcher.stats()
    matcher.add("outage", OUTAGE)
    assert "outage" not in matcher.match(event("a", "up", 2))
    with pytest.raises(errors.UnknownSubscription):
        matcher.remove("nobody")


def test_removing_a_sequence_keeps_the_states_of_others(matcher: tamis.Matcher) -> None:
    matcher.add("other", OUTAGE + "name")
    matcher.add("longer", "FIRST status = 'down' THEN status = 'up' THEN status = 'up' PER host")
    matcher.match({**event("a", "down", 0), "hostname": "a"})
    matcher.remove("outage")
    answer = matcher.match({**event("a", "up", 1), "hostname": "a"})
    assert answer == ["urgent", "other", "up"]
    matcher.remove("other")
    assert matcher.match(event("a", "up", 2)) == ["urgent", "longer", "up"]
    assert matcher.stats()["sequence_steps"] == 2
    matcher.remove("longer")
    assert "sequences" not in matcher.stats()


def test_a_replaced_sequence_starts_again(matcher: tamis.Matcher) -> None:
    matcher.match(event("a", "down", 0))
    matcher.replace("outage", OUTAGE)  # starts again
    assert matcher.match(event("a", "up", 1)) == ["urgent", "up"]
    assert matcher["outage"].priority == 1
    matcher.replace("outage", "status = 'up'", priority=9)
    assert matcher.match(event("a", "up", 1)) == ["outage", "urgent", "up"]
    matcher.replace("up", OUTAGE)
    matcher.match(event("b", "down", 2))
    assert matcher.match(event("b", "up", 3)) == ["outage", "up"]


def test_add_many_is_all_or_nothing(matcher: tamis.Matcher) -> None:
    rows = [("x", OUTAGE), ("y", "a"), ("outage", "b")]
    with pytest.raises(errors.DuplicateSubscription):
        matcher.add_many(rows)
    assert len(matcher) == 3 and "x" not in matcher
    done = matcher.add_many(rows, bad="skip")
    assert done.count == 2 and [one.id for one in done.rejected] == ["outage"]
    matcher.match(event("a", "down", 0))
    assert matcher.match(event("a", "up", 1)) == ["urgent", "outage", "up", "x"]


@pytest.mark.parametrize("engine", VARIANTS)
def test_ids_of_sequences_and_others_have_one_type(engine: str) -> None:
    matcher = new_matcher(engine)
    matcher.add(7, "FIRST a THEN b", priority=-1)
    with pytest.raises(errors.SubscriptionError):
        matcher.add("x", "a")
    with pytest.raises(errors.DuplicateSubscription):
        matcher.add(7, "a")
    matcher.match({"a": True})
    assert matcher.match({"b": True}) == [7]  # although the engine itself has no ids
    assert matcher.match_batch([{"b": True}]).subscription.tolist() == [7]
    matcher.add(8, "b")
    assert matcher.match({"b": True}) == [8, 7]


def test_without_a_time_attribute_arrival_counts() -> None:
    now = [0.0]
    matcher = tamis.Matcher(time=lambda: now[0])
    matcher.add("s", "FIRST a THEN b WITHIN 10 SECONDS")
    assert matcher.match_batch([{"a": True}, {"b": True}, {"b": True}]).per_event() == [
        [],
        ["s"],
        ["s"],
    ]
    now[0] = 10.0
    assert matcher.match({"b": True}) == ["s"]
    now[0] = 10.001
    assert matcher.match({"b": True}) == []
    plain = tamis.Matcher()
    plain.add("s", "FIRST a THEN b WITHIN 1 HOUR")
    plain.match({"a": True})
    assert plain.match({"b": True}) == ["s"]


def test_invalid_times_are_refused() -> None:
    for time in (5, "a b", ""):
        with pytest.raises(errors.InputError):
            tamis.Matcher(time=time)  # type: ignore[arg-type]
    for schema in ({"a": "INT"}, {"at": "STR"}):
        with pytest.raises(errors.SchemaError):
            tamis.Matcher(schema=schema, time="at")
    tamis.Matcher(schema=tamis.Schema({"a": "INT"}, open=True), time="at")
    nested = tamis.Matcher(schema={"meta.at": "TIMESTAMP", "a": "BOOL"}, time="meta.at")
    nested.add("s", "FIRST a THEN NOT a WITHIN 1 SECOND")
    nested.match({"a": True, "meta": {"at": "2024-05-01 10:00:00"}})
    assert nested.match({"a": False, "meta": {"at": "2024-05-01 10:00:01"}}) == ["s"]


def test_a_failing_function_changes_no_state() -> None:
    def odd(n: int) -> bool:
        return bool(1 // n)

    matcher = tamis.Matcher(functions={"odd": odd})
    matcher.add("s", "FIRST a THEN odd(n)")
    with pytest.raises(errors.FunctionError):
        matcher.match_batch([{"a": True}, {"n": 0}])
    assert matcher.match({"n": 1}) == []


def test_explain_does_not_advance_the_sequence(matcher: tamis.Matcher) -> None:
    matcher.match(event("a", "down", 0))
    told = matcher.explain("outage", event("a", "up", 60))
    assert told.matches and "satisfies step 2 of 2" in str(told)
    assert "completes the sequence" in str(told)
    assert told.to_dict()["satisfied"] == [2]
    for other, words in [
        (event("a", "up", 61), "no earlier event with the same host satisfies step 1"),
        (event("b", "up", 1), "no earlier event with the same host satisfies step 1"),
        (event("b", "down", 1), "it begins the sequence"),
        (event(None, "up", 1), "has no host"),
        (event("a", "up", None), "has no time"),
        (event("a", "up", -1), "too late"),
        (event("a", "odd", 1), "satisfies no step"),
    ]:
        told = matcher.explain("outage", other)
        assert not told.matches and words in str(told), str(told)
    assert "outage" in matcher.match(event("a", "up", 60))  # explaining changed nothing


def test_pickled_copies_have_no_states(matcher: tamis.Matcher) -> None:
    matcher.match(event("a", "down", 0))
    copy = pickle.loads(pickle.dumps(matcher))
    assert "outage" not in copy.match(event("a", "up", 1))
    assert "outage" in matcher.match(event("a", "up", 1))
    copy.match(event("a", "down", 2))
    assert "outage" in copy.match(event("a", "up", 3))
    copy.remove("outage")
    assert len(copy) == 2


def test_saved_sequences_start_again(tmp_path: Path) -> None:
    matcher = tamis.Matcher(time="at")
    matcher.add("outage", OUTAGE, priority=3)
    matcher.add("up", "status = 'up'")
    matcher.match(event("a", "down", 0))
    matcher.save(tmp_path / "index")
    with tamis.Matcher.open(tmp_path / "index") as opened:
        assert sorted(opened) == ["outage", "up"] and opened["outage"].priority == 3
        assert opened.match(event("a", "up", 1)) == ["up"]  # states are not saved
        opened.match(event("a", "down", 2))
        assert opened.match(event("a", "up", 3)) == ["outage", "up"]
        opened.add("more", OUTAGE)
        opened.remove("outage")
        opened.add_many([(f"x{i}", f"FIRST a = {i} THEN b = {i}") for i in range(300)])
    for _ in range(2):  # from the log and then from a checkpoint
        with tamis.Matcher.open(tmp_path / "index", time=lambda: 0.0) as opened:
            assert len(opened) == 302 and "outage" not in opened and "x299" in opened
            opened.match(event("a", "down", None))
            assert opened.match(event("a", "up", None)) == ["more", "up"]
            opened.replace("x7", "FIRST b = 7 THEN a = 7")
            opened.match({"b": 7})
            assert opened.match({"a": 7}) == ["x7"]


def test_sequences_can_be_opened_without_running(tmp_path: Path) -> None:
    matcher = tamis.Matcher(time="at")
    matcher.add("outage", OUTAGE, priority=3)
    matcher.add("up", "status = 'up'")
    matcher.save(tmp_path / "index")
    events = [event("a", "down", 0), event("a", "up", 1)]
    with tamis.Matcher.open(tmp_path / "index", sequences=False) as opened:
        assert sorted(opened) == ["outage", "up"] and opened["outage"].priority == 3
        assert [one.id for one in opened.sequences] == ["outage"]
        assert [opened.match(one) for one in events] == [[], ["up"]]
        assert opened.match_batch(events).per_event() == [[], ["up"]]
        assert opened.counts(events) == {"up": 1}
        opened.add("more", OUTAGE)
        opened.remove("outage")
    with tamis.Matcher.open(tmp_path / "index", read_only=True) as opened:
        assert opened.match_batch(events).per_event() == [[], ["more", "up"]]


def test_step_matches_change_nothing() -> None:
    made = Sequences(ENGINES[DEFAULT], EventClock(None, None))
    made.add(Subscription.of("two", "FIRST a = 1 THEN a > 0", 0))
    made.add(Subscription.of("one", "FIRST a = 2 THEN a = 3", 0))
    batch = EventBatch.of([{"a": 1}, {"a": 0}, {"a": 2}])
    for _ in range(2):
        found = [(m.event, m.subscription.id, m.satisfied) for m in made.step_matches(batch)]
        assert sorted(found) == [(0, "two", [0, 1]), (2, "one", [0]), (2, "two", [1])]
    assert made.stats()["sequence_keys"] == 0


def test_threads_change_states_one_at_a_time() -> None:
    inside: list[int] = []

    def clock() -> float:
        assert not inside
        inside.append(1)
        sleep(0.0005)
        inside.pop()
        return 0.0

    matcher = tamis.Matcher(time=clock)
    matcher.add("s", "FIRST a THEN b PER k")

    def one(key: int) -> list[list[object]]:
        return [matcher.match({name: True, "k": key}) for name in "ababb"]

    with ThreadPoolExecutor(8) as pool:
        for answer in pool.map(one, range(50)):
            assert answer == [[], ["s"], [], ["s"], ["s"]]
    assert matcher.stats()["sequence_keys"] == 50
