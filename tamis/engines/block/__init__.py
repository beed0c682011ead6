"""The block engine: the default.

Its parts, in the order in which a subscription meets them: `draft` turns selectors into words on
the `axes`; `plan` hangs each under its cheapest cover, by the `shares` of events that satisfy its
leaves; with their `ledger` they are a `segment`, which never changes. `reader` brings events onto
the axes.

What an engine holds, under one lock, is its `contents`: the `stack` of segments, what is `pending`,
what is known of `recent` events. A `worker` does the `upkeep`; `engine` takes changes and matches.

What people see of it: `describe` (one subscription), `costs` (by what each `tally` has counted),
`survey` and `draw` (all of it).
"""

from __future__ import annotations

from tamis.engines.block.engine import BlockEngine

__all__ = ["BlockEngine"]
