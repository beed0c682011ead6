"""Route events: to which neighbours, and whether to the subscribers of this node.

The matcher uses it on the executor. An event on a link carries where and when it was published, the
number of links that it has crossed and, with edge routing, its filter.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable
from typing import NamedTuple

from tamis.bloom.filter import Bloom
from tamis.broker.overlay.node_table import OverlayTable
from tamis.broker.overlay.overlay_counters import NodeFigures
from tamis.broker.protocol.event_messages import Event, OutgoingMessage
from tamis.broker.protocol.names import Names
from tamis.broker.protocol.time_to_live import remaining_ttl_headers
from tamis.broker.protocol.wire import AGAIN, FILTER, HOPS, MSG_ID, ORIGIN, PUBLISHED
from tamis.events.batch import EventBatch
from tamis.routing.router import HERE, Route
from tamis.routing.strategies import EdgeRouter

_ONLY_HERE = Route(frozenset(), True)
_NOWHERE = Route(frozenset(), False)


class BatchRoute(NamedTuple):
    """The routes of a batch of events.

    Attributes:
        here: The positions of the events that may match subscriptions of this node.
        links: The messages to forward over links.
        doubtful: The positions of the events that came over a link and are not forwarded.
    """

    here: list[int]
    links: list[OutgoingMessage]
    doubtful: list[int]


class Forwarder:
    """Routes events with the table of a node."""

    def __init__(self, table: OverlayTable, names: Names, figures: NodeFigures) -> None:
        """Take the parts of a node."""
        self._table = table
        self._names = names
        self._figures = figures
        self._from = f"{names.events}.link."

    def source(self, event: Event) -> str:
        """Return the neighbour that an event came from; HERE if it was published here."""
        # Without an origin it belongs to a batch of a writer that is named `link`.
        if event.headers and ORIGIN in event.headers and event.subject.startswith(self._from):
            return event.subject[len(self._from) :]
        return HERE

    def origin(self, event: Event) -> str:
        """Return where an event was published: the node, and its number there."""
        if event.headers and self.source(event):
            return event.headers[ORIGIN]
        return f"{self._table.name}.{event.place.sequence}"

    def delivery_headers(self, event: Event) -> dict[str, str]:
        """Return the headers that an overlay adds to a delivery."""
        headers = {ORIGIN: self.origin(event)}
        if event.headers and PUBLISHED in event.headers and self.source(event):
            headers[PUBLISHED] = event.headers[PUBLISHED]
        return headers

    def route_batch(self, events: list[Event], batch: EventBatch) -> BatchRoute:
        """Route a batch of events; `batch` holds the same events as columns."""
        here: list[int] = []
        links: list[OutgoingMessage] = []
        doubtful: list[int] = []
        sources = [self.source(event) for event in events]
        carried = self._carried_filters(events, sources)
        routes = self._routes(events, sources, [bloom for bloom, _ in carried], batch)
        for i, (event, source, route) in enumerate(zip(events, sources, routes, strict=True)):
            bloom, text = carried[i]
            if source:
                figures = self._figures.link(source)
                figures.events_in += 1
                figures.bytes_in += len(event.data)
                figures.filter_bytes_in += len(text)
            if route.here:
                here.append(i)
            if route.neighbours:
                if route.bloom is not bloom:
                    text = _filter_text(route.bloom)
                links += self._link_messages(event, source, route, text)
            elif source:
                doubtful.append(i)
        self._figures.checks += len(here)
        return BatchRoute(here, links, doubtful)

    def count_false_positives(
        self, doubtful: Iterable[int], delivered: set[int], rows: list[dict[str, object]]
    ) -> None:
        """Count the events that arrived over a link and were neither delivered nor forwarded.

        Args:
            doubtful: The positions of the events that came over a link and are not forwarded.
            delivered: The positions of the events that were delivered here.
            rows: All events, as they are matched.
        """
        for i in doubtful:
            if i not in delivered and not self._table.is_step(rows[i]):
                self._figures.false_positives += 1

    def _carried_filters(
        self, events: list[Event], sources: list[str]
    ) -> list[tuple[Bloom | None, str]]:
        """Return the filters that events carry over links, and their texts.

        An event without a usable filter gets a new one. A filter is unusable if it is malformed, or
        has another shape, from before the shape was changed in the overlay.
        """
        router = self._table.router
        if not isinstance(router, EdgeRouter):
            return [(None, "")] * len(events)
        pairs = zip(events, sources, strict=True)
        texts = [(event.headers or {}).get(FILTER, "") if source else "" for event, source in pairs]
        filters = Bloom.from_many(router.shape, [_filter_bytes(text) for text in texts])
        return [
            (None, "") if bloom is None else (bloom, text)
            for bloom, text in zip(filters, texts, strict=True)
        ]

    def _routes(
        self,
        events: list[Event],
        sources: list[str],
        filters: list[Bloom | None],
        batch: EventBatch,
    ) -> list[Route]:
        """Return the route of each event."""
        routes = [_ONLY_HERE] * len(events)
        routed = []
        for i, (event, source) in enumerate(zip(events, sources, strict=True)):
            if source and self.origin(event).rpartition(".")[0] == self._table.name:
                self._figures.looped += 1
                routes[i] = _NOWHERE
            elif source or self._table.links:
                routed.append(i)
        # An event with a filter is routed by the filter alone; its row need not be rebuilt from the
        # columns.
        fresh = any(filters[i] is None for i in routed)
        rows = batch.rows() if fresh else [event.row for event in events]
        answers = self._table.router.route_many(
            [rows[i] for i in routed], [sources[i] for i in routed], [filters[i] for i in routed]
        )
        for i, route in zip(routed, answers, strict=True):
            routes[i] = route
        return routes

    def _link_messages(
        self, event: Event, source: str, route: Route, text: str
    ) -> Iterable[OutgoingMessage]:
        received = event.headers or {}
        origin = self.origin(event)
        headers = {
            MSG_ID: origin,
            ORIGIN: origin,
            HOPS: str(int(received.get(HOPS, 0)) + 1 if source else 1),
            PUBLISHED: (received.get(PUBLISHED) if source else None) or str(event.place.time),
        }
        if text:
            headers[FILTER] = text
        if event.place.delivered > 1:
            headers[AGAIN] = str(event.place.delivered - 1)
        elif source and AGAIN in received:
            headers[AGAIN] = received[AGAIN]
        headers |= remaining_ttl_headers(event.ttl)
        for neighbour in sorted(route.neighbours):
            figures = self._figures.link(neighbour)
            figures.events_out += 1
            figures.bytes_out += len(event.data)
            figures.filter_bytes_out += len(text)
            yield OutgoingMessage(self._names.link(neighbour), event.data, headers)


def _filter_bytes(text: str) -> bytes:
    try:
        return b64decode(text)
    except ValueError:
        return b""


def _filter_text(bloom: Bloom | None) -> str:
    return "" if bloom is None else b64encode(bloom.to_bytes()).decode()
