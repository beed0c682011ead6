"""Figures as Prometheus reads them: text, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tamis.broker.fabric.backlog import Backlog
from tamis.broker.service.latency import Histogram

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_COUNTERS = {
    "events": "Events that this broker has judged.",
    "deliveries": "Deliveries that this broker has made: one per event and subscriber.",
    "repeated": "Deliveries that NATS had already.",
    "dead": "Events that this broker could not judge.",
    "expired": "Events whose time was over before they were judged.",
    "undeliverable": "Deliveries that NATS did not take.",
    "batches": "Batches of events.",
}
_GAUGES = {
    "subscriptions": "Subscriptions that this broker has indexed.",
    "refused": "Entries of the bucket of subscriptions that are none.",
    "revision": "The last change of subscriptions that this broker has indexed.",
}
_NODE_COUNTERS = {
    "evaluations": "Events that this broker has held against predicates in order to route them.",
    "checks": "Events that this broker has held against the subscriptions of its node.",
    "false_positives": "Events that came over a link in vain.",
    "looped": "Events that came back to where they were published, and were dropped.",
}
_LINK_COUNTERS = {
    "events": "Events over a link, as this broker has judged them.",
    "bytes": "Bytes of these events.",
    "filter_bytes": "Bytes of the filters that they carried.",
}
_LINK_GAUGES = {
    "interests_told": "Interests that a neighbour is to know.",
    "interests_received": "Interests that a neighbour has told.",
}


def metrics_text(
    status: Mapping[str, object],
    latency: Histogram,
    waiting: Backlog,
    streams: int,
    answers: Mapping[tuple[str, str, int], int],
) -> str:
    """All figures.

    Args:
        status: Of the broker.
        latency: From the time an event was stored until its deliveries were.
        waiting: What waits on NATS.
        streams: Streams of deliveries that are open.
        answers: Of the gateway, by method, path and status.
    """
    lines: list[str] = []
    for name, help in _COUNTERS.items():
        lines += _metric(f"{name}_total", "counter", help, {"": status[name]})
    for name, help in _GAUGES.items():
        lines += _metric(name, "gauge", help, {"": status[name]})
    lines += _metric(
        "events_waiting", "gauge", "Events that no broker has been given.", {"": waiting.waiting}
    )
    lines += _metric(
        "events_unacknowledged",
        "gauge",
        "Events that a broker was given and has not acknowledged.",
        {"": waiting.unacknowledged},
    )
    lines += _metric(
        "dead_letters",
        "gauge",
        "Events kept that could not be judged.",
        {"": waiting.dead},
    )
    lines += _metric(
        "deliveries_unread",
        "gauge",
        "Deliveries that a subscriber has not been given.",
        {_labels(subscriber=name): count for name, count in sorted(waiting.unread.items())},
    )
    lines += _metric("streams", "gauge", "Readers of deliveries over HTTP.", {"": streams})
    lines += _metric(
        "http_answers_total",
        "counter",
        "Answers of the gateway.",
        {
            _labels(method=method, path=path, status=str(code)): count
            for (method, path, code), count in sorted(answers.items())
        },
    )
    lines += _overlay(status.get("overlay") or {}, waiting)
    return "\n".join([*lines, *_histogram(latency)]) + "\n"


def _overlay(told: Any, waiting: Backlog) -> Iterator[str]:
    """The figures of a node of an overlay, if it is one."""
    if not told:
        return
    for name, help in _NODE_COUNTERS.items():
        yield from _metric(f"overlay_{name}_total", "counter", help, {"": told[name]})
    links = sorted(told["links"].items())
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
    yield f"# HELP {name} From the storing of an event to that of its deliveries; of some events."
    yield f"# TYPE {name} histogram"
    for bound, count in latency.cumulative_counts():
        yield f'{name}_bucket{{le="{bound:g}"}} {count}'
    yield f'{name}_bucket{{le="+Inf"}} {latency.count}'
    yield f"{name}_sum {latency.total:.6f}"
    yield f"{name}_count {latency.count}"


def _labels(**values: str) -> str:
    """Labels; the values are names and paths of ours, without quotes."""
    return "{" + ",".join(f'{name}="{value}"' for name, value in values.items()) + "}"
