"""All sequences of a matcher: matches of their steps update the states of their keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from threading import RLock
from typing import NamedTuple

import numpy as np

from tamis.engines import Engine
from tamis.engines.protocol import SingleEventEngine
from tamis.engines.subscription import Subscription
from tamis.events.batch import EventBatch
from tamis.matches import Id
from tamis.matches.code_names import Ints
from tamis.paths import Path
from tamis.sequences.event_time import EventClock, values_at
from tamis.sequences.key_states import KeyedSequence
from tamis.sequences.key_values import Key, key_of
from tamis.sequences.sequence_explanation import SequenceExplanation, explain_sequence
from tamis.sequences.steps import Steps


class Completion(NamedTuple):
    """An event, by its position, and a sequence that it completes."""

    event: int
    subscription: Subscription


class StepMatch(NamedTuple):
    """An event, by its position, a sequence, and the positions of the steps it satisfies."""

    event: int
    subscription: Subscription
    satisfied: list[int]


class _Use(NamedTuple):
    """A sequence that uses a step, and the position of the step in it."""

    keyed: KeyedSequence
    number: int


class Sequences:
    """Sequences by id, over an engine for their steps.

    Matching changes states under a lock, one thread at a time. The steps are matched before that,
    in all threads in parallel: an error there changes no state.
    """

    def __init__(
        self, engine: Callable[[], Engine], timing: EventClock, *, running: bool = True
    ) -> None:
        """Start without sequences; the engine is created with the first one.

        Args:
            engine: Creates an engine without subscriptions, for the steps.
            timing: The source of the times of events.
            running: Whether sequences see events. If not, they are stored but never match.
        """
        self._make = engine
        self.timing = timing
        self.running = running
        self._engine: Engine | None = None
        self._steps: Steps | None = None
        self._keyed: dict[Id, KeyedSequence] = {}
        # A dict as an ordered set: very many sequences may share a step.
        self._uses: dict[int, dict[_Use, None]] = {}
        self._lock = RLock()

    # -- subscriptions ----------------------------------------------------------------------------

    def add(self, subscription: Subscription) -> None:
        """Add a sequence.

        Raises:
            UnsupportedExpression: The engine cannot express one of its steps.
        """
        with self._lock:
            if not self.running:
                self._keyed[subscription.id] = KeyedSequence(subscription)
                return
            if self._steps is None:
                self._engine = self._make()
                self._steps = Steps(self._engine)
            numbers = self._steps.add(subscription)
            keyed = self._keyed[subscription.id] = KeyedSequence(subscription)
            for place, number in enumerate(numbers):
                self._uses.setdefault(number, {})[_Use(keyed, place)] = None

    def remove(self, id: Id) -> None:
        """Remove a sequence and its states.

        Raises:
            KeyError: No sequence has this id.
        """
        with self._lock:
            keyed = self._keyed.pop(id)
            if self._steps is None:  # not running
                return
            for place, number in enumerate(self._steps.remove(keyed.subscription)):
                del self._uses[number][_Use(keyed, place)]
                if not self._uses[number]:
                    del self._uses[number]

    def __getitem__(self, id: Id) -> KeyedSequence:
        """Return a sequence with its states; KeyError if no sequence has this id."""
        return self._keyed[id]

    def __contains__(self, id: object) -> bool:
        """Return whether a sequence has this id."""
        return id in self._keyed

    def __iter__(self) -> Iterator[Id]:
        """Iterate over the ids in order of insertion."""
        return iter(self._keyed)

    def __len__(self) -> int:
        """Return the number of sequences."""
        return len(self._keyed)

    def definitions(self) -> list[tuple[Id, str, int]]:
        """Return the id, selector and priority of each sequence."""
        held = [keyed.subscription for keyed in list(self._keyed.values())]
        return [(one.id, one.text, one.priority) for one in held]

    # -- events -----------------------------------------------------------------------------------

    def match(self, batch: EventBatch) -> list[Completion]:
        """Process a batch of events; return which of them complete which sequences."""
        events, steps = self._satisfied_steps(batch)
        return self._run(batch, events, steps) if steps else []

    def step_matches(self, batch: EventBatch) -> list[StepMatch]:
        """Return which events satisfy which steps, without changing any state.

        For callers that keep the states elsewhere, such as Spark.
        """
        events, steps = self._satisfied_steps(batch)
        return [
            StepMatch(event, keyed.subscription, places)
            for event, satisfied in zip(events.tolist(), steps, strict=True)
            for keyed, places in self._steps_by_sequence(satisfied).items()
        ]

    def _satisfied_steps(self, batch: EventBatch) -> tuple[Ints, list[list[int]]]:
        """Return the events that satisfy any step, and the numbers of these steps."""
        engine = self._engine
        if engine is None or not self._keyed:
            return np.zeros(0, np.int64), []
        found = engine.match(batch)
        event, steps = found.event, found.subscription.tolist()
        if not steps:
            return np.zeros(0, np.int64), []
        events, first = np.unique(event, return_index=True)
        bounds = pairwise([*first.tolist(), len(steps)])
        return events, [steps[low:high] for low, high in bounds]

    def match_event(self, event: Mapping[str, object]) -> list[Completion] | None:
        """Process one event, faster than `match`; None if the engine needs `match` for it."""
        engine = self._engine
        if engine is None or not self._keyed:
            return []
        steps = engine.match_event(event) if isinstance(engine, SingleEventEngine) else None
        if not steps:
            return None if steps is None else []
        return self._run(EventBatch.of([event]), np.zeros(1, np.int64), [steps])  # type: ignore[list-item]

    def _run(self, batch: EventBatch, events: Ints, steps: list[list[int]]) -> list[Completion]:
        """Process events that satisfy some steps, in order of time."""
        done: list[Completion] = []
        keys: dict[Path | None, list[Key | None]] = {None: [()] * len(events)}
        with self._lock:
            times = self.timing.event_times(batch, events)
            # Events of the same time keep their order of arrival.
            timed = [(time, i) for i, time in enumerate(times) if time is not None]
            for time, i in timed if self.timing.attribute is None else sorted(timed):
                for keyed, satisfied in self._steps_by_sequence(steps[i]).items():
                    if keyed.per not in keys:
                        values = values_at(batch, keyed.per, events)  # type: ignore[arg-type]
                        keys[keyed.per] = [key_of(value) for value in values]
                    key = keys[keyed.per][i]
                    if key is not None and keyed.process_event(key, satisfied, time):
                        done.append(Completion(int(events[i]), keyed.subscription))
        return done

    def _steps_by_sequence(self, steps: list[int]) -> dict[KeyedSequence, list[int]]:
        """Return the positions of the steps by sequence; a step may have been removed meanwhile."""
        touched: dict[KeyedSequence, list[int]] = {}
        for step in steps:
            for keyed, place in self._uses.get(step, ()):
                touched.setdefault(keyed, []).append(place)
        return touched

    # -- introspection ---------------------------------------------------------------------------

    def explain(self, id: Id, batch: EventBatch) -> SequenceExplanation:
        """Explain what the one event of a batch would do to a sequence, without processing it.

        Raises:
            KeyError: No sequence has this id.
        """
        with self._lock:
            keyed, one = self._keyed[id], np.zeros(1, np.int64)
            time = self.timing.event_times(batch, one)[0]
            value = None if keyed.per is None else values_at(batch, keyed.per, one)[0]
            key = () if keyed.per is None else key_of(value)
            return explain_sequence(keyed, batch.row(0), key, time, self.timing.name)

    def stats(self) -> dict[str, object]:
        """Return the numbers of sequences, distinct steps, keys, and events that were too late."""
        with self._lock:
            held = self._keyed.values()
            return {
                "sequences": len(held),
                "sequence_steps": 0 if self._steps is None else len(self._steps),
                "sequence_keys": sum(map(len, held)),
                "sequence_late": sum(keyed.late for keyed in held),
            }

    def __getstate__(self) -> dict[str, object]:
        """Pickle without the lock."""
        with self._lock:
            return {**self.__dict__, "_lock": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore with a new lock."""
        self.__dict__.update(state)
        self._lock = RLock()
