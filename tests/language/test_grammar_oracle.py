"""The hand-written parser and the grammar of `selector.lark` accept the same texts."""

import pytest

from tamis.errors import SelectorError
from tamis.language import parse
from tests.language.corpus import FUNCTIONS, valid
from tests.language.damage import mutated
from tests.language.lark_oracle import accepts, unused_terminals

SEEDS = range(5)
VALID_PER_SEED = 400
MUTATED_PER_SEED = 800

ACCEPTED = [
    "a",
    "TRUE",
    "(((a)))",
    "(a) = (1)",
    "((a)) AND (b)",
    "(NULL) IS NULL",
    "NOT NOT a = 1",
    "a BETWEEN b AND c AND d",
    "a NOT BETWEEN 1 AND 2 OR b NOT IN (-1, +2., 'x', NULL, DATE '2024-02-29')",
    "+a = - - +b",
    "a - -1 = a--1\n-1",
    "a=1/**/AND/* ' */b<>.5--'",
    "a LIKE'x'AND b",
    "a LIKE '''%' ESCAPE ''''",
    "a LIKE '%%' ESCAPE '%'",
    r"a ILIKE '\\\%\_'",
    r"a NOT RLIKE '\d+'",
    "a = -9223372036854775808 AND b IN (-9223372036854775808, 9223372036854775807)",
    "a = 9223372036854775808D",
    "a = 1e-400",
    "a = 00000000000000000000000000001",
    "at = least AND first.date.max < contains",
    "first NOT IN (1)",
    "first - a = 1",
    "first",
    "FIRST NOT a THEN b",
    "FIRST first THEN then THEN within WITHIN 5 day PER per",
    "FIRST (a) THEN .5 < b",
    "AT LEAST 2 OF (at, least(1) = of, (c))",
    "max (1, a) > SuM(b) + aBs(c)",
    "distance(a, 'x') < 2 * DISTANCE (distance) + -distance(+b)",
    "distance(a) AND NOT (distance(NULL)) OR distance(distance(1)) IS NULL",
    "FIRST distance(a) THEN distance(b, c) LIKE 'x'",
    "startswith('x', a) XOR array_contains(tags, 'x')",
    "timestamp = TIMESTAMP '2024-05-01'",
    "a > TIMESTAMP '2024-05-01T10:00:00.1234567890123 Europe/Paris'",
    "a > TIMESTAMP '2024-05-01 10:00+0200' AND b < TIMESTAMP'2024-05-01Z'",
    "````.`a.b`.c = 'it''s'",
    "`NULL` IS NOT NULL",
    "été.名前 = $_1",
    "i\u017f = 1",  # not IS: a name that ends in a long s
]

REFUSED = [
    "",
    "-- a",
    "a b",
    "a AND",
    "(a",
    "a)",
    "a = 1;",
    "a == 1",
    "a < = 1",
    "1 < x < 5",
    "(a > 1) = TRUE",
    "(a AND b) IS NULL",
    "NOT 5",
    "'x'",
    "-a",
    "+a",
    "(+a)",
    "a + (b = 1)",
    "a = NOT b",
    "a NOT b",
    "a IS TRUE",
    "a IN ()",
    "a IN (b)",
    "a IN (1 + 1)",
    "a IN (- -5)",
    "a LIKE b",
    "a LIKE 'x' ESCAPE ''",
    "a LIKE 'x' ESCAPE 'xy'",
    r"a LIKE '\x'",
    r"a LIKE 'x\'",
    "a RLIKE '('",
    "a RLIKE '(?=x)'",
    "a RLIKE 'x' ESCAPE '!'",
    "contains(a)",
    "contains(a, b) = TRUE",
    "max() = 1",
    "max(a)",
    "abs(a, b) = 1",
    "`max`(a) = 1",
    "f(a) = 1",
    "distance() = 1",
    "distance(a = 1)",
    "+distance(a)",
    "(-distance(a))",
    "`distance`(a) = 1",
    "a.distance(b) = 1",
    "d\u0130stance(a) = 1",
    "a IN (distance(b))",
    "distance a",
    "AT LEAST 0 OF (a)",
    "AT LEAST 2 OF (a)",
    "AT LEAST 1L OF (a)",
    "AT LEAST 1 OF ()",
    "a = 9223372036854775808",
    "a = -(9223372036854775808)",
    "a = -9223372036854775809",
    "a = 1e309",
    "a = 1.5L",
    "a = 12abc",
    "a = 0x10",
    "a = .",
    "a = ٣",
    "in = 1",
    "a i\u017f NULL",
    "`` = 1",
    "a.`` = 1",
    "a .b = 1",
    "a. b = 1",
    "a = 'x",
    "a = 1 /* x",
    'a = "x"',
    "FIRST a",
    "FIRST - a = 1 THEN b",
    "FIRST a THEN b WITHIN 0 DAYS",
    "FIRST a THEN b WITHIN 5",
    "FIRST a THEN b WITHIN 5 \u017fECONDS",
    "FIRST a THEN b PER c WITHIN 5 DAYS",
    "(FIRST a THEN b)",
    "a THEN b",
    "a = DATE '2024-02-30'",
    "a = DATE '2024-05-01Z'",
    "a = DATE '٢٠٢٤-05-01'",
    "a = TIMESTAMP '2024-05-01 24:00'",
    "a = TIMESTAMP '2024-05-01 10:00 Mars/Base'",
    "a = TIMESTAMP '2024-05-01 10:00 Europe'",
]

TABLE = [(text, True) for text in ACCEPTED] + [(text, False) for text in REFUSED]


def parser_verdict(text: str) -> str:
    try:
        parse(text, FUNCTIONS)
    except SelectorError as error:
        return f"refuses: {error.args[0] if error.args else error}"
    except Exception as error:
        return f"crashes: {error!r}"
    return "accepts"


def disagreements(texts: list[str]) -> str:
    found = []
    for text in texts:
        expected = "accepts" if accepts(text) else "refuses"
        verdict = parser_verdict(text)
        if not verdict.startswith(expected):
            found.append(f"{text!r}\n    grammar {expected}\n    parser  {verdict}")
    return "\n".join([f"{len(found)} disagreements", *found[:10]]) if found else ""


@pytest.mark.parametrize(("text", "expected"), TABLE)
def test_grammar_accepts_as_expected(text: str, expected: bool) -> None:
    assert accepts(text) is expected


@pytest.mark.parametrize(("text", "expected"), TABLE)
def test_parser_accepts_as_expected(text: str, expected: bool) -> None:
    assert parser_verdict(text).startswith("accepts" if expected else "refuses")


@pytest.mark.parametrize("seed", SEEDS)
def test_valid_texts_are_accepted_by_both(seed: int) -> None:
    texts = valid(seed, VALID_PER_SEED)
    assert [text for text in texts if not accepts(text)] == []
    assert unused_terminals(texts) == set()
    found = disagreements(texts)
    assert not found, found


@pytest.mark.parametrize("seed", SEEDS)
def test_mutated_texts_get_the_same_verdict_from_both(seed: int) -> None:
    texts = mutated(seed, MUTATED_PER_SEED)
    assert sum(not accepts(text) for text in texts) >= len(texts) / 2
    found = disagreements(texts)
    assert not found, found
