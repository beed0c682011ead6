"""Events built from paths: `("user", "city")` and "Lyon" make `{"user": {"city": "Lyon"}}`."""

from __future__ import annotations

from tamis.paths import Path

Event = dict[str, object]


def nested_event(path: Path, value: object) -> Event:
    """Return the event that holds one value, at a path.

    >>> nested_event(("user", "city"), "Lyon")
    {'user': {'city': 'Lyon'}}
    """
    event: Event = {}
    put(event, path, value)
    return event


def put(event: Event, path: Path, value: object) -> bool:
    """Put a value at a path of an event, in place.

    Returns:
        False if the event already has another value at the path, or on the way to it; the event is
        then unchanged. An empty object at a path that holds an object counts as put.
    """
    *outer, name = path
    inside = event
    for step in outer:
        inner = inside.setdefault(step, {})
        if not isinstance(inner, dict):
            return False
        inside = inner
    if name in inside:
        return value == {} and isinstance(inside[name], dict)
    inside[name] = value
    return True
