"""All sequences of a matcher: the matches of their steps go into the states of their keys."""

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
    """An event, by its position, a sequence, and the places of the steps that it satisfies."""

    event: int
    subscription: Subscription
    satisfied: list[int]


class _Use(NamedTuple):
    """A step in a sequence."""

    keyed: KeyedSequence
    number: int


class Sequences:
    """Sequences by id, over an engine for their steps.

    Matching changes states, one thread at a time. The engine is asked before that, by all threads
    at once: what fails there has changed nothing.
    """

    def __init__(
        self, engine: Callable[[], Engine], timing: EventClock, *, running: bool = True
    ) -> None:
        """Begin with none; the engine is made when the first comes.

        Args:
            engine: What makes an engine without subscriptions, for the steps.
            timing: Where times come from.
            running: Whether events go to them; else they are known, and nothing more.
        """
        self._make = engine
        self.timing = timing
        self.running = running
        self._engine: Engine | None = None
        self._steps: Steps | None = None
        self._keyed: dict[Id, KeyedSequence] = {}
        # A dict as an ordered set: a step may be that of very many sequences.
        self._uses: dict[int, dict[_Use, None]] = {}
        self._lock = RLock()

    # -- subscriptions ----------------------------------------------------------------------------

    def add(self, subscription: Subscription) -> None:
        """Take a sequence.

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
        """Forget a sequence, and what it has seen.

        Raises:
            KeyError: There is none of that id.
        """
        with self._lock:
            keyed = self._keyed.pop(id)
            if self._steps is None:  # they do not run
                return
            for place, number in enumerate(self._steps.remove(keyed.subscription)):
                del self._uses[number][_Use(keyed, place)]
                if not self._uses[number]:
                    del self._uses[number]

    def __getitem__(self, id: Id) -> KeyedSequence:
        """A sequence and its states; KeyError if there is none."""
        return self._keyed[id]

    def __contains__(self, id: object) -> bool:
        """Whether there is a sequence of that id."""
        return id in self._keyed

    def __iter__(self) -> Iterator[Id]:
        """The ids, in the order of adding."""
        return iter(self._keyed)

    def __len__(self) -> int:
        """How many sequences there are."""
        return len(self._keyed)

    def definitions(self) -> list[tuple[Id, str, int]]:
        """Id, selector and priority of each."""
        held = [keyed.subscription for keyed in list(self._keyed.values())]
        return [(one.id, one.text, one.priority) for one in held]

    # -- events -----------------------------------------------------------------------------------

    def match(self, batch: EventBatch) -> list[Completion]:
        """Take a batch of events: which of them complete what."""
        events, steps = self._satisfied_steps(batch)
        return self._run(batch, events, steps) if steps else []

    def step_matches(self, batch: EventBatch) -> list[StepMatch]:
        """Which events satisfy which steps; for who keeps the states elsewhere: none changes."""
        events, steps = self._satisfied_steps(batch)
        return [
            StepMatch(event, keyed.subscription, places)
            for event, satisfied in zip(events.tolist(), steps, strict=True)
            for keyed, places in self._steps_by_sequence(satisfied).items()
        ]

    def _satisfied_steps(self, batch: EventBatch) -> tuple[Ints, list[list[int]]]:
        """The events that satisfy any step, and the numbers of these."""
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
        """The same for one event, quickly; None to have `match` asked."""
        engine = self._engine
        if engine is None or not self._keyed:
            return []
        steps = engine.match_event(event) if isinstance(engine, SingleEventEngine) else None
        if not steps:
            return None if steps is None else []
        return self._run(EventBatch.of([event]), np.zeros(1, np.int64), [steps])  # type: ignore[list-item]

    def _run(self, batch: EventBatch, events: Ints, steps: list[list[int]]) -> list[Completion]:
        """Take events that satisfy some steps, in order of time."""
        done: list[Completion] = []
        keys: dict[Path | None, list[Key | None]] = {None: [()] * len(events)}
        with self._lock:
            times = self.timing.event_times(batch, events)
            # Those of the same time stay in the order in which they came.
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
        """By sequence, the places of its steps; a step may have been removed meanwhile."""
        touched: dict[KeyedSequence, list[int]] = {}
        for step in steps:
            for keyed, place in self._uses.get(step, ()):
                touched.setdefault(keyed, []).append(place)
        return touched

    # -- looking around ---------------------------------------------------------------------------

    def explain(self, id: Id, batch: EventBatch) -> SequenceExplanation:
        """What the one event of a batch would do to a sequence, if it came now; it does not come.

        Raises:
            KeyError: There is none of that id.
        """
        with self._lock:
            keyed, one = self._keyed[id], np.zeros(1, np.int64)
            time = self.timing.event_times(batch, one)[0]
            value = None if keyed.per is None else values_at(batch, keyed.per, one)[0]
            key = () if keyed.per is None else key_of(value)
            return explain_sequence(keyed, batch.row(0), key, time, self.timing.name)

    def stats(self) -> dict[str, object]:
        """How many sequences, distinct steps and keys there are, and events that came too late."""
        with self._lock:
            held = self._keyed.values()
            return {
                "sequences": len(held),
                "sequence_steps": 0 if self._steps is None else len(self._steps),
                "sequence_keys": sum(map(len, held)),
                "sequence_late": sum(keyed.late for keyed in held),
            }

    def __getstate__(self) -> dict[str, object]:
        """Leave out what is only for this process."""
        with self._lock:
            return {**self.__dict__, "_lock": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Begin with nobody at work."""
        self.__dict__.update(state)
        self._lock = RLock()
