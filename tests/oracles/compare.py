"""Compare Tamis with a database: the same three-valued truth of the same selectors and events."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import pytest

from tamis.language import evaluate, parse
from tamis.language.evaluate import Truth
from tamis.language.expr import BoolExpr
from tests.oracles.columns import Event, random_events
from tests.oracles.constructs import EVERY_CONSTRUCT, constructs
from tests.oracles.generate import random_selectors
from tests.oracles.sql import Printer

_SHOWN = 5


@dataclass
class Trial:
    """Random events and selectors, and the result of comparing the answers.

    Attributes:
        without: The constructs that the dialect leaves out.
        pairs: The number of (selector, event) pairs that the database has evaluated.
        truths: How often Tamis answered true, false and unknown.
    """

    printer: Printer
    without: frozenset[str]
    events: list[Event]
    selectors: list[BoolExpr]
    pairs: int = 0
    truths: Counter[Truth] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    @classmethod
    def make(
        cls,
        printer: Printer,
        without: frozenset[str],
        seed: int,
        events: int,
        selectors: int,
        depth: int = 3,
    ) -> Trial:
        rng = random.Random(seed)
        return cls(
            printer,
            without,
            random_events(rng, events, without),
            random_selectors(rng, selectors, without, depth),
        )

    def groups(self, size: int) -> Iterable[tuple[list[BoolExpr], list[str]]]:
        """Yield selectors and their SQL, in groups for one query each."""
        for start in range(0, len(self.selectors), size):
            group = self.selectors[start : start + size]
            yield group, [self.printer.boolean(selector) for selector in group]

    def ask(self, run: Callable[[str], Iterable[tuple[object, ...]]]) -> None:
        """Compare all selectors with the database's answers, as columns and in WHERE."""
        for selectors, texts in self.groups(50):
            self.check(selectors, texts, run(f"SELECT id, {', '.join(texts)} FROM events"))
            for selector, text in zip(selectors, texts, strict=True):
                found = run(f"SELECT id FROM events WHERE {text}")
                self.check_where(selector, text, (id for (id,) in found))  # type: ignore[misc]

    def check(
        self, selectors: list[BoolExpr], texts: list[str], rows: Iterable[tuple[object, ...]]
    ) -> None:
        """Compare with rows of (id, truth of the first selector, truth of the second, …)."""
        parsed = [parse(str(selector)) for selector in selectors]
        assert parsed == selectors
        seen = 0
        for id, *answers in rows:
            seen += 1
            event = self.events[id]  # type: ignore[call-overload]
            for selector, text, answer in zip(parsed, texts, answers, strict=True):
                truth = evaluate(selector, event)  # type: ignore[arg-type]
                theirs = None if answer is None else bool(answer)
                self.pairs += 1
                self.truths[truth] += 1
                if truth is not theirs:
                    self.fault(selector, text, event, f"tamis {truth}, database {theirs}")
        assert seen == len(self.events)

    def check_where(self, selector: BoolExpr, text: str, ids: Iterable[int]) -> None:
        """Compare the matches with the ids that the database's WHERE selects."""
        theirs = set(ids)
        for id, event in enumerate(self.events):
            matches = evaluate(selector, event) is True
            if matches != (id in theirs):
                self.fault(selector, text, event, f"tamis {matches}, WHERE {id in theirs}")

    def fault(self, selector: object, text: str, event: Event, answers: str) -> None:
        self.faults.append(f"{selector}\n  SQL:   {text}\n  event: {event!r}\n  {answers}")

    def conclude(self, pairs: int, absent: frozenset[str] = frozenset()) -> None:
        """Fail on a disagreement, or if too little was compared.

        Args:
            pairs: The smallest number of pairs.
            absent: Constructs that the dialect lacks.
        """
        shown = "\n\n".join(self.faults[:_SHOWN])
        assert not self.faults, f"{len(self.faults)} of {self.pairs} pairs differ:\n\n{shown}"
        assert self.pairs >= pairs
        for truth in (True, False, None):
            assert self.truths[truth] > 0.1 * self.pairs, self.truths
        occurred = {name for selector in self.selectors for name in constructs(selector)}
        missing = EVERY_CONSTRUCT - absent - occurred
        assert not missing, missing


class Fails:
    """Stands for an error as the database's answer."""


@dataclass(frozen=True)
class Difference:
    """Where Tamis and a database differ by design; docs/guides/language.md lists them.

    Attributes:
        sql: The selector in the database's SQL, with the event's values as literals.
    """

    selector: str
    event: Event
    tamis: Truth
    sql: str
    theirs: Truth | type[Fails]

    def check(self, ask: Callable[[str], object], error: type[Exception]) -> None:
        """Check that both answer as described; `ask` evaluates an SQL expression."""
        assert evaluate(parse(self.selector), self.event) is self.tamis  # type: ignore[arg-type]
        if self.theirs is Fails:
            with pytest.raises(error):
                ask(self.sql)
        else:
            answer = ask(self.sql)
            assert (None if answer is None else bool(answer)) is self.theirs
