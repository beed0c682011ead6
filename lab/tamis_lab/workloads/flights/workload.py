"""Departures from New York as a workload: real events, and alerts drawn from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from tamis.events.batch import EventBatch
from tamis.schema import Schema
from tamis_lab.workloads.flights.alerts import Alert, ConstantSources, drawn_alerts
from tamis_lab.workloads.flights.departures import DEPARTURES, departures
from tamis_lab.workloads.flights.invalid_alerts import BROKEN
from tamis_lab.workloads.random_draws import check, draw_in_blocks


@dataclass(frozen=True, kw_only=True)
class Flights:
    """The 336,776 departures of a year, the same for every seed; and as many alerts as you like.

    Attributes:
        alerts: Number of alerts.
        seed: The same seed gives the same alerts.
    """

    alerts: int = 100_000
    seed: int = 2013

    def __post_init__(self) -> None:
        """Check the parameters.

        Raises:
            InputError: A parameter is out of range.
        """
        check(self.alerts >= 1, "alerts", "1 or more")
        check(self.seed >= 0, "seed", "0 or more")

    def subscriptions(self, start: int = 0, count: int | None = None) -> Iterator[Alert]:
        """Yield the alerts as (id, selector, priority), for `Matcher.add_many`.

        Args:
            start: The first alert to yield; the blocks before it are not drawn.
            count: How many; None for all that follow.
        """
        sources = ConstantSources.of(departures())
        drawn = draw_in_blocks(
            self.seed,
            self.alerts,
            lambda rng, rows: drawn_alerts(rng, rows, sources),
            start,
            count,
        )
        for number, (whose, selector, priority) in enumerate(drawn, start):
            yield f"{whose}-{number:06}", selector, priority

    def selectors(self, start: int = 0, count: int | None = None) -> Iterator[str]:
        """Yield the selectors of the alerts."""
        return (selector for _, selector, _ in self.subscriptions(start, count))

    def broken_alerts(self) -> Iterator[Alert]:
        """Yield twenty invalid alerts: some fail to parse, some do not fit the schema."""
        for number, selector in enumerate(BROKEN):
            yield f"broken-{number:02}", selector, 0

    @property
    def schema(self) -> Schema:
        """The types of the attributes; the alerts fit it, the invalid ones do not."""
        return Schema.of(departures().schema)

    def table(self, count: int | None = None, start: int = 0) -> pa.Table:
        """Return the events by time, all or `count` from `start` on; see `departures`.

        Raises:
            InputError: There are fewer events.
        """
        check(0 <= start <= DEPARTURES, "start", f"0 to {DEPARTURES:,}")
        left = DEPARTURES - start
        check(count is None or 0 <= count <= left, "count", f"0 to {left:,}")
        return departures().slice(start, count)

    def events(self, count: int | None = None, start: int = 0) -> EventBatch:
        """Return the same events as a batch."""
        return EventBatch.from_arrow(self.table(count, start))
