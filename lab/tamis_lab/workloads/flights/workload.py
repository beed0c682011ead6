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
        alerts: How many there are.
        seed: The same seed gives the same alerts.
    """

    alerts: int = 100_000
    seed: int = 2013

    def __post_init__(self) -> None:
        """Refuse what cannot be made.

        Raises:
            InputError: A parameter is out of range.
        """
        check(self.alerts >= 1, "alerts", "1 or more")
        check(self.seed >= 0, "seed", "0 or more")

    def subscriptions(self, start: int = 0, count: int | None = None) -> Iterator[Alert]:
        """The alerts as (id, selector, priority), for `Matcher.add_many`.

        Args:
            start: The first of them; those before it are not drawn, but for some in its own block.
            count: How many; None for all from there.
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
        """Their selectors alone."""
        return (selector for _, selector, _ in self.subscriptions(start, count))

    def broken_alerts(self) -> Iterator[Alert]:
        """Twenty more that are refused, as some always are: of syntax, or by the schema."""
        for number, selector in enumerate(BROKEN):
            yield f"broken-{number:02}", selector, 0

    @property
    def schema(self) -> Schema:
        """The types of the attributes, by which the alerts are good and the broken ones are not."""
        return Schema.of(departures().schema)

    def table(self, count: int | None = None, start: int = 0) -> pa.Table:
        """The events by time, all or so many from the one at `start`; `data` says what they are.

        Raises:
            InputError: There are not so many.
        """
        check(0 <= start <= DEPARTURES, "start", f"0 to {DEPARTURES:,}")
        left = DEPARTURES - start
        check(count is None or 0 <= count <= left, "count", f"0 to {left:,}")
        return departures().slice(start, count)

    def events(self, count: int | None = None, start: int = 0) -> EventBatch:
        """The same as a batch."""
        return EventBatch.from_arrow(self.table(count, start))
