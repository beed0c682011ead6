"""Metrics in the text format of Prometheus; no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tamis.broker.fabric.backlog import Backlog
from tamis.broker.service.latency import Histogram

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_COUNTERS = {
    "events": "Events that this broker has matched.",
    "deliveries": "Deliveries that this broker has published, one per event and subscriber.",
    "repeated": "Deliveries that NATS had stored already.",
    "dead": "Events that this broker could not match and stored as dead letters.",
    "expired": "Events whose time to live ended before they were matched.",
    "undeliverable": "Deliveries that NATS did not accept.",
    "batches": "Batches of events that this broker has matched.",
}
_GAUGES = {
    "subscriptions": "Subscriptions that this broker has indexed.",
    "refused": "Entries of the subscription bucket that are not valid subscriptions.",
    "revision": "The last revision of the subscriptions that this broker has indexed.",
}
_NODE_COUNTERS = {
    "evaluations": "Events that this broker has evaluated to route them.",
    "checks": "Events that this broker has matched against the subscriptions of its node.",
    "false_positives": "Events that came over a link and were neither delivered nor forwarded.",
    "looped": "Events that returned to the node where they were published, and were dropped.",
}
_LINK_COUNTERS = {
    "events": "Events over a link, counted when this broker routes them.",
    "bytes": "Bytes of these events.",
    "filter_bytes": "Bytes of the filters that these events carried.",
}
_LINK_GAUGES = {
    "interests_told": "Interests advertised to a neighbour.",
    "interests_received": "Interests received from a neighbour.",
}


def metrics_text(
    status: Mapping[str, object],
    latency: Histogram,
    waiting: Backlog,
    streams: int,
    answers: Mapping[tuple[str, str, int], int],
) -> str:
    """Return all metrics.

    Args:
        status: The status of the broker.
        latency: The time from storing an event to storing its deliveries.
        waiting: The backlog on NATS.
        streams: The number of open streams of deliveries.
        answers: The number of responses of the gateway, by method, path and status.
    """
    lines: list[str] = []
    for name, help in _COUNTERS.items():
        lines += _metric(f"{name}_total", "counter", help, {"": status[name]})
    for name, help in _GAUGES.items():
        lines += _metric(name, "gauge", help, {"": status[name]})
    lines += _metric(
        "events_waiting",
        "gauge",
        "Events that NATS has not delivered to a broker yet.",
        {"": waiting.waiting},
    )
    lines += _metric(
        "events_unacknowledged",
        "gauge",
        "Events that a broker has received and not acknowledged.",
        {"": waiting.unacknowledged},
    )
    lines += _metric(
        "dead_letters",
        "gauge",
        "Dead letters: stored events that could not be matched.",
        {"": waiting.dead},
    )
    lines += _metric(
        "deliveries_unread",
        "gauge",
        "Deliveries that NATS has not sent to the subscriber yet.",
        {_labels(subscriber=name): count for name, count in sorted(waiting.unread.items())},
    )
    lines += _metric("streams", "gauge", "Open streams of deliveries over HTTP.", {"": streams})
    lines += _metric(
        "http_answers_total",
        "counter",
        "HTTP responses of the gateway.",
        {
            _labels(method=method, path=path, status=str(code)): count
            for (method, path, code), count in sorted(answers.items())
        },
    )
    lines += _overlay(status.get("overlay") or {}, waiting)
    return "\n".join([*lines, *_histogram(latency)]) + "\n"


def _overlay(status: Any, waiting: Backlog) -> Iterator[str]:
    """Yield the metrics of a node of an overlay, if the broker is one."""
    if not status:
        return
    for name, help in _NODE_COUNTERS.items():
        yield from _metric(f"overlay_{name}_total", "counter", help, {"": status[name]})
    links = sorted(status["links"].items())
    for name, help in _LINK_COUNTERS.items():
        values = {
            _labels(neighbour=neighbour, direction=way): link[f"{name}_{way}"]
            for neighbour, link in links
            for way in ("in", "out")
        }
        yield from _metric(f"link_{name}_total", "counter", help, values)
    for name, help in _LINK_GAUGES.items():
        values = {_labels(neighbour=neighbour): link[name] for neighbour, link in links}
        yield from _metric(f"link_{name}", "gauge", help, values)
    values = {_labels(neighbour=each): count for each, count in sorted(waiting.links.items())}
    yield from _metric("link_waiting", "gauge", "Events that wait for a neighbour.", values)


def _metric(name: str, kind: str, help: str, values: Mapping[str, object]) -> Iterator[str]:
    yield f"# HELP tamis_{name} {help}"
    yield f"# TYPE tamis_{name} {kind}"
    for labels, value in values.items():
        yield f"tamis_{name}{labels} {value}"


def _histogram(latency: Histogram) -> Iterator[str]:
    name = "tamis_latency_seconds"
    yield f"# HELP {name} Time from storing an event to storing its deliveries; sampled."
    yield f"# TYPE {name} histogram"
    for bound, count in latency.cumulative_counts():
        yield f'{name}_bucket{{le="{bound:g}"}} {count}'
    yield f'{name}_bucket{{le="+Inf"}} {latency.count}'
    yield f"{name}_sum {latency.total:.6f}"
    yield f"{name}_count {latency.count}"


def _labels(**values: str) -> str:
    """Return labels; their values are names and paths, which contain no quotes."""
    return "{" + ",".join(f'{name}="{value}"' for name, value in values.items()) + "}"
