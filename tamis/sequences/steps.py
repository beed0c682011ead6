"""The distinct steps of all sequences: each is given to an engine once, under a number.

An engine of their own has them, so that nobody sees them among the subscriptions: not in answers,
which an engine may cut off at a limit, not in counts, costs, plans or on disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tamis.engines import Engine
from tamis.engines.subscription import Subscription
from tamis.language.expr import BoolExpr, Sequence, attributes


class Steps:
    """Which steps there are, and how often each is used. Numbers are never used again."""

    def __init__(self, engine: Engine) -> None:
        """Take an engine without subscriptions."""
        self._engine = engine
        self._numbers: dict[BoolExpr, int] = {}
        self._users: dict[BoolExpr, int] = {}
        self._next = 0

    def __len__(self) -> int:
        """How many distinct steps there are."""
        return len(self._numbers)

    def add(self, subscription: Subscription) -> list[int]:
        """The numbers of the steps of a sequence.

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
        """Forget the steps of a sequence that no other has; gives the numbers of all its steps."""
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
    """The steps of a sequence, each with a simple subscription for it, under the sequence's id.

    Each is a selector of its own, so under `strict` an event need only have what its step names.
    """
    sequence = subscription.selector
    assert isinstance(sequence, Sequence)
    for step in sequence.steps:
        required = attributes(step) if subscription.required else frozenset()
        functions = subscription.functions
        yield step, Subscription(subscription.id, str(step), 0, step, required, functions)
