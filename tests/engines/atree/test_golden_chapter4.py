"""The worked examples of the thesis' chapter 4: priorities, values, k of n."""

from itertools import product

import pytest

from tamis.engines.atree import AtreeEngine
from tamis.engines.subscription import Subscription
from tamis.events.batch import EventBatch
from tamis.language import evaluate, parse
from tests.engines.atree.inspection import (
    FILTERS,
    answer,
    engine_of,
    expression,
    expressions,
    root_of,
)

filters = pytest.mark.parametrize("filter", FILTERS)
any_filter = pytest.mark.parametrize("filter", [None, *FILTERS])

# -- Figure 4.1: priorities ------------------------------------------------------------------------

A = "((r1 = 1 ∧ r2 = 1) ∨ (r3 = 1 ∧ r4 = 1))"
B = "(r1 = 1 ∧ r2 = 1)"
C = "(r3 = 1 ∧ r4 = 1)"
D = f"(r5 = 1 ∧ {C})"


def priorities(engine: AtreeEngine) -> dict[str, int]:
    return {
        text: engine._priorities.node_priority(node) for text, node in expressions(engine).items()
    }


@any_filter
@pytest.mark.parametrize("several", [False, True])  # nodes have priorities once there are several
def test_figure_4_1_priorities_of_nodes(filter: str | None, several: bool) -> None:
    engine = AtreeEngine(filter)
    other = {"r0 = 1": 1} if several else {}
    for text, priority in other.items():
        engine.add(Subscription.of("S0", text, priority))
    # OR at the top, so that b and c stand apart as in the figure; a chain could be laid otherwise.
    engine.add(Subscription.of("S1", "(r1 = 1 AND r2 = 1) OR (r3 = 1 AND r4 = 1)", 2))
    r1, r2, r3, r4, r5 = (f"r{number} = 1" for number in range(1, 6))
    alone = {**other, **dict.fromkeys([A, B, C, r1, r2, r3, r4], 2)}
    assert priorities(engine) == alone
    engine.add(Subscription.of("S2", "r3 = 1 AND r4 = 1 AND r5 = 1", 3))
    assert priorities(engine) == {**alone, **dict.fromkeys([C, D, r3, r4, r5], 3)}
    engine.remove("S2")  # c's one parent left is a
    assert priorities(engine) == alone


@any_filter
def test_figure_4_1_a_lower_priority_changes_nothing_below(filter: str | None) -> None:
    engine = AtreeEngine(filter)
    engine.add(Subscription.of("S2", "r3 = 1 AND r4 = 1 AND r5 = 1", 3))
    engine.add(Subscription.of("S1", "(r1 = 1 AND r2 = 1) OR (r3 = 1 AND r4 = 1)", 2))
    engine.add(Subscription.of("S3", "r3 = 1 AND r4 = 1", -1))
    found = priorities(engine)
    assert (found[A], found[B], found[C], found[D], found["r3 = 1"]) == (2, 2, 3, 3, 3)
    engine.remove("S1")
    engine.remove("S2")
    assert priorities(engine) == dict.fromkeys([C, "r3 = 1", "r4 = 1"], -1)


# -- §4.1: a part of a subscription of higher priority ---------------------------------------------


@any_filter
@pytest.mark.parametrize("order", ["S1 S2", "S2 S1"])
def test_the_exception_of_section_4_1_does_not_occur(filter: str | None, order: str) -> None:
    """Where the thesis cannot promise it, S1 still comes first."""
    selectors = {"S1": ("A = 1 AND B = 1 AND C = 1 AND D = 1", 2), "S2": ("B = 1 AND C = 1", 1)}
    engine = AtreeEngine(filter)
    for id in order.split():
        engine.add(Subscription.of(id, *selectors[id]))
    event = dict(A=1, B=1, C=1, D=1)
    assert answer(engine, event) == answer(engine, event, limit=2) == ["S1", "S2"]
    assert answer(engine, event, limit=1) == ["S1"]
    assert answer(engine, {**event, "A": 0}, limit=1) == ["S2"]


@pytest.mark.parametrize("filter", ["general", "zero-suppression"])
def test_with_a_limit_the_remaining_nodes_are_not_evaluated(filter: str | None) -> None:
    engine = AtreeEngine(filter)
    engine.add(Subscription.of("S2", "B = 1 AND C = 1", 1))
    engine.add(Subscription.of("S1", "A = 1 AND B = 1 AND C = 1 AND D = 1", 2))
    batch = EventBatch.of([dict(A=1, B=1, C=1, D=1)])
    found = {limit: engine.match_codes(batch, limit)[0].tolist() for limit in (None, 1, 2)}
    # S2's node is true on the way to S1; it waits for its turn, which does not come.
    assert [engine._ids[code] for code in found[1]] == ["S1"]
    assert sorted(found[None]) == sorted(found[2]) and len(found[2]) == 2


# -- §4.2.1: values --------------------------------------------------------------------------------

PRICES = "priceA >= 200 AND priceB >= 100 AND priceC >= 600 AND priceA + priceB + priceC <= 1000"


@filters
def test_section_4_2_1_three_price_events(filter: str) -> None:
    engine = engine_of(filter, {"S": PRICES})
    assert answer(engine, dict(priceA=300, priceB=170, priceC=500)) == []  # C is too cheap
    assert answer(engine, dict(priceA=300, priceB=170, priceC=630)) == []  # together too much
    assert answer(engine, dict(priceA=240, priceB=120, priceC=630)) == ["S"]
    assert answer(engine, dict(priceA=240, priceB=120)) == []


def test_section_4_2_1_partial_sums_are_shared() -> None:
    other = "priceA + priceB + shipping > 500"
    engine = engine_of("general", {"S": PRICES, "T": other})
    tree, nodes = engine.tree, expressions(engine)
    common = nodes["(priceA + priceB)"]
    assert (tree.uses(common), tree.level(common), len(tree.parents(common))) == (2, 2, 2)
    assert tree.uses(nodes["((priceA + priceB) + priceC)"]) == 1
    assert tree.level(nodes["((priceA + priceB) + priceC)"]) == 3
    assert tree.level(nodes["(((priceA + priceB) + priceC) <= 1000)"]) == 4
    assert root_of(engine, "T") == nodes["(((priceA + priceB) + shipping) > 500)"]
    assert answer(engine, dict(priceA=400, priceB=90, shipping=20)) == ["T"]
    engine.remove("S")
    assert tree.uses(common) == 1 and "((priceA + priceB) + priceC)" not in expressions(engine)


@pytest.mark.parametrize("filter", ["zero-suppression", "tvp"])
def test_section_4_2_1_elsewhere_a_term_is_a_derived_attribute(filter: str) -> None:
    engine = engine_of(filter, {"S": PRICES, "T": "priceA + priceB + shipping > 500"})
    assert not engine.tree.labels
    assert "priceA + priceB + priceC <= 1000" in expressions(engine)
    assert engine.stats()["index_derived_terms"] == 2


@filters
def test_section_4_2_1_two_averages(filter: str) -> None:
    selector = "avg(priceA, priceB) <= 1000 AND avg(priceC, priceD) <= 1500"
    engine = engine_of(filter, {"S": selector})
    assert answer(engine, dict(priceA=500, priceB=1500, priceC=0, priceD=3000)) == ["S"]
    assert answer(engine, dict(priceA=500, priceB=1501, priceC=0, priceD=3000)) == []
    assert answer(engine, dict(priceA=500, priceB=1500, priceC=1, priceD=3000)) == []


def test_figure_4_2_average_of_four() -> None:
    engine = engine_of("general", {"S": "avg(A, B, C, D) <= 1000"})
    tree, root = engine.tree, root_of(engine, "S")
    assert expression(engine, root) == "(avg(sum of(A, B), sum of(C, D)) <= 1000)"
    # Four attributes and the constant; two sums; the one node that divides; the comparison.
    assert (len(tree), tree.populations) == (9, [5, 2, 1, 1])
    assert tree.level(root) == 4
    assert answer(engine, dict(A=1000, B=500, C=1500, D=1000)) == ["S"]
    assert answer(engine, dict(A=1000, B=500, C=1500, D=1001)) == []
    assert answer(engine, dict(A=4000, B=0, C=0, D=0)) == ["S"]


LEAST = "least(A, B, C) > least(D, E, F, G)"
LEAST_WRITTEN_OUT = "least(A, least(B, C)) > least(least(D, E), least(F, G))"


def test_figure_4_3_minimum_of_minima() -> None:
    engine = engine_of("general", {"S": LEAST_WRITTEN_OUT})
    tree, root = engine.tree, root_of(engine, "S")
    left, right = "least(A, least(B, C))", "least(least(D, E), least(F, G))"
    assert expression(engine, root) == f"({left} > {right})"
    assert (len(tree), tree.populations) == (13, [7, 3, 2, 1])
    nodes = expressions(engine)
    assert (tree.level(nodes[left]), tree.level(nodes[right]), tree.level(root)) == (3, 3, 4)
    assert all(len(tree.children(node)) in (0, 2) for node in tree.nodes())


@pytest.mark.parametrize("selector", [LEAST, LEAST_WRITTEN_OUT])
@filters
def test_figure_4_3_answers(filter: str, selector: str) -> None:
    engine = engine_of(filter, {"S": selector})
    high = dict(A=5, B=6, C=7, D=9, E=9, F=9, G=9)
    assert answer(engine, high) == []
    for name in "DEFG":
        assert answer(engine, {**high, name: 4}) == ["S"]
        for smaller in "ABC":
            assert answer(engine, {**high, name: 4, smaller: 4}) == []


def test_figure_4_3_minima_of_many_take_two_at_a_time() -> None:
    engine = engine_of("general", {"S": LEAST})
    text = "(least(least of(A, B), C) > least(least of(D, E), least of(F, G)))"
    assert expression(engine, root_of(engine, "S")) == text


# -- §4.2.2: k of n --------------------------------------------------------------------------------

COUNTED = ("a = 1", "b = 1", "c = 1", "d = 1")


@filters
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_section_4_2_2_k_of_n(filter: str, k: int) -> None:
    engine = engine_of(filter, {"S": f"AT LEAST {k} OF ({', '.join(COUNTED)})"})
    for bits in range(16):
        event = {name: bits >> place & 1 for place, name in enumerate("abcd")}
        assert (answer(engine, event) == ["S"]) == (bits.bit_count() >= k)
        known = {name: 1 for name, value in event.items() if value}  # the others are missing
        assert (answer(engine, known) == ["S"]) == (bits.bit_count() >= k)


@filters
@pytest.mark.parametrize("k", [2, 3])
def test_section_4_2_2_a_count_is_true_false_or_unknown(filter: str, k: int) -> None:
    counted = f"AT LEAST {k} OF ({', '.join(COUNTED)})"
    texts = {"and": f"{counted} AND e = 1", "not": f"NOT {counted}", "xor": f"{counted} XOR e = 1"}
    engine = engine_of(filter, texts)
    events = [dict(zip("abcde", v, strict=True)) for v in product((0, 1, None), repeat=5)]
    selectors = {id: parse(text) for id, text in texts.items()}
    for event, found in zip(events, engine.match(EventBatch.of(events)).per_event(), strict=True):
        assert found == [id for id in texts if evaluate(selectors[id], event)]


@filters
def test_section_4_2_2_counts_are_shared(filter: str) -> None:
    selectors = {
        "S": "AT LEAST 2 OF (a = 1, b = 1, c = 1)",
        "T": "AT LEAST 2 OF (a = 1, b = 1, d = 1)",
    }
    engine = engine_of(filter, selectors)
    tree, nodes = engine.tree, expressions(engine)
    count = nodes["(a = 1 # b = 1)"]
    assert (tree.uses(count), tree.level(count)) == (2, 2)
    assert root_of(engine, "S") == nodes["2 of 3(c = 1, (a = 1 # b = 1))"]
    assert (len(tree), tree.populations) == (7, [4, 1, 2])
    assert answer(engine, dict(a=1, b=0, c=1, d=0)) == ["S"]
    assert answer(engine, dict(a=1, b=1)) == ["S", "T"]


@filters
def test_section_4_2_2_one_operand_may_count_twice(filter: str) -> None:
    engine = engine_of(filter, {"S": "AT LEAST 2 OF (a = 1, a = 1, b = 1, c = 1)"})
    assert answer(engine, dict(a=1, b=0, c=0)) == ["S"]
    assert answer(engine, dict(a=0, b=1, c=0)) == []
    assert answer(engine, dict(a=0, b=1, c=1)) == ["S"]
    engine.remove("S")
    assert len(engine.tree) == len(engine.index) == 0
