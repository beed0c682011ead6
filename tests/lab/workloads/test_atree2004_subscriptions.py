"""The subscriptions of the A-Tree thesis: repeatable, well formed, and mixed as requested."""

from collections import Counter
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from tamis_lab.workloads.atree2004 import Workload

from tamis.errors import InputError
from tamis.language import parse
from tamis.language.expr import And, BoolExpr, Comparison, Literal, Or, Xor, predicates, walk

# More than two blocks of subscriptions, and not a whole number of them.
WORKLOAD = Workload(subscriptions=40_000, predicates=7, shared_predicates=3)
SETS = ["conjunctive", "disjunctive", "mixed"]


def small(**changes: object) -> Workload:
    return replace(WORKLOAD, **{"subscriptions": 300, **changes})


# -- repeatable -----------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_subscriptions() -> None:
    rows = WORKLOAD.conjunctions()
    assert rows.dtype == np.int32 and rows.shape == (40_000, 7)
    assert np.array_equal(rows, replace(WORKLOAD).conjunctions())
    other = replace(WORKLOAD, seed=1).conjunctions()
    assert not (rows == other).all(axis=1).any()


def test_blocks_differ() -> None:
    unique = replace(WORKLOAD, overlap=0.0, values=100_000).conjunctions()
    assert len(np.unique(unique, axis=0)) == len(unique)


@pytest.mark.parametrize("rows", [1, 999, 16_384, 20_000, 40_000, 50_000])
def test_chunks_add_up_to_all_subscriptions(rows: int) -> None:
    workload = small(subscriptions=2_000) if rows == 1 else WORKLOAD
    chunks = list(workload.conjunction_chunks(rows))
    assert all(len(chunk) == rows for chunk in chunks[:-1]) and 0 < len(chunks[-1]) <= rows
    assert np.array_equal(np.concatenate(chunks), workload.conjunctions())


@pytest.mark.parametrize("count", [1, 16_384, 16_385, 39_999])
def test_the_first_rows_do_not_depend_on_the_count(count: int) -> None:
    fewer = replace(WORKLOAD, subscriptions=count).conjunctions()
    assert np.array_equal(fewer, WORKLOAD.conjunctions()[:count])


@pytest.mark.parametrize("operators", SETS)
def test_the_first_texts_do_not_depend_on_the_count(operators: str) -> None:
    fewer = list(small(operators=operators).selectors())
    more = replace(WORKLOAD, operators=operators).selectors()
    assert len(fewer) == 300 and fewer == list(islice(more, 300))


def test_drawing_events_does_not_change_subscriptions() -> None:
    workload = small()
    workload.events(10, matching=0.5)
    first = workload.conjunctions()
    workload.events(3000)
    assert np.array_equal(workload.conjunctions(), first)
    assert np.array_equal(small().conjunctions(), first)


# -- well formed ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("length", "shared", "attributes"),
    [(2, 1, 20), (4, 3, 20), (14, 4, 20), (18, 1, 20), (18, 17, 20), (20, 10, 20), (6, 2, 6)],
)
@pytest.mark.parametrize("operators", SETS)
def test_attributes_are_distinct(length: int, shared: int, attributes: int, operators: str) -> None:
    workload = small(
        predicates=length, shared_predicates=shared, attributes=attributes, operators=operators,
        overlap=0.5,
    )  # fmt: skip
    seen = set()
    for expression in workload.expressions():
        named = [int(p.left.path[0][1:]) for p in predicates(expression)]
        assert len(named) == len(set(named)) == length
        # The left expression is over the first attributes; a conjunction is in their order.
        assert max(named[:shared]) < min(named[shared:])
        assert operators != "conjunctive" or named == sorted(named)
        seen.update(named)
    assert seen == set(range(1, attributes + 1))


def test_trees_are_not_in_the_order_of_attributes() -> None:
    named = [
        [p.left.path for p in predicates(e)]
        for e in small(operators="mixed", overlap=0.0).expressions()
    ]
    assert sum(row[0] > row[1] for row in named) > 100


def test_constants_cover_the_domain() -> None:
    workload = replace(WORKLOAD, values=5, pool=3)
    attributes, values = workload.table.split(workload.conjunctions())
    pairs = set(zip(attributes.ravel().tolist(), values.ravel().tolist(), strict=True))
    assert pairs == {(a, v) for a in range(20) for v in range(1, 6)}


def test_numbers_stand_for_predicates() -> None:
    table = replace(WORKLOAD, relation=">").table
    assert len(table) == 20_000
    for number in (0, 999, 1000, 6_041, 19_999):
        attribute, value = (int(part[0]) for part in table.split(np.array([number], np.int32)))
        assert number == attribute * 1000 + value - 1
        found = table.predicate(number)
        assert isinstance(found, Comparison) and found.right == Literal.of(value)
        assert str(found) == table.text(number) == f"a{attribute + 1} > {value}"


def test_expressions_are_the_conjunctions() -> None:
    workload = small()
    predicate = workload.table.predicate
    rows = [And(tuple(map(predicate, row))) for row in workload.conjunctions().tolist()]
    assert rows == list(workload.expressions())


@pytest.mark.parametrize("operators", SETS)
@pytest.mark.parametrize("relation", ["=", ">"])
def test_texts_are_the_expressions(operators: str, relation: str) -> None:
    workload = small(operators=operators, relation=relation, predicates=9)
    texts = list(workload.selectors())
    assert [parse(text) for text in texts] == list(workload.expressions())
    assert all(f" {relation} " in text for text in texts)


# -- mixed as it was asked ------------------------------------------------------------------------


def test_overlap_and_repeated_are_the_requested_fractions() -> None:
    workload = replace(WORKLOAD, overlap=0.7, repeated=0.4, pool=12, values=100_000)
    rows = workload.conjunctions()
    # Of so many values, what comes twice is from pool A.
    left_shared, left_pool = _met_again(rows[:, :3])
    right_shared, right_pool = _met_again(rows[:, 3:])
    repeated, pairs = _met_again(rows)
    assert (left_pool, right_pool, pairs) == (12, 12, 144)
    assert left_shared.mean() == pytest.approx(0.7, abs=0.02)
    assert right_shared.mean() == pytest.approx(0.28, abs=0.02)
    assert np.array_equal(repeated, right_shared) and not (right_shared & ~left_shared).any()


@pytest.mark.parametrize(("overlap", "repeated"), [(0.0, 1.0), (1.0, 0.0), (1.0, 1.0)])
def test_overlap_and_repeated_may_be_zero_or_one(overlap: float, repeated: float) -> None:
    workload = replace(WORKLOAD, overlap=overlap, repeated=repeated, values=100_000)
    rows = workload.conjunctions()
    assert _met_again(rows[:, :3])[0].mean() == overlap
    assert _met_again(rows[:, 3:])[0].mean() == overlap * repeated


def _met_again(rows: np.ndarray) -> tuple[np.ndarray, int]:
    """Return which rows occur more than once, and how many different ones do."""
    _, kinds, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    return counts[kinds] > 1, int((counts > 1).sum())


def test_expressions_of_the_pool_have_no_predicate_in_common() -> None:
    workload = replace(WORKLOAD, overlap=1.0, repeated=1.0, pool=50, values=50)
    rows = workload.conjunctions()
    for part in (rows[:, :3], rows[:, 3:]):
        pool = np.unique(part, axis=0)
        assert len(pool) == 50 and len(np.unique(pool)) == pool.size


def test_a_pool_larger_than_the_domain_is_refused() -> None:
    rows = replace(WORKLOAD, overlap=1.0, repeated=1.0, pool=130, values=50).conjunctions()
    pool = np.unique(rows[:, :3], axis=0)
    assert len(pool) == 130
    assert np.unique(pool, return_counts=True)[1].max() <= 3
    with pytest.raises(InputError, match="pool: contains an expression twice"):
        small(predicates=2, shared_predicates=1, pool=21, values=2).conjunctions()


def test_trees_share_whole_expressions() -> None:
    workload = replace(WORKLOAD, subscriptions=2000, operators="mixed", overlap=1.0)
    parts = [e.operands for e in workload.expressions() if isinstance(e, (And, Or, Xor))]
    assert len(parts) == 2000 and all(len(operands) == 2 for operands in parts)
    left, right = (Counter(operands) for operands in zip(*parts, strict=True))
    assert len(left) == 10
    again = sum(count for count in right.values() if count > 1)
    assert again / 2000 == pytest.approx(0.2, abs=0.03)


@pytest.mark.parametrize(
    ("operators", "wanted"),
    [("conjunctive", (1, 0, 0)), ("disjunctive", (0.8, 0.2, 0)), ("mixed", (0.6, 0.3, 0.1))],
)
@pytest.mark.parametrize("overlap", [0.0, 1.0])
def test_operators_are_as_frequent_as_in_table_5_2(
    operators: str, wanted: tuple[float, ...], overlap: float
) -> None:
    workload = small(
        subscriptions=2000, operators=operators, overlap=overlap, repeated=1.0, pool=1000
    )
    inner: list[BoolExpr] = []
    roots: list[BoolExpr] = []
    for expression in workload.expressions():
        nodes = [e for e in walk(expression) if isinstance(e, (And, Or, Xor))]
        if operators != "conjunctive":
            assert len(nodes) == 6 and all(len(node.operands) == 2 for node in nodes)
        roots.append(nodes[0])
        inner += nodes[1:]
    for nodes in filter(None, (roots, inner)):
        kinds = Counter(map(type, nodes))
        found = tuple(kinds[kind] / len(nodes) for kind in (And, Or, Xor))
        assert found == pytest.approx(wanted, abs=0.03)


@pytest.mark.parametrize("overlap", [0.0, 1.0])
def test_shapes_are_equally_likely(overlap: float) -> None:
    workload = small(subscriptions=5000, operators="mixed", overlap=overlap, pool=1000)
    found = Counter(_shape(e.operands[1]) for e in workload.expressions())
    assert len(found) == 5  # of four leaves
    assert all(count / 5000 == pytest.approx(0.2, abs=0.03) for count in found.values())


def _shape(expression: BoolExpr) -> object:
    if isinstance(expression, (And, Or, Xor)):
        return tuple(map(_shape, expression.operands))
    return "leaf"


# -- refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("subscriptions", 0),
        ("predicates", 21),
        ("predicates", 1),
        ("shared_predicates", 0),
        ("shared_predicates", 7),
        ("values", 1),
        ("values", 2**31 // 20 + 1),
        ("operators", "and"),
        ("relation", "<"),
        ("pool", 0),
        ("overlap", 1.1),
        ("overlap", float("nan")),
        ("repeated", -0.1),
        ("seed", -1),
    ],
)
def test_parameters_out_of_range_are_refused(parameter: str, value: object) -> None:
    with pytest.raises(InputError) as caught:
        small(**{parameter: value})
    assert caught.value.source == parameter


def test_only_conjunctions_are_arrays() -> None:
    with pytest.raises(InputError, match="operators"):
        small(operators="mixed").conjunctions()
    with pytest.raises(InputError, match="rows"):
        small().conjunction_chunks(0)
