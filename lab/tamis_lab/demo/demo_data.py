"""The input of the job: departures in files of some days each, alerts, and changes to alerts."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from tamis_lab.workloads.flights import Flights

Alert: TypeAlias = tuple[str, str, int]  # id, selector, priority
Alerts: TypeAlias = dict[str, Alert]

YEAR = 2013

_ALERT = ("id", "selector", "priority")

# Files for the whole year: each becomes a micro-batch, which has a fixed overhead.
_PIECES = 36
# One alert in this many is added, replaced or removed.
_CHANGED = 200
# The beginning of an alert that is too broad: it names no flight, route or aircraft.
_BROAD = "dep_delay > "
_OF_AIRCRAFT = "tailnum = "


class AlertChange(NamedTuple):
    """A row for `tamis.spark.change`."""

    change: str
    id: str
    selector: str | None
    priority: int


class Input(NamedTuple):
    """The input of the job.

    Attributes:
        alerts: The alerts of version 1.
        changed: The alerts of version 2.
        events: The departures.
        alerts_file: The alerts of version 1 as a file, with some invalid ones.
        changes_file: The changes that lead to version 2.
        pieces: The departures as files, in order of time.
    """

    alerts: Alerts
    changed: Alerts
    events: pa.Table
    alerts_file: Path
    changes_file: Path
    pieces: list[Path]

    @property
    def alert_count(self) -> int:
        """The number of alerts in both versions together."""
        return len(self.alerts.keys() | self.changed.keys())

    def selector(self, id: str) -> str:
        """Return the selector of an alert, in version 2 if it is there, else in version 1."""
        return (self.changed.get(id) or self.alerts[id])[1]


def prepare_input(workload: Flights, events: int, scratch: Path) -> Input:
    """Draw the alerts and write the input files."""
    alerts = {alert[0]: alert for alert in workload.subscriptions()}
    changes = drawn_changes(workload, alerts)
    table = workload.table(events)
    return Input(
        alerts,
        apply_changes(alerts, changes),
        table,
        write_rows(
            [*alerts.values(), *workload.broken_alerts()], _ALERT, scratch / "alerts.parquet"
        ),
        write_rows(changes, AlertChange._fields, scratch / "changes.parquet"),
        write_pieces(table, scratch / "waiting"),
    )


def day_of(month: int, day: int) -> dt.date:
    """Return a day of the year of the departures."""
    return dt.date(YEAR, month, day)


def write_pieces(events: pa.Table, folder: Path) -> list[Path]:
    """Write departures as files of whole days, in order of time."""
    folder.mkdir()
    files = []
    for number, (start, stop) in enumerate(_spans(events)):
        piece = events.slice(start, stop - start)
        files.append(folder / f"departures-{number:03}.parquet")
        # Two row groups, so that both cores share a file.
        parquet.write_table(piece, files[-1], row_group_size=-(-piece.num_rows // 2))
    return files


def _spans(events: pa.Table) -> list[tuple[int, int]]:
    """Return the first row and the end of each piece."""
    pairs = zip(events["month"].to_pylist(), events["day"].to_pylist(), strict=True)
    days = np.array([day_of(*pair).toordinal() for pair in pairs])
    days -= days[0]
    pieces = days // max(1, (days[-1] + 1) // _PIECES)
    cuts = [0, *(np.flatnonzero(np.diff(pieces)) + 1).tolist(), len(days)]
    return list(pairwise(cuts))


def write_rows(rows: list[Alert] | list[AlertChange], names: tuple[str, ...], file: Path) -> Path:
    """Write alerts or changes as a Parquet file."""
    columns = zip(*rows, strict=True)
    parquet.write_table(pa.table(dict(zip(names, map(list, columns), strict=True))), file)
    return file


def drawn_changes(workload: Flights, alerts: Alerts) -> list[AlertChange]:
    """Return changes an operator might make: drop broad alerts, narrow some, add new ones."""
    count = max(1, len(alerts) // _CHANGED)
    broad = [alert for alert in alerts.values() if alert[1].startswith(_BROAD)]
    aircraft = [a for a in alerts.values() if a[1].startswith(_OF_AIRCRAFT) and " AND " not in a[1]]
    new = Flights(alerts=count, seed=workload.seed + 1).subscriptions()
    return [
        *(AlertChange("remove", id, None, 0) for id, _, _ in broad[:count]),
        *(
            AlertChange("replace", id, f"{selector} AND dep_delay > 60", priority)
            for id, selector, priority in aircraft[:count]
        ),
        *(AlertChange("add", f"new-{id}", selector, priority) for id, selector, priority in new),
    ]


def apply_changes(alerts: Alerts, changes: list[AlertChange]) -> Alerts:
    """Return the alerts after the changes, to check the answers with."""
    now = dict(alerts)
    for _, id, selector, priority in changes:
        if selector is None:
            del now[id]
        else:
            now[id] = id, selector, priority
    return now
