"""Verdicts on random rules and pairs of rules, checked with all events of a small domain."""

from collections import Counter
from random import Random

import pytest

from tamis.analysis import diff, lint
from tamis.language import parse
from tamis.language.expr import attributes
from tests.analysis.small import SCHEMA, SEMANTICS, changed, events, matched, selector
from tests.engines.oracle import matching
from tests.soak import count, record

PAIRS = count(50, 500)  # for each of the four semantics: 2,000 in all


@pytest.mark.parametrize("semantics", SEMANTICS)
def test_every_verdict_on_pairs_agrees_with_all_events(semantics: str) -> None:
    random = Random(f"pairs {semantics}")
    verdicts: Counter[str] = Counter()
    for number in range(PAIRS):
        first = selector(random)
        second = changed(random, first)
        named = {path[0] for text in (first, second) for path in attributes(parse(text))}
        tried = events(named, semantics)
        before, after = (matched(text, tried, semantics) for text in (first, second))
        where = f"{semantics} {number}: {first!r}, {second!r}"
        verdicts.update(_check_lint(first, second, before, after, tried, semantics, where))
        verdicts[_check_diff(first, second, before, after, semantics, where)] += 1
    # The generator produces enough of every kind for the test to be meaningful.
    assert {"never-matches", "equivalent", "covered", "redundant"} <= set(verdicts), verdicts
    assert {"reworded", "widened", "narrowed", "changed"} <= set(verdicts), verdicts
    record(f"lint and diff on pairs, {semantics}", pairs=PAIRS, verdicts=dict(verdicts))


def _check_lint(
    first: str,
    second: str,
    before: list[bool],
    after: list[bool],
    tried: list[dict[str, object]],
    semantics: str,
    where: str,
) -> list[str]:
    found = lint([("first", first), ("second", second)], SCHEMA, semantics)
    rules = {(f.rule, f.id) for f in found}
    assert not [f for f in found if f.rule in ("undecided", "bad-selector")], where
    plain = []
    for id, matches in (("first", before), ("second", after)):
        assert (("never-matches", id) in rules) is not any(matches), where
        assert (("always-matches", id) in rules) is all(matches), where
        plain.append(any(matches) and not all(matches))
    compared = all(plain)
    same = before == after
    assert (("equivalent", "second") in rules) is (same and compared), where
    inside = all(b or not a for a, b in zip(before, after, strict=True))
    outside = all(a or not b for a, b in zip(before, after, strict=True))
    assert (("covered", "first") in rules) is (compared and inside and not same), where
    assert (("covered", "second") in rules) is (compared and outside and not same), where
    for finding in found:
        text = first if finding.id == "first" else second
        both = {"first": first, "second": second}
        if finding.rule == "redundant":
            matches = before if finding.id == "first" else after
            assert matched(finding.suggestion, tried, semantics) == matches, where
            assert finding.spans and all(text[a:b].strip() for a, b in finding.spans)
        if finding.event is not None:
            got = matching(both, finding.event, semantics, SCHEMA)
            wanted = {
                "covered": set(finding.others),
                "equivalent": {"first", "second"},
            }.get(finding.rule)
            assert got == wanted if wanted else finding.id in got, where
        else:
            assert finding.rule == "never-matches", where
    return [finding.rule for finding in found]


def _check_diff(
    first: str, second: str, before: list[bool], after: list[bool], semantics: str, where: str
) -> str:
    changes = diff([("r", first)], [("r", second)], SCHEMA, semantics)
    if first == second:
        assert not changes
        return "unchanged"
    (change,) = changes
    lost = any(a and not b for a, b in zip(before, after, strict=True))
    gained = any(b and not a for a, b in zip(before, after, strict=True))
    kinds = {(0, 0): "reworded", (1, 0): "narrowed", (0, 1): "widened", (1, 1): "changed"}
    assert change.kind == kinds[lost, gained], where
    both = {"old": first, "new": second}
    for event, wanted in ((change.lost, "old"), (change.gained, "new")):
        if event is not None:
            assert matching(both, event, semantics, SCHEMA) == {wanted}, where
    assert (change.lost is not None, change.gained is not None) == (lost, gained), where
    return change.kind
