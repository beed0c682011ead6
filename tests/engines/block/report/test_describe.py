"""Where a subscription is, and why."""

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


def test_under_a_value_in_words() -> None:
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


def test_under_a_cover() -> None:
    told = plan("(a = 17 OR price >= 995) AND b <> 2")
    assert told.way == "cover"
    assert set(texts(told.cover)) == {"a = 17", "price >= 995"}
    either, other = told.checks
    assert (either.text, set(texts(either.parts))) == ("OR", {"a = 17", "price >= 995"})
    assert other.text == "b <> 2" and other.share == pytest.approx(0.75, abs=0.01)
    assert told.looks == pytest.approx(0.007, abs=0.002)


def test_in_blocks() -> None:
    common = {f"s{n}": f"price > {n} AND b <> {n % 4}" for n in range(100)}
    told = block(**common).plan("s7", EVENTS)
    assert told.way == "block" and told.block_size and told.cover == ()
    # What cannot be looked up comes last, however rare.
    assert texts(told.checks) == ["price > 7", "b <> 3"]
    assert "let 99 % of events through" in told.why and "(blocks of " in str(told)


def test_ways_without_a_cover() -> None:
    assert plan("a = NULL").way == "never"
    never = plan("a = 1 AND a = NULL")
    assert (never.way, never.looks, never.cover, never.checks) == ("never", 0.0, (), ())
    many = {f"s{n}": f"a NOT IN ({n}, 101)" for n in range(100)}
    assert block(**many).plan("s1").why == "no test of it can be looked up"


def test_too_large_for_words() -> None:
    nested = "a = 0"
    for n in range(1, 16):
        nested = f"(({nested}) AND b = {n}) XOR c = {n}"
    told = plan(nested)
    assert (told.way, told.segment, told.cost) == ("oracle", None, None)
    assert "evaluated on every event" in str(told)


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
def test_words_back_to_text(selector: str, text: str) -> None:
    told = plan(selector, None)
    assert texts(told.cover + told.checks) == [text]


def test_the_values_of_a_set() -> None:
    values = ", ".join(map(str, range(30)))
    told = plan(f"z IN ({values})")
    assert texts(told.cover)[:2] == ["z = 0", "z = 1"]
    assert len(told.cover) == 21 and told.cover[-1].text == "… and 10 more"


def _rebuilt(told: SubscriptionPlan) -> str:
    """A selector from what the plan says is checked."""
    if told.way == "never":
        return "FALSE"
    parts = (told.cover if len(told.cover) == 1 else ()) + told.checks
    return " AND ".join(f"({_text(part)})" for part in parts)


def _text(check: Check) -> str:
    parts = [f"({_text(part)})" for part in check.parts]
    if check.text.startswith("AT LEAST"):
        return f"{check.text} ({', '.join(parts)})"
    if check.text == "NOT XOR":
        return f"NOT ({' XOR '.join(parts)})"
    return f" {check.text} ".join(parts) if parts else check.text


@given(bool_exprs(), st.lists(events(), max_size=6))
def test_what_is_checked_is_the_selector(expr: object, batch: list[dict[str, object]]) -> None:
    matcher = tamis.Matcher(engine="block")
    try:
        matcher.add("one", str(expr))
    except (SelectorError, UnsupportedExpression):
        assume(False)
    told = matcher.plan("one")
    assume(told.way != "oracle")
    text = _rebuilt(told)
    # What no selector can say: any number, infinity, or that not all is shown; and of a parity
    # only what makes its operands true is shown, not what makes them false.
    assume(not any(word in text for word in ("XOR", " is a", "inf", "nan", "…")))
    again = tamis.Matcher()
    again.add("one", text)
    assert again.match_batch(batch).per_event() == [
        ["one"] if evaluate(parse(str(expr)), event) is True else [] for event in batch
    ], text


def test_shares_are_of_the_events() -> None:
    matcher = block(one="b = 1 AND kind = 'x'")
    guessed = matcher.plan("one")
    assert guessed.events == 0 and "shares are estimates" in str(guessed)
    told = matcher.plan("one", EVENTS)
    assert told.events == 1000
    shares = {check.text: check.share for check in told.cover + told.checks}
    assert shares == pytest.approx({"b = 1": 0.25, "kind = 'x'": 0.333}, abs=0.01)
    nulls = plan("nope IS NULL AND a <> 3 AND b NOT IN (1, 2)").checks
    shares = {check.text: check.share for check in nulls}
    expected = {"nope IS NULL": 1.0, "a <> 3": 1.0, "b NOT IN (1, 2)": 0.5}
    assert shares == pytest.approx(expected, abs=0.01)


def test_among_many_segments() -> None:
    matcher = tamis.Matcher(engine="block")
    matcher.add_many((f"s{n}", f"a = {n} AND b > {n % 5}") for n in range(9000))
    first, last = matcher.plan("s0"), matcher.plan("s8999")
    assert first.segment == 1 and first.size >= 4096
    assert last.segment == last.segments == matcher.stats()["segments"]
    matcher.remove("s0")
    with pytest.raises(UnknownSubscription):
        matcher.plan("s0")


def test_plain_data() -> None:
    told = plan("a = 17 AND (b = 1 OR b = 2)").to_dict()
    assert json.loads(json.dumps(told))["way"] == told["way"] in WAYS


def test_engines_without_plans_say_so() -> None:
    matcher = tamis.Matcher(engine="brute")
    matcher.add("one", "a = 1")
    with pytest.raises(InputError, match="the engine brute has no plans; the engine block has"):
        matcher.plan("one")
    with pytest.raises(InputError, match="the engine brute has no counters"):
        matcher.costs()
