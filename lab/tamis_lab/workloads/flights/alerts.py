"""Alerts on departures: travellers ask for a flight or a route, operators for aircraft.

Constants come from flights that took place, drawn at random: a route is asked for as often as it is
flown. Most alerts name something rare (a flight number, a day, a tail number) and match a few
flights. A few alerts are broad, as in practice.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tamis_lab.workloads.random_draws import places

Alert: TypeAlias = tuple[str, str, int]  # as `Matcher.add_many` takes them

_Row: TypeAlias = dict[str, Any]

TRAVELLER, OPERATOR = "traveller", "operator"
PRIORITIES = 10


class AlertForm(NamedTuple):
    """A form of alerts.

    Attributes:
        share: The fraction of alerts with this form, in thousandths.
        whose: The kind of user, with which the id starts.
        text: The selector, with names of `_constants` in braces.
    """

    share: int
    whose: str
    text: str


_ROUTE = "origin = '{origin}' AND dest = '{dest}'"
_DATE = "month = {month} AND day = {day}"

FORMS = (
    AlertForm(150, TRAVELLER, "carrier = '{carrier}' AND flight = {flight} AND dep_delay > {late}"),
    AlertForm(60, TRAVELLER, "carrier = '{carrier}' AND flight = {flight} AND dep_time IS NULL"),
    AlertForm(60, TRAVELLER, "carrier = '{carrier}' AND flight = {flight} AND " + _DATE),
    AlertForm(90, TRAVELLER, _ROUTE + " AND " + _DATE + " AND hour BETWEEN {hour} AND {until}"),
    AlertForm(60, TRAVELLER, _ROUTE + " AND carrier = '{carrier}' AND arr_delay > {late}"),
    AlertForm(
        50,
        TRAVELLER,
        _ROUTE + " AND time BETWEEN TIMESTAMP '{time}' AND TIMESTAMP '{later}' "
        "AND NOT (dep_delay <= {late})",
    ),
    AlertForm(
        50,
        TRAVELLER,
        "dest IN ('{dest}', '{dest2}', '{dest3}') AND " + _DATE + " AND carrier <> '{carrier2}'",
    ),
    AlertForm(
        40,
        TRAVELLER,
        "(dest = '{dest}' OR dest = '{dest2}') AND NOT origin = '{origin2}' AND month = {month} "
        "AND (dep_time IS NULL OR dep_delay > {late})",
    ),
    AlertForm(40, TRAVELLER, "to.name LIKE '{place}%' AND airline LIKE '{line}%' AND " + _DATE),
    AlertForm(100, OPERATOR, "tailnum = '{tailnum}'"),
    AlertForm(70, OPERATOR, "tailnum = '{tailnum}' AND (dep_delay > {late} OR dep_time IS NULL)"),
    AlertForm(
        50,
        OPERATOR,
        "tailnum IN ('{tailnum}', '{tailnum2}', '{tailnum3}') AND arr_delay - dep_delay > {lost}",
    ),
    AlertForm(
        40,
        OPERATOR,
        "origin = '{origin}' AND hour = {hour} AND weather.wind_speed > {wind} "
        "AND weather.visib < {visib}",
    ),
    AlertForm(
        40,
        OPERATOR,
        "plane.manufacturer = '{maker}' AND 2013 - plane.year > {age} AND dest = '{dest}' "
        "AND month = {month}",
    ),
    AlertForm(30, OPERATOR, "plane.model LIKE '{model}%' AND plane.seats > {seats} AND " + _DATE),
    AlertForm(
        30,
        OPERATOR,
        _ROUTE + " AND AT LEAST 2 OF (dep_delay > {late}, weather.visib < {visib}, "
        "weather.wind_gust > {wind}, weather.precip > 0.1)",
    ),
    AlertForm(
        20,
        OPERATOR,
        "AT LEAST 3 OF (dest = '{dest}', carrier = '{carrier2}', plane.model = '{model}', "
        "arr_delay > {late}) AND " + _DATE,
    ),
    AlertForm(
        10, OPERATOR, "carrier = '{carrier}' AND plane.model IS NULL AND tailnum IS NOT NULL AND "
        + _DATE,
    ),
    AlertForm(5, OPERATOR, _ROUTE + " AND distance / air_time * 60 > {mph}"),
    AlertForm(2, TRAVELLER, "dest = '{dest}'"),
    AlertForm(2, OPERATOR, "arr_delay - dep_delay > {lost} AND origin = '{origin}'"),
    AlertForm(1, OPERATOR, "dep_delay > {late} OR dep_time IS NULL"),
)  # fmt: skip


class ConstantSources(NamedTuple):
    """Flights to take constants from: all of them, and those whose aircraft is known."""

    all: pa.Table
    registered: pa.Table

    @classmethod
    def of(cls, flights: pa.Table) -> ConstantSources:
        """Return the few columns that alerts use, nested ones flattened (`to.name`)."""
        flat = flights.flatten().select([*_FIRST, "tailnum", "plane.manufacturer", "plane.model"])
        return cls(flat, flat.filter(pc.is_valid(flat["plane.model"])))


_FIRST = (
    "origin", "dest", "carrier", "flight", "month", "day", "hour", "time", "airline", "to.name",
)  # fmt: skip
_OTHER = ("origin", "dest", "carrier", "tailnum")
_KNOWN = ("tailnum", "plane.manufacturer", "plane.model")


def drawn_alerts(rng: np.random.Generator, count: int, sources: ConstantSources) -> Iterator[Alert]:
    """Yield alerts as (whose, selector, priority); the caller adds a number to the id."""
    forms = places([form.share / 1000 for form in FORMS], rng.random(count)).tolist()
    priorities = rng.integers(PRIORITIES, size=count).tolist()
    constants = map(
        _constants,
        _rows(rng, sources.all, count, _FIRST),
        _rows(rng, sources.all, count, _OTHER),
        _rows(rng, sources.all, count, _OTHER),
        _rows(rng, sources.registered, count, _KNOWN),
        _thresholds(rng, count),
    )
    for form, priority, filling in zip(forms, priorities, constants, strict=True):
        _, whose, text = FORMS[form]
        yield whose, text.format_map(filling), priority


def _rows(
    rng: np.random.Generator, flights: pa.Table, count: int, names: tuple[str, ...]
) -> Iterator[_Row]:
    taken = flights.select(names).take(rng.integers(flights.num_rows, size=count))
    for cells in zip(*(column.to_pylist() for column in taken.columns), strict=True):
        yield dict(zip(names, cells, strict=True))


# A value is as frequent as it is listed.
_THRESHOLDS = {
    "late": (15, 20, 30, 30, 45, 45, 60, 60, 60, 90, 90, 120, 120, 180, 240),
    "lost": (20, 20, 30, 30, 40, 45, 60, 90),
    "wind": (15, 18, 20, 20, 25, 25, 30, 35),
    "visib": (0.25, 0.5, 1, 1, 2, 2, 3, 5),
    "age": (10, 15, 15, 20, 20, 25, 30),
    "seats": (50, 100, 150, 180, 200, 300),
    "mph": (450, 480, 500, 520, 540, 560),
    "days": (1, 1, 2, 3, 7, 14),
}


def _thresholds(rng: np.random.Generator, count: int) -> Iterator[_Row]:
    picks = (rng.integers(len(choices), size=count).tolist() for choices in _THRESHOLDS.values())
    for row in zip(*picks, strict=True):
        yield {name: _THRESHOLDS[name][pick] for name, pick in zip(_THRESHOLDS, row, strict=True)}


def _constants(first: _Row, second: _Row, third: _Row, known: _Row, thresholds: _Row) -> _Row:
    """Return the constants for the braces: from one flight, two others, and a known aircraft."""
    return {
        **thresholds,
        **first,
        "until": first["hour"] + 3,
        "time": _instant(first["time"]),
        "later": _instant(first["time"] + dt.timedelta(days=thresholds["days"])),
        "line": _first_word(first["airline"]),
        "place": _first_word(first["to.name"] or "San Juan"),  # the most frequent of the unlisted
        "origin2": second["origin"],
        "dest2": second["dest"],
        "carrier2": second["carrier"],
        "tailnum2": second["tailnum"] or known["tailnum"],
        "dest3": third["dest"],
        "tailnum3": third["tailnum"] or known["tailnum"],
        "tailnum": known["tailnum"],
        "maker": known["plane.manufacturer"],
        "model": known["plane.model"],
    }


def _first_word(name: str) -> str:
    return name.split()[0].replace("'", "''")


def _instant(time: dt.datetime) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%SZ")
