"""Tamis: content-based publish/subscribe. Which of a million selectors does an event satisfy?

>>> import tamis
>>> m = tamis.Matcher()
>>> m.add("cheap-pcs", "company IN ('IBM', 'Dell') AND price <= 1000")
>>> m.match({"company": "IBM", "price": 900})
['cheap-pcs']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tamis import errors
    from tamis.broker import connect
    from tamis.engines import ENGINES
    from tamis.errors import TamisError
    from tamis.events.batch import EventBatch
    from tamis.language import parse
    from tamis.matcher import Matcher
    from tamis.matches import Matches
    from tamis.schema import Schema

__version__ = "0.1.0"

__all__ = [
    "ENGINES",
    "EventBatch",
    "Matcher",
    "Matches",
    "Schema",
    "TamisError",
    "connect",
    "errors",
    "parse",
]

# Imported on first use, so that `tamis --help` does not wait for Arrow.
_HOMES = {
    "ENGINES": "tamis.engines",
    "EventBatch": "tamis.events.batch",
    "Matcher": "tamis.matcher",
    "Matches": "tamis.matches",
    "Schema": "tamis.schema",
    "TamisError": "tamis.errors",
    "connect": "tamis.broker",
    "parse": "tamis.language",
}


def __getattr__(name: str) -> object:
    if name == "errors":
        return import_module("tamis.errors")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tamis' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
