"""Comparison with the oracle where predicates depend on each other: few attributes, few values.

All four semantics, restricted and not, with and without a schema, and after changes.
"""

import math
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tests.engines.oracle import matching
from tests.soak import count

SCHEMA = {
    "n": ("INT", 1),
    "d": ("DBL", 2.5),
    "s": ("STR", "ab"),
    "f": "BOOL",
    "l": "LIST<INT>",
    "t": "TIMESTAMP",
}
VALUES = {
    "n": st.sampled_from([0, 1, 2, 3, 2**53, 2**53 + 1]),
    "d": st.sampled_from([0.0, 1.0, 1.5, 2.5, 3.0, math.nan, math.inf, 2.0**53]),
    "s": st.sampled_from(["", "a", "ab", "b", "abc", "ba", "z", "A"]),
    "f": st.booleans(),
    "l": st.lists(st.sampled_from([1, 2, 3, None]), max_size=3),
    "t": st.sampled_from(["2024-01-01", "2024-01-02", "2024-06-01"]),
}
_NUMBERS = ["0", "1", "1.5", "2", "3", "9007199254740992", "9007199254740993"]
_TEXTS = ["''", "'a'", "'ab'", "'b'", "'abc'"]
_OPS = ["=", "<>", "<", "<=", ">", ">="]
_INSTANTS = ["TIMESTAMP '2024-01-01'", "TIMESTAMP '2024-03-01'"]


def _atoms(numbers: list[str]) -> list[str]:
    atoms = [f"{name} {op} {c}" for name in numbers for op in _OPS for c in _NUMBERS]
    atoms += [f"{name} IN (1, 2, 3)" for name in numbers]
    atoms += [f"{name} BETWEEN 1 AND 2" for name in numbers]
    atoms += [f"s {op} {c}" for op in _OPS for c in _TEXTS] + ["s IN ('a', 'ab')"]
    for function in ("contains", "startswith", "endswith"):
        atoms += [f"{function}(s, {c})" for c in _TEXTS] + [f"{function}({c}, s)" for c in _TEXTS]
    atoms += ["s LIKE 'a%'", "s LIKE '_'", "s RLIKE '^a'", "s LIKE '%b%'", "s ILIKE 'A'"]
    atoms += [f"array_contains(l, {item})" for item in (1, 2)]
    atoms += [f"t {op} {c}" for op in _OPS for c in _INSTANTS]
    atoms += [f"{name} IS NULL" for name in SCHEMA] + ["f", "f = TRUE", "n = d", "n + 1 > 2"]
    return atoms


ATOMS = _atoms(["n", "d"])
# Without a schema any attribute may be tested with any constant.
WILD = [
    *ATOMS,
    "n = 'a'",
    "s > 1",
    "n < TRUE",
    "f > 1",
    "l = 1",
    "n LIKE 'a%'",
    "s",
    "n IN (1, 'a')",
]


def queries(atoms: list[str]) -> st.SearchStrategy[str]:
    def junction(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        several = st.lists(parts, min_size=2, max_size=4)
        return st.one_of(
            several.map(lambda each: f"({' AND '.join(each)})"),
            several.map(lambda each: f"({' OR '.join(each)})"),
            several.map(lambda each: f"({' XOR '.join(each)})"),
            several.map(lambda each: f"AT LEAST 2 OF ({', '.join(each)})"),
            parts.map(lambda part: f"NOT ({part})"),
        )

    return st.recursive(st.sampled_from(atoms), junction, max_leaves=7)


def events(values: dict[str, st.SearchStrategy[object]]) -> st.SearchStrategy[dict[str, object]]:
    return st.fixed_dictionaries({}, optional=values)


def answers(matcher: tamis.Matcher, batch: list[dict[str, object]]) -> list[set[object]]:
    return [set(ids) for ids in matcher.match_batch(batch).per_event()]


def changed(matcher: tamis.Matcher, added: list[str], removed: list[int]) -> dict[object, str]:
    """Add queries, match in between, and remove some; return those that are left."""
    left: dict[object, str] = {}
    for number, text in enumerate(added):
        try:
            matcher.add(number, text)
        except tamis.errors.SelectorTypeError:
            continue  # the schema's types make it meaningless
        left[number] = text
        if number % 3 == 1:
            matcher.stats()
            if matcher.semantics != "total":
                matcher.match({})
    for number in removed:
        if number in left:
            matcher.remove(number)
            del left[number]
    return left


lists = st.lists
removals = st.sets(st.integers(0, 9), max_size=4).map(sorted)


@pytest.mark.parametrize("restrict", [True, False])
@pytest.mark.parametrize("semantics", ["sql", "strict", "default"])
@settings(max_examples=count(25, 2_000), deadline=None)
@given(
    added=lists(queries(ATOMS), min_size=1, max_size=8),
    removed=removals,
    batch=lists(events(VALUES), min_size=1, max_size=20),
)
def test_equals_the_oracle_with_a_schema(
    semantics: str, restrict: bool, added, removed, batch
) -> None:
    schema = tamis.Schema(SCHEMA)
    matcher = tamis.Matcher(schema, semantics, engine="bdd", restrict=restrict)
    left = changed(matcher, added, removed)
    read = tamis.EventBatch.of(batch, schema, semantics).rows()  # instants, as the schema has it
    wanted = [matching(left, event, semantics, schema) for event in read]
    assert answers(matcher, batch) == wanted
    assert [set(matcher.match(event)) for event in batch[:3]] == wanted[:3]


@pytest.mark.parametrize("restrict", [True, False])
@settings(max_examples=count(25, 2_000), deadline=None)
@given(
    added=lists(queries(ATOMS), min_size=1, max_size=8),
    removed=removals,
    batch=lists(st.fixed_dictionaries(VALUES), min_size=1, max_size=20),
)
def test_equals_the_oracle_under_total_semantics(restrict: bool, added, removed, batch) -> None:
    schema = tamis.Schema(SCHEMA)
    matcher = tamis.Matcher(schema, "total", engine="bdd", restrict=restrict)
    left = changed(matcher, added, removed)
    read = tamis.EventBatch.of(batch, schema, "total").rows()
    assert answers(matcher, batch) == [matching(left, event) for event in read]


@pytest.mark.parametrize("semantics", ["sql", "strict"])
@pytest.mark.parametrize("order", ["attribute", "frequency", "random"])
@settings(max_examples=count(20, 1_500), deadline=None)
@given(
    added=lists(queries(WILD), min_size=1, max_size=8),
    removed=removals,
    batch=lists(events(dict.fromkeys(VALUES, st.one_of(*VALUES.values()))), max_size=20),
)
def test_equals_the_oracle_on_any_value(semantics: str, order: str, added, removed, batch) -> None:
    matcher = tamis.Matcher(semantics=semantics, engine="bdd", order=order)
    left = changed(matcher, added, removed)
    wanted = [matching(left, event, semantics) for event in batch]
    assert answers(matcher, batch) == wanted
    assert answers(pickle.loads(pickle.dumps(matcher)), batch) == wanted
