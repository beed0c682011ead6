"""A sample of recent events to plan with, and how long subscriptions have not changed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tamis.engines.block.match.rank_rows import Columns
from tamis.engines.block.segment.segment import EventSample, Segment
from tamis.engines.block.terms import Terms
from tamis.errors import FunctionError
from tamis.events.batch import Column, EventBatch
from tamis.kernels.block.words import Longs
from tamis.predicates import PredicateIndex

# The size of the sample, the smallest batch it is taken from, and the number of events after which
# it is replaced.
_SAMPLED = 1024
_SAMPLE_LEAST = 64
_RESAMPLED = 1 << 20
# After this many events without a change, all segments are merged into one.
_QUIET = 1 << 17


class RecentEvents:
    """A sample of recent events. Not thread-safe: callers hold the engine's lock."""

    def __init__(self) -> None:
        """Create an empty sample."""
        self._events: EventBatch | None = None
        self._seen = 0
        self._unchanged = 0

    def __len__(self) -> int:
        """Return the number of events in the sample."""
        return 0 if self._events is None else len(self._events)

    @property
    def has_events(self) -> bool:
        """Whether the sample has events."""
        return self._events is not None

    @property
    def is_quiet(self) -> bool:
        """Whether subscriptions have not changed for many events."""
        return self._unchanged >= _QUIET

    def notice(self, batch: EventBatch) -> bool:
        """Replace the sample if it is missing or old; return whether it was replaced."""
        self._seen += len(batch)
        stale = self._events is None or self._seen >= _RESAMPLED
        if not stale or len(batch) < _SAMPLE_LEAST:
            return False
        self.keep(batch)
        return True

    def keep(self, batch: EventBatch) -> None:
        """Replace the sample by one of these events."""
        self._events, self._seen = _sample_events(batch), 0

    def count_unchanged(self, events: int) -> bool:
        """Count events without a change; return whether subscriptions have just become quiet."""
        was_quiet = self.is_quiet
        self._unchanged += events
        return self.is_quiet and not was_quiet

    def reset_unchanged(self) -> None:
        """Restart the count of events without a change."""
        self._unchanged = 0

    def assume_quiet(self) -> None:
        """Treat subscriptions as quiet now."""
        self._unchanged = max(self._unchanged, _QUIET)

    def sample(
        self, terms: Terms, index: PredicateIndex, segments: Iterable[Segment]
    ) -> EventSample | None:
        """Return the sample to lay out selectors with; None if there are no events.

        Args:
            terms: All terms.
            index: All predicates; one that is missing counts as satisfied by no event.
            segments: The segments whose derived terms must be computed.
        """
        events = self._events
        if events is None:
            return None
        slots = len(terms)
        counts: Longs | None = None
        try:
            derived = {slot for segment in segments for slot in segment.derived_terms(terms)}
            columns = Columns(events, terms, derived)
            if len(index):
                found = index.satisfied_predicates(events).ids
                counts = np.bincount(found, minlength=index.capacity)
        except FunctionError:
            # A function of the user fails on sampled events. Only new events must report that, so
            # the sample is dropped.
            self._events = None
            return None

        def count(predicate: object) -> int:
            number = index.find(predicate)  # type: ignore[arg-type]
            return 0 if counts is None or number is None else int(counts[number])

        return EventSample(lambda axes: columns.rows(axes, axes.lookup(slots)), count)


def _sample_events(batch: EventBatch) -> EventBatch:
    """Return events spread evenly over the batch, copied."""
    chosen = np.unique(np.linspace(0, len(batch) - 1, _SAMPLED).astype(np.int64))
    columns = {
        path: tuple(Column(column.type, column.data.take(chosen)) for column in found)
        for path, found in batch.columns.items()
    }
    return EventBatch(columns, len(chosen), batch.schema, batch.semantics)
