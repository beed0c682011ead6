"""The description of where a subscription is indexed, and why."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tamis
from tamis.engines.introspection import WAYS, Check, SubscriptionPlan
from tamis.errors import InputError, SelectorError, UnknownSubscription, UnsupportedExpression
from tamis.language import evaluate, parse
from tests.strategies import bool_exprs, events

EVENTS = [{"a": n % 500, "b": n % 4, "kind": "xyz"[n % 3], "price": n} for n in range(1000)]


def block(**subscriptions: str) -> tamis.Matcher:
    matcher = tamis.Matcher(engine="block")
    matcher.add_many(subscriptions.items())
    return matcher


def plan(selector: str, events: object = EVENTS) -> SubscriptionPlan:
    return block(one=selector).plan("one", events)


def texts(checks: tuple[Check, ...]) -> list[str]:
    return [check.text for check in checks]


def test_a_plan_under_a_value_prints_its_cover_and_checks() -> None:
    assert str(plan("b >= 1 AND a = 17 AND price < 500")) == (
        "one: found by one value of the event\n"
        "  why: 0.2 % of events have the value; "
        "up to 0.5 % that is cheaper than a place in every block\n"
        "  segment 1 of 1, with 1 subscription; shares of 1,000 events\n"
        "  indexed under\n"
        "  └─ a = 17  (0.2 % of events)\n"
        "  then checked, in this order\n"
        "  ├─ price < 500  (50 % of events)\n"
        "  └─ b >= 1  (75 % of events)\n"
        "  cost: 2 checks per 1,000 events; 1 times the average of its segment"
    )


def test_an_or_of_rare_tests_is_indexed_under_a_cover() -> None:
    described = plan("(a = 17 OR price >= 995) AND b <> 2")
    assert described.way == "cover"
    assert set(texts(described.cover)) == {"a = 17", "price >= 995"}
    either, other = described.checks
    assert (either.text, set(texts(either.parts))) == ("OR", {"a = 17", "price >= 995"})
    assert other.text == "b <> 2" and other.share == pytest.approx(0.75, abs=0.01)
    assert described.looks == pytest.approx(0.007, abs=0.002)


def test_common_selectors_are_matched_in_blocks() -> None:
    common = {f"s{n}": f"price > {n} AND b <> {n % 4}" for n in range(100)}
    described = block(**common).plan("s7", EVENTS)
    assert described.way == "block" and described.block_size and described.cover == ()
    # What cannot be looked up comes last, however rare.
    assert texts(described.checks) == ["price > 7", "b <> 3"]
    assert "let 99 % of events through" in described.why and "(blocks of " in str(described)


def test_contradictions_and_negations_have_no_cover() -> None:
    assert plan("a = NULL").way == "never"
    never = plan("a = 1 AND a = NULL")
    assert (never.way, never.looks, never.cover, never.checks) == ("never", 0.0, (), ())
    many = {f"s{n}": f"a NOT IN ({n}, 101)" for n in range(100)}
    assert block(**many).plan("s1").why == "no test of it can be looked up"


def test_a_selector_that_is_too_large_is_left_to_the_oracle() -> None:
    nested = "a = 0"
    for n in range(1, 16):
        nested = f"(({nested}) AND b = {n}) XOR c = {n}"
    described = plan(nested)
    assert (described.way, described.segment, described.cost) == ("oracle", None, None)
    assert "evaluated on every event" in str(described)


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        ("z = 5", "z = 5"),
        ("z = 5.0", "z = 5"),
        ("z = 1.5", "z = 1.5"),
        ("z = 9007199254740993", "z = 9007199254740993"),
        ("z > 5", "z > 5"),
        ("z <= 5", "z <= 5"),
        ("z <> 5", "z <> 5"),
        ("z BETWEEN 2 AND 5", "z BETWEEN 2 AND 5"),
        ("z = 'it''s'", "z = 'it''s'"),
        ("z = FALSE", "z = FALSE"),
        ("z >= TIMESTAMP '2024-05-01'", "z >= TIMESTAMP '2024-05-01 00:00:00Z'"),
        ("z IS NULL", "z IS NULL"),
        ("z IS NOT NULL", "z IS NOT NULL"),
        ("z NOT IN (1, 2)", "z NOT IN (1, 2)"),
        ("z NOT IN (1, 2, 3, 4, 5, 6)", "z NOT IN (1, 2, 3, 4, 5, … 6 in all)"),
        ("z LIKE '%x%y'", "z LIKE '%x%y'"),
        ("z + 1 > 5", "z + 1 > 5"),
        ("user.city = 'Lyon'", "user.city = 'Lyon'"),
    ],
)
def test_a_leaf_prints_as_the_test_it_came_from(selector: str, text: str) -> None:
    described = plan(selector, None)
    assert texts(described.cover + described.checks) == [text]


def test_a_long_cover_is_abbreviated() -> None:
    values = ", ".join(map(str, range(30)))
    described = plan(f"z IN ({values})")
    assert texts(described.cover)[:2] == ["z = 0", "z = 1"]
    assert len(described.cover) == 21 and described.cover[-1].text == "… and 10 more"


def _rebuilt(described: SubscriptionPlan) -> str:
    """Return a selector built from the checks of a plan."""
    if described.way == "never":
        return "FALSE"
    parts = (described.cover if len(described.cover) == 1 else ()) + described.checks
    return " AND ".join(f"({_text(part)})" for part in parts)


def _text(check: Check) -> str:
    parts = [f"({_text(part)})" for part in check.parts]
    if check.text.startswith("AT LEAST"):
        return f"{check.text} ({', '.join(parts)})"
    if check.text == "NOT XOR":
        return f"NOT ({' XOR '.join(parts)})"
    return f" {check.text} ".join(parts) if parts else check.text


@given(bool_exprs(), st.lists(events(), max_size=6))
def test_the_checks_of_a_plan_mean_the_selector(
    expr: object, batch: list[dict[str, object]]
) -> None:
    matcher = tamis.Matcher(engine="block")
    try:
        matcher.add("one", str(expr))
    except (SelectorError, UnsupportedExpression):
        assume(False)
    described = matcher.plan("one")
    assume(described.way != "oracle")
    text = _rebuilt(described)
    # A selector cannot express any number, infinity, or abbreviations; and of a parity, only the
    # true rails of its operands are shown.
    assume(not any(word in text for word in ("XOR", " is a", "inf", "nan", "…")))
    again = tamis.Matcher()
    again.add("one", text)
    assert again.match_batch(batch).per_event() == [
        ["one"] if evaluate(parse(str(expr)), event) is True else [] for event in batch
    ], text


def test_shares_are_measured_on_the_events() -> None:
    matcher = block(one="b = 1 AND kind = 'x'")
    guessed = matcher.plan("one")
    assert guessed.events == 0 and "shares are estimates" in str(guessed)
    described = matcher.plan("one", EVENTS)
    assert described.events == 1000
    shares = {check.text: check.share for check in described.cover + described.checks}
    assert shares == pytest.approx({"b = 1": 0.25, "kind = 'x'": 0.333}, abs=0.01)
    nulls = plan("nope IS NULL AND a <> 3 AND b NOT IN (1, 2)").checks
    shares = {check.text: check.share for check in nulls}
    expected = {"nope IS NULL": 1.0, "a <> 3": 1.0, "b NOT IN (1, 2)": 0.5}
    assert shares == pytest.approx(expected, abs=0.01)


def test_a_plan_names_the_segment_of_its_subscription() -> None:
    matcher = tamis.Matcher(engine="block")
    matcher.add_many((f"s{n}", f"a = {n} AND b > {n % 5}") for n in range(9000))
    first, last = matcher.plan("s0"), matcher.plan("s8999")
    assert first.segment == 1 and first.size >= 4096
    assert last.segment == last.segments == matcher.stats()["segments"]
    matcher.remove("s0")
    with pytest.raises(UnknownSubscription):
        matcher.plan("s0")


def test_a_plan_converts_to_json() -> None:
    described = plan("a = 17 AND (b = 1 OR b = 2)").to_dict()
    assert json.loads(json.dumps(described))["way"] == described["way"] in WAYS


def test_engines_without_plans_say_so() -> None:
    matcher = tamis.Matcher(engine="brute")
    matcher.add("one", "a = 1")
    with pytest.raises(InputError, match="the engine brute has no plans; the engine block has"):
        matcher.plan("one")
    with pytest.raises(InputError, match="the engine brute has no counters"):
        matcher.costs()
