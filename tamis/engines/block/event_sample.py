"""What is known of events: a few of them, which plans go by, and how long nothing has changed."""

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

# Events that the plans go by, and how many pass before others are taken.
_SAMPLED = 1024
_SAMPLE_LEAST = 64
_RESAMPLED = 1 << 20
# When so many events have come since the last change, one segment is made of all.
_QUIET = 1 << 17


class RecentEvents:
    """Recent events. It is for one thread at a time: whoever asks holds the engine's lock."""

    def __init__(self) -> None:
        """Begin with none."""
        self._events: EventBatch | None = None
        self._seen = 0
        self._unchanged = 0

    def __len__(self) -> int:
        """How many events were kept."""
        return 0 if self._events is None else len(self._events)

    @property
    def has_events(self) -> bool:
        """Whether there are events to go by."""
        return self._events is not None

    @property
    def is_quiet(self) -> bool:
        """Whether subscriptions have not changed for long."""
        return self._unchanged >= _QUIET

    def notice(self, batch: EventBatch) -> bool:
        """Keep some events now and then; whether these are kept."""
        self._seen += len(batch)
        stale = self._events is None or self._seen >= _RESAMPLED
        if not stale or len(batch) < _SAMPLE_LEAST:
            return False
        self.keep(batch)
        return True

    def keep(self, batch: EventBatch) -> None:
        """Go by these events from now on."""
        self._events, self._seen = _sample_events(batch), 0

    def count_unchanged(self, events: int) -> bool:
        """So many events have come without a change; whether it has just become enough."""
        was_quiet = self.is_quiet
        self._unchanged += events
        return self.is_quiet and not was_quiet

    def reset_unchanged(self) -> None:
        """There is a new subscription."""
        self._unchanged = 0

    def assume_quiet(self) -> None:
        """Do as if nothing had changed for long."""
        self._unchanged = max(self._unchanged, _QUIET)

    def sample(
        self, terms: Terms, index: PredicateIndex, segments: Iterable[Segment]
    ) -> EventSample | None:
        """The events, to lay out selectors by; None if there are none.

        Args:
            terms: All terms.
            index: All predicates: one that is not in it yet counts as satisfied by none.
            segments: Those whose terms must be computed.
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
            # A function is not made for these events: it is those to come that it must answer for.
            self._events = None
            return None

        def count(predicate: object) -> int:
            number = index.find(predicate)  # type: ignore[arg-type]
            return 0 if counts is None or number is None else int(counts[number])

        return EventSample(lambda axes: columns.rows(axes, axes.lookup(slots)), count)


def _sample_events(batch: EventBatch) -> EventBatch:
    """Some of the events, from all over the batch, in memory of their own."""
    chosen = np.unique(np.linspace(0, len(batch) - 1, _SAMPLED).astype(np.int64))
    columns = {
        path: tuple(Column(column.type, column.data.take(chosen)) for column in found)
        for path, found in batch.columns.items()
    }
    return EventBatch(columns, len(chosen), batch.schema, batch.semantics)
