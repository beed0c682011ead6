"""The states of sequences on a stream: `transformWithState`, by event time.

Matches of steps wait until the watermark has passed them, and are then processed in order of time.
A match that is not after the watermark on arrival is late and is dropped, because those of its time
have been processed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from tamis.sequences.state_machine import Machine, SequenceState
from tamis.spark.sequences.sorted_run import expiry, step_order

_STATE = "time bigint, starts array<bigint>, alarm bigint"
_WAITING = (
    "time bigint, order bigint, satisfied array<int>, "
    "priority bigint, index_version bigint, event binary"
)
_DONE = ("subscription", "priority", "index_version", "began", "event")
_MILLI = 1000


class States(StatefulProcessor):
    """The state of one sequence with one key, which Spark passes to every call.

    There is a timer for the first match that waits, or earlier, and one for the expiry of the
    state, or earlier: `alarm`, which is stored with the state so that there are few timers. A
    superfluous timer does nothing.
    """

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state."""
        self._handle = handle
        self._state = handle.getValueState("state", _STATE)
        self._waiting = handle.getListState("waiting", _WAITING)

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        """Store matches until the watermark has passed them."""
        passed = timerValues.getCurrentWatermarkInMs() * _MILLI
        new = [
            (row.time, row.order, row.satisfied, row.priority, row.index_version, row.event)
            for row in rows
            if row.time > passed
        ]
        if new:
            self._waiting.appendList(new)
            self._handle.registerTimer(_millis(min(row[0] for row in new)))
        return iter(())

    def handleExpiredTimer(
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[Row]:
        """Process the matches that the watermark has passed, and expire the state."""
        subscription, _, steps, within, _ = key
        machine, watermark = Machine(steps, within), timerValues.getCurrentWatermarkInMs()
        held = self._state.get()
        state = None if held is None else SequenceState(held[0], tuple(held[1]))
        alarm = None if held is None else held[2]
        waiting = list(self._waiting.get())
        ready = [row for row in waiting if row[0] <= watermark * _MILLI]
        done: list[Row] = []
        for time, _, satisfied, priority, version, event in sorted(ready, key=step_order):
            state, began = machine.step(state, satisfied, time)
            if began is not None:
                done.append(_row(subscription, priority, version, began, event))
        if ready:
            self._put_back([row for row in waiting if row[0] > watermark * _MILLI])
        if state is not None:
            self._keep(state, alarm, expiry(machine, state), watermark)
        return iter(done)

    def _put_back(self, waiting: list[Any]) -> None:
        if waiting:
            self._waiting.put([tuple(row) for row in waiting])
            self._handle.registerTimer(_millis(min(row[0] for row in waiting)))
        else:
            self._waiting.clear()

    def _keep(
        self, state: SequenceState, alarm: int | None, end: int | None, watermark: int
    ) -> None:
        if end is not None and _millis(end) <= watermark:
            self._state.clear()
            return
        if end is not None and (alarm is None or alarm <= watermark):
            alarm = _millis(end)
            self._handle.registerTimer(alarm)
        self._state.update((state.time, list(state.starts), alarm))

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


def _row(*values: object) -> Row:
    return Row(**dict(zip(_DONE, values, strict=True)))


def _millis(micros: int) -> int:
    """Return the first millisecond that is not before this time."""
    return -(-micros // _MILLI)
