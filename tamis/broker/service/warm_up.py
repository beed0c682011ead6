"""Compile and load the kernels before the first subscription and the first event.

Numba compiles a kernel at its first call and caches it beside the code, which takes up to a minute,
once per installation. After that loading takes about a second. Subscribers should notice neither.
"""

from __future__ import annotations

from tamis.bloom.filter import Bloom
from tamis.broker.config.settings import Settings
from tamis.matcher import Matcher
from tamis.routing.interest import Interest
from tamis.routing.router import HERE
from tamis.routing.strategies import router

_SELECTORS = (
    "a = 1 AND b > 2",
    "a IN (1, 2) OR s = 'x'",
    "contains(s, 'x') AND NOT (c <= 0.5)",
    "b IS NULL",
)
_EVENTS: list[dict[str, object]] = [
    {"a": n % 3, "b": None if n % 5 else n, "c": n / 3, "s": "xyz"[n % 3]} for n in range(64)
]


def warm(settings: Settings) -> None:
    """Call every kernel once that a broker with these settings uses."""
    matcher = Matcher()
    for number, selector in enumerate(_SELECTORS):
        matcher.add(number, selector)
    matcher.match_batch(_EVENTS).per_event()
    matcher.remove(0)
    matcher.match_batch(_EVENTS[:1]).per_event()
    if settings.node is not None:
        routing = router(settings.node.routing, settings.node.shape, narrow=True)
        routing.join("a")
        for selector in _SELECTORS:
            routing.subscribe(Interest.parse(selector), "a")
        many = len(_EVENTS)
        routes = routing.route_many(_EVENTS, [HERE] * many, [None] * many)
        filters = [b"" if route.bloom is None else route.bloom.to_bytes() for route in routes]
        carried = Bloom.from_many(settings.node.shape, filters)
        routing.route_many(_EVENTS, ["a"] * many, carried)
        routing.leave("a")
