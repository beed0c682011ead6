"""The experiments run on any engine and yield their figures; speed is not tested."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tamis_lab.bench import block, change_rate, comparison
from tamis_lab.bench.comparison import Contestant

from tamis.engines import ENGINES
from tamis.engines.subscription import Subscription
from tamis.errors import InputError, UnsupportedExpression
from tests.cli.command import run

COMPARISONS = ("selective", "broad", "mixed", "strings", "nulls", "words")
EXPERIMENTS = block.experiments("block")


@pytest.fixture(autouse=True)
def little_of_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in (
        (block, "BATCH", 60),
        (block, "BROAD_BATCH", 60),
        (block, "WORDS_BATCH", 60),
        (block, "CALLS", 40),
        (block, "STARTS", 1),
        (comparison, "ROUNDS", 2),
        (change_rate, "IDLE_SECONDS", 0.05),
    ):
        monkeypatch.setattr(module, name, value)
    # As much as `enough` would take is too much here.
    monkeypatch.setattr(comparison, "calibrate_count", lambda do, most, seconds: min(most, 60))


def rows_of(name: str, size: int = 60) -> list[dict[str, object]]:
    said: list[str] = []
    rows = list(EXPERIMENTS[name][0](size, said.append))
    assert rows and said
    assert all(row.keys() == rows[0].keys() for row in rows)
    return rows


@pytest.mark.parametrize("name", COMPARISONS)
def test_a_comparison(name: str) -> None:
    rows = rows_of(name)
    assert {(row["engine"], row["threads"]) for row in rows} >= {
        ("block", 1),
        ("block", 2),
        ("atree", 1),
        ("brute", 1),
    }
    for row in rows:
        assert row["equal"] == "yes" and row["equal_on"] == 60 and row["subscriptions"] == 60
        assert 0 < row["slowest"] <= row["events_per_s"] <= row["fastest"]
        assert row["times_best_other"] > 0
    # The best other is compared with itself.
    assert any(row["times_best_other"] == 1 for row in rows if row["engine"] != "block")


def test_broad_measures_every_kind_of_answer() -> None:
    asked = {row["answer"] for row in rows_of("broad")}
    assert asked == {"pairs", "counts", "bitmaps"}


def test_latency_yields_percentiles() -> None:
    row = rows_of("latency")[0]
    assert row["engine"] == "block" and row["calls"] == 40
    assert 0 < row["p50_us"] <= row["p90_us"] <= row["p99_us"] <= row["max_us"]


def test_changes_are_measured_alone_and_while_matching() -> None:
    alone, during = rows_of("changes", 400)[:2]
    for row in (alone, during):
        assert row["visible"] == "yes"
        assert min(row[key] for key in row if key.endswith("per_s")) > 0
    assert (alone["way"], during["way"]) == ("alone", "while matching")


def test_changes_end_when_there_is_no_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[list[int]] = []
    turns = change_rate.change_in_batches(list(range(250)), done.append, change_rate.nullcontext())
    assert [turn.changes for turn in turns] == [100, 100, 50] and done[2][-1] == 249
    monkeypatch.setattr(change_rate, "MOST_SECONDS", -1.0)
    turns = change_rate.change_in_batches(list(range(250)), done.append, change_rate.nullcontext())
    assert [turn.changes for turn in turns] == [100]


def test_an_error_in_the_background_thread_is_raised() -> None:
    engine = ENGINES["brute"]()
    matching = change_rate.BackgroundMatcher(engine, None, change_rate.nullcontext())  # type: ignore[arg-type]
    with pytest.raises(AttributeError), matching:
        pass


def test_memory_is_measured_per_predicate() -> None:
    row = rows_of("memory", 3000)[0]
    assert row["engine"] == "block" and row["subscriptions"] == 3000
    # A subscription has an id, a text and a node at least, and no megabyte.
    assert 10 < row["bytes_per_predicate"] < 100_000
    assert row["bytes_per_predicate"] == row["bytes"] / 3000 / 5


def test_start_is_measured_for_new_and_saved_matchers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block, "GENERAL", ())  # each engine takes two processes
    row, opened = rows_of("start")
    assert opened["way"] == "open" and opened["subscriptions"] == 60
    assert row["way"] == "new" and 0 < row["seconds"] < row["process_seconds"]


# -- what is compared -----------------------------------------------------------------------------


class Forgetful(ENGINES["brute"]):  # type: ignore[misc]
    """Loses every tenth subscription."""

    def add(self, subscription: Subscription) -> None:
        if subscription.id % 10:
            super().add(subscription)


class Picky(ENGINES["brute"]):  # type: ignore[misc]
    """Takes no XOR."""

    def add(self, subscription: Subscription) -> None:
        if "XOR" in subscription.text:
            raise UnsupportedExpression("XOR", "picky")
        super().add(subscription)


@pytest.fixture
def with_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, object]]:
    engines = dict(ENGINES)
    monkeypatch.setattr(comparison, "ENGINES", engines)
    yield engines


def test_an_engine_with_other_answers_is_reported(with_engine: dict[str, object]) -> None:
    with_engine["forgetful"] = Forgetful
    found = {row["engine"]: row["equal"] for row in rows_of("broad")}
    assert found.pop("forgetful") == "NO"
    assert {"atree", "block", "brute"} <= set(found) and set(found.values()) == {"yes"}


def test_an_engine_that_cannot_express_a_selector_is_left_out(
    with_engine: dict[str, object],
) -> None:
    with_engine["picky"] = Picky
    taking_part = {row["engine"] for row in rows_of("nulls")}
    assert {"atree", "block", "brute"} <= taking_part and "picky" not in taking_part
    assert "picky" in {row["engine"] for row in rows_of("selective")}


def test_an_engine_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dd.cudd", None)
    said: list[str] = []
    field = comparison.contestants("block", said.append)
    assert "bdd" not in {contestant.name for contestant in field} and len(field) > 2
    assert len(said) == 1 and said[0].startswith("bdd takes no part: the engine bdd needs CUDD")


def test_baselines_take_part_where_they_can() -> None:
    conjunctions = {"counting", "siena", "forest"}
    assert conjunctions <= {row["engine"] for row in rows_of("selective")}
    assert not conjunctions & {row["engine"] for row in rows_of("mixed")}


def test_an_engine_that_is_slow_to_load_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "SLOWEST_LOAD", -1.0)
    field = comparison.load_contestants(
        comparison.contestants("block"), block.SelectiveWorkload(subscriptions=60), print
    )
    assert {contestant.subscriptions for contestant in field} == {0}


def test_fewer_subscriptions_are_compared_as_far_as_they_go() -> None:
    workload = block.bdd2001.Workload(subscriptions=60)
    few, all_ = (
        Contestant("brute", 1, ENGINES["brute"]()),
        Contestant("brute", 1, ENGINES["brute"]()),
    )
    for id, text in enumerate(workload.selectors()):
        for contestant in (few, all_)[id >= 40 :]:
            contestant.engine.add(Subscription.of(id, text))
            contestant.subscriptions += 1
    sample = workload.events(20)
    assert few.subscriptions == 40 and comparison.has_equal_matches(all_, few, sample)
    few.engine.remove(3)
    assert not comparison.has_equal_matches(all_, few, sample)


def test_brute_force_gets_a_limited_number_of_subscriptions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(comparison.MOST, "brute", 25)
    rows = rows_of("selective")
    (brute,) = (row for row in rows if row["engine"] == "brute")
    others = [row for row in rows if row is not brute]
    assert brute["subscriptions"] == 25 and brute["equal"] == "yes"
    assert {row["subscriptions"] for row in others} == {60}
    # It was not asked as much, so it is no measure for the others.
    assert max(row["times_best_other"] for row in others if row["engine"] != "block") == 1


# -- the command line -----------------------------------------------------------------------------


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(InputError, match="unknown engine 'nonsense'"):
        block.experiments("nonsense")
    done = run("bench", "block", "--engine", "nonsense")
    assert done.exit_code != 0 and "unknown engine 'nonsense'" in done.stderr
    if "block" not in ENGINES:
        done = run("bench", "block")
        assert done.exit_code != 0 and "unknown engine 'block'" in done.stderr


def test_the_command_writes_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("bench", "block", "nonsense", "--engine", "atree")
    assert done.exit_code != 0 and "unknown experiment 'nonsense'" in done.stderr
    monkeypatch.setattr(block, "_EXPERIMENTS", {"latency": (block.latency, 30, 30)})
    out = tmp_path / "block.json"
    done = run("bench", "block", "--engine", "atree", "--out", out)
    assert done.exit_code == 0 and "Microseconds" in done.stdout
    assert json.loads(out.read_text())["experiments"]["latency"][0]["subscriptions"] == 30
