"""The distinct steps of all sequences: each is added to an engine once, under a number.

The steps have an engine of their own, so that they do not appear among the subscriptions: not in
matches, which an engine may cut off at a limit, nor in counts, costs, plans or on disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tamis.engines import Engine
from tamis.engines.subscription import Subscription
from tamis.language.expr import BoolExpr, Sequence, attributes


class Steps:
    """The steps and the number of uses of each. Numbers are never reused."""

    def __init__(self, engine: Engine) -> None:
        """Take an engine without subscriptions."""
        self._engine = engine
        self._numbers: dict[BoolExpr, int] = {}
        self._users: dict[BoolExpr, int] = {}
        self._next = 0

    def __len__(self) -> int:
        """Return the number of distinct steps."""
        return len(self._numbers)

    def add(self, subscription: Subscription) -> list[int]:
        """Add the steps of a sequence; return their numbers.

        Raises:
            UnsupportedExpression: The engine cannot express one of them; nothing has changed.
        """
        done: list[BoolExpr] = []
        try:
            for step, condition in conditions(subscription):
                if step not in self._numbers:
                    self._engine.add(replace(condition, id=self._next))
                    self._numbers[step], self._users[step] = self._next, 0
                    self._next += 1
                self._users[step] += 1
                done.append(step)
        except BaseException:
            self._release(done)
            raise
        return [self._numbers[step] for step in done]

    def remove(self, subscription: Subscription) -> list[int]:
        """Remove the steps that only this sequence uses; return the numbers of all its steps."""
        steps = [step for step, _ in conditions(subscription)]
        numbers = [self._numbers[step] for step in steps]
        self._release(steps)
        return numbers

    def _release(self, steps: list[BoolExpr]) -> None:
        for step in steps:
            self._users[step] -= 1
            if not self._users[step]:
                del self._users[step]
                self._engine.remove(self._numbers.pop(step))


def conditions(subscription: Subscription) -> Iterator[tuple[BoolExpr, Subscription]]:
    """Yield the steps of a sequence, each with a simple subscription that has the sequence's id.

    Each step is a selector of its own, so under `strict` an event needs only the attributes that
    its step names.
    """
    sequence = subscription.selector
    assert isinstance(sequence, Sequence)
    for step in sequence.steps:
        required = attributes(step) if subscription.required else frozenset()
        functions = subscription.functions
        yield step, Subscription(subscription.id, str(step), 0, step, required, functions)
