"""The block engine: the default.

A subscription passes through these parts:

- `draft/` turns its selector into words whose leaves are intervals of ranks on axes.
- `layout/` indexes each selector under its cheapest cover, given the share of events that satisfies
  each leaf (`selectivity`), or leaves it to be matched in blocks of events (`plan`).
- `segment/` holds the result, which never changes, and its `ledger` of ids, texts and priorities.
- `match/` ranks events on the axes and matches them.

`contents` is the state of an engine, under one lock: the `stack` of segments, the pending
subscriptions (`draft/head`) and the sample of recent events (`event_sample`). A `worker` thread
does the `maintenance`; `engine` takes changes and matches.

`report/` describes an engine to people: `describe` (one subscription), `costs` (from the counters
of `tally`), `statistics` and `draw` (the whole engine).
"""

from __future__ import annotations

from tamis.engines.block.engine import BlockEngine

__all__ = ["BlockEngine"]
