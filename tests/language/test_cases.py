"""The golden cases of tests/cases."""

import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tamis.errors import SelectorSyntaxError
from tamis.language import evaluate, parse, rewrite
from tamis.language.rewrite import RULES
from tamis.values import Timestamp
from tests.strategies import FUNCTIONS

CASES = Path(__file__).parents[1] / "cases"
TRUTHS = {"true": True, "false": False, "unknown": None}
NAMES = {"nan": math.nan, "inf": math.inf, "ts": Timestamp.parse, "TRUE": True}


def lines(file: Path) -> Iterator[str]:
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line


def meanings() -> Iterator[object]:
    for file in sorted(CASES.glob("meaning-*.txt")):
        selector = ""
        for line in lines(file):
            if not line.startswith(" "):
                selector = line
                continue
            event, truth = line.strip().rsplit(" ", 1)
            yield pytest.param(selector, event, TRUTHS[truth], id=f"{selector} on {event}")


@pytest.mark.parametrize(("selector", "event", "truth"), list(meanings()))
def test_selector_has_the_expected_truth(selector: str, event: str, truth: bool | None) -> None:
    values = eval(event, NAMES)  # our own files, with nan and ts() in them
    expr = parse(selector, FUNCTIONS)
    assert evaluate(expr, values) is truth
    assert evaluate(rewrite(expr), values) is truth
    assert evaluate(parse(str(expr), FUNCTIONS), values) is truth


def rewritings(rule: str) -> Iterator[object]:
    for line in lines(CASES / "rewrite" / f"{rule}.txt"):
        before, after = line.split(" => ")
        yield pytest.param(before, after, id=line)


RULE_CASES = [
    pytest.param(rule, *case.values, id=f"{rule.__name__}: {case.id}")
    for rule in RULES
    for case in rewritings(rule.__name__)
]


@pytest.mark.parametrize(("rule", "before", "after"), RULE_CASES)
def test_rule_rewrites_as_expected(rule, before: str, after: str) -> None:
    assert str(rule(parse(before, FUNCTIONS))) == after


@pytest.mark.parametrize(("rule", "before", "after"), RULE_CASES)
def test_rule_returns_the_same_object_when_it_has_nothing_to_do(rule, before, after) -> None:
    done = rule(parse(before, FUNCTIONS))
    assert rule(done) is done


@pytest.mark.parametrize(("before", "after"), list(rewritings("all")))
def test_rewrite_gives_the_expected_form(before: str, after: str) -> None:
    assert str(rewrite(parse(before, FUNCTIONS))) == after


def refusals() -> Iterator[object]:
    for line in lines(CASES / "refused.txt"):
        selector, offset, reason, hint = line.split(" | ")
        yield pytest.param(selector, int(offset), reason, hint, id=selector)


@pytest.mark.parametrize(("selector", "offset", "reason", "hint"), list(refusals()))
def test_invalid_selector_is_refused_with_position_and_hint(
    selector: str, offset: int, reason: str, hint: str
) -> None:
    with pytest.raises(SelectorSyntaxError) as caught:
        parse(selector.strip() and selector, FUNCTIONS)
    error = caught.value
    # Python 3.14 goes on to say which month there is not.
    said = re.sub(r"(must be in \d+\.\.\d+), not \d+$", r"\1", error.reason)
    assert (error.start, said, error.hint) == (offset, reason, hint.strip())
    assert f"line 1, column {offset + 1}" in str(error)
