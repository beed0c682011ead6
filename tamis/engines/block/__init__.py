"""The block engine: the default.

Its parts, in the order in which a subscription meets them: `draft` turns selectors into words on
the `axes`; `plan` hangs each under its cheapest cover, by the `shares` of events that satisfy its
leaves; with their `ledger` they are a `segment`, which never changes; `engine` keeps a stack of
segments, and matches. `reader` brings events onto the axes.
"""

from __future__ import annotations

from tamis.engines.block.engine import BlockEngine

__all__ = ["BlockEngine"]
