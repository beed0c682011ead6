"""The Python package `rule-engine`: one rule and one event at a time."""

from __future__ import annotations

import json
from pathlib import Path

from tamis.language.expr import Between, BoolExpr, In, IsNull, Like, StringTest, ValueExpr, children
from tamis_lab.peers.forms import text_test
from tamis_lab.peers.infix import Infix
from tamis_lab.peers.peer import EVENTS, Limits, Outcome, Peer, missing_package, package_version
from tamis_lab.peers.peer_rates import add_rules, match_one_by_one
from tamis_lab.peers.peer_workload import read_rules
from tamis_lab.peers.python_peers import process_runner

NAME = "rule-engine"


class RuleEngine(Infix):
    """Its language has no third truth value, and comparing a missing value is an error."""

    peer = NAME
    conjunction, disjunction, negation = "and", "or", "not"
    operators = {**Infix.operators, "=": "==", "<>": "!="}  # noqa: RUF012

    def leaf(self, e: BoolExpr) -> str:
        """Write a test; guard it by tests that its nullable attributes are present."""
        return self._guard_nulls(e, super().leaf(e))

    def negate(self, leaf: BoolExpr) -> str:
        """Write the negation of a test, guarded in the same way."""
        return self._guard_nulls(leaf, f"not ({super().leaf(leaf)})")

    def _guard_nulls(self, leaf: BoolExpr, text: str) -> str:
        if isinstance(leaf, IsNull):
            return text
        looked_at: list[ValueExpr] = [*children(leaf)] or [leaf]  # type: ignore[list-item]
        tests = [f"{self.value(v)} != null" for v in looked_at if self.nullable(v)]
        return f"({' and '.join([*tests, text])})" if tests else text

    def between(self, e: Between) -> str:
        """Write two comparisons."""
        low = self.comparison(">=", e.operand, e.low)
        return f"{low} and {self.comparison('<=', e.operand, e.high)}"

    def membership(self, e: In) -> str:
        """`operand in [items]`."""
        return f"{self.value(e.operand)} in [{', '.join(map(self.literal, e.items))}]"

    def is_null(self, operand: str) -> str:
        """`operand == null`."""
        return f"{operand} == null"

    def text_test(self, e: StringTest) -> str:
        """`part in text`, or a method of the text."""
        text, part = self.value(e.text), self.value(e.part)
        if e.function == "contains":
            return f"{part} in {text}"
        return f"{text}.{'starts' if e.function == 'startswith' else 'ends'}_with({part})"

    def like(self, e: Like) -> str:
        """Support patterns that are a prefix, suffix or substring."""
        return self.text_test(text_test(e, self.peer))

    def truth(self, value: bool) -> str:
        """The constants are lower-case."""
        return "true" if value else "false"

    def text(self, value: str) -> str:
        """Quote as in JSON."""
        return json.dumps(value)


def contest(folder: str, build: float, match: float, sample: int) -> Outcome:
    """Evaluate every rule on every event."""
    import rule_engine

    context = rule_engine.Context(resolver=rule_engine.resolve_item, default_value=None)
    rules = []

    def add(rule: tuple[int, list[str]]) -> None:
        rules.append((rule[0], rule_engine.Rule(rule[1][0], context=context).matches))

    loaded = add_rules(read_rules(Path(folder)), add, build)
    with Path(folder, EVENTS).open(encoding="utf-8") as lines:
        events = list(map(json.loads, lines))
    return match_one_by_one(
        lambda event: [number for number, matches in rules if matches(event)],
        events,
        Limits(build, match, sample),
        loaded,
    )


RULE_ENGINE = Peer(
    name=NAME,
    about="Python rule-engine, every rule in turn",
    takes="dict",
    unavailable=lambda: missing_package(NAME, "rule_engine"),
    version=lambda: package_version(NAME),
    translate=RuleEngine.translate,
    run=process_runner(contest),
)
