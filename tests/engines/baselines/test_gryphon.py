"""Gryphon's tree: the thesis' Figure 2.1, and independence of the tree from its history."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.engines.baselines.gryphon import GryphonEngine
from tamis.engines.subscription import Subscription
from tamis.errors import UnsupportedExpression
from tamis.events.batch import EventBatch
from tests.engines.baselines.random_cases import equalities

FIGURE_2_1 = {
    "sub1": "attr1 = 'V1' AND attr2 = 'V3' AND attr3 = 'V5'",
    "sub2": "attr1 = 'V1' AND attr3 = 'V6'",
    "sub3": "attr1 = 'V2' AND attr2 = 'V4' AND attr3 = 'V7'",
}


def filled(texts: dict[object, str]) -> GryphonEngine:
    engine = GryphonEngine()
    for id, text in texts.items():
        engine.add(Subscription.of(id, text))
    return engine


def paths(engine: GryphonEngine) -> dict[str, list[str]]:
    """Return the edges from the root to each subscription."""
    lines = [line.strip() for line in engine.to_dot().splitlines()[2:-1]]
    label, ids, edges = {}, {}, {}
    for line in lines:
        head, _, rest = line.partition(" [label=")
        if "->" in head:
            above, below = head.split(" -> ")
            edges[below] = (above, rest.removesuffix("];").strip('"'))
        else:
            label[head], _, here = rest.removesuffix("];").partition(", xlabel=")
            ids[head] = [id for id in here.strip('"').split(", ") if id]
    found = {}
    for node, here in ids.items():
        path, at = [], node
        while at in edges:
            at, value = edges[at]
            path.insert(0, f"{label[at].strip(chr(34))}={value}")
        found |= dict.fromkeys(here, path)
    return found


def test_figure_2_1() -> None:
    engine = filled(FIGURE_2_1)
    assert paths(engine) == {
        "sub1": ["attr1='V1'", "attr2='V3'", "attr3='V5'"],
        "sub2": ["attr1='V1'", "attr2=*", "attr3='V6'"],
        "sub3": ["attr1='V2'", "attr2='V4'", "attr3='V7'"],
    }
    # A root, five inner nodes with the one that don't-care leads to, three ends.
    stats = engine.stats()
    assert (stats["nodes"], stats["edges"], stats["levels"]) == (9, 7, 3)


def test_figure_2_1_matched() -> None:
    engine = filled(FIGURE_2_1)
    batch = EventBatch.of(
        [
            {"attr1": "V1", "attr2": "V3", "attr3": "V5"},
            {"attr1": "V1", "attr2": "V3", "attr3": "V6"},
            {"attr1": "V1", "attr3": "V6"},
            {"attr1": "V2", "attr2": "V3", "attr3": "V7"},
            {"attr2": "V4", "attr3": "V7"},
        ]
    )
    assert engine.match(batch).per_event() == [["sub1"], ["sub2"], ["sub2"], [], []]


def test_a_prefix_is_shared_and_trivial_tests_are_eliminated() -> None:
    engine = filled({"all": "TRUE", "a": "a = 1", "ab": "a = 1 AND b = 2", "c": "c = 3"})
    assert paths(engine) == {
        "all": [],
        "a": ["a=1"],
        "ab": ["a=1", "b=2"],
        "c": ["a=*", "c=3"],  # b is tested by none of those that do not care for a
    }


def test_a_test_can_be_inserted_between_two_others() -> None:
    texts = {"one": "a = 1", "late": "c = 3", "all": "TRUE", "between": "b = 2 AND c = 3"}
    engine = filled({"order": "a = 0 AND b = 0 AND c = 0", **texts})
    engine.remove("order")
    assert paths(engine) == {
        "one": ["a=1"],
        "late": ["a=*", "b=*", "c=3"],
        "all": [],
        "between": ["a=*", "b=2", "c=3"],
    }
    engine.remove("between")
    engine.remove("one")
    assert paths(engine) == {"late": ["c=3"], "all": []}


def test_a_test_can_be_inserted_above_all_others() -> None:
    engine = filled({"order": "a = 0 AND b = 0", "all": "TRUE", "b": "b = 2"})
    engine.remove("order")
    engine.add(Subscription.of("c", "c = 1"))  # it gets the number of a, before that of b
    assert paths(engine) == {"all": [], "b": ["c=*", "b=2"], "c": ["c=1"]}
    found = engine.match(EventBatch.of([{"b": 2, "c": 1}, {"b": 2}]))
    assert found.per_event() == [["all", "b", "c"], ["all", "b"]]


def test_equal_values_are_one_edge() -> None:
    engine = filled({"int": "a = 1", "float": "a = 1.0", "between": "a BETWEEN 1 AND 1", "f": "f"})
    assert engine.stats()["edges"] == 2
    batch = EventBatch.of([{"a": 1.0}, {"a": True}, {"f": True}])
    assert engine.match(batch).per_event() == [["between", "float", "int"], [], ["f"]]


@given(
    texts=st.lists(equalities(), min_size=1, max_size=12),
    gone=st.lists(st.integers(0, 11), unique=True, max_size=11),
)
def test_removal_restores_the_tree(texts, gone) -> None:
    # The first names all attributes, and stays: so their order is the same in both.
    first = "a = 0 AND b = 0 AND c = 0 AND d = 0 AND f"
    subscriptions = {"first": first, **{str(n): text for n, text in enumerate(texts)}}
    engine = filled(subscriptions)
    for number in gone:
        if number < len(texts):
            engine.remove(str(number))
            del subscriptions[str(number)]
    fresh = filled(subscriptions)
    assert paths(engine) == paths(fresh)
    sizes = ("subscriptions", "nodes", "edges", "levels")
    assert [engine.stats()[name] for name in sizes] == [fresh.stats()[name] for name in sizes]


def test_many_edges_are_all_found_again() -> None:
    """Tables grow, and slots are freed in the middle of others."""
    engine = filled({n: f"a = {n % 97} AND b = {n}" for n in range(3000)})
    for number in range(0, 3000, 3):
        engine.remove(number)
    batch = EventBatch.of([{"a": n % 97, "b": n} for n in range(3000)])
    found = engine.match(batch).per_event()
    assert found == [[n] if n % 3 else [] for n in range(3000)]
    for number in range(3000):
        if number % 3:
            engine.remove(number)
    stats = engine.stats()
    assert (stats["nodes"], stats["edges"], stats["levels"]) == (1, 0, 0)


@pytest.mark.parametrize(
    ("text", "construct"),
    [
        ("a = 1 AND b > 2", "a test that is not an equality (b > 2)"),
        ("a IN (1, 2)", "a test that is not an equality (a IN (1, 2))"),
        ("a IS NULL", "a test that is not an equality (a IS NULL)"),
        ("a = b AND c = 1", "a test of several attributes (a = b)"),
    ],
)
def test_unsupported_tests_are_named(text: str, construct: str) -> None:
    with pytest.raises(UnsupportedExpression) as caught:
        filled({"s": text})
    assert caught.value.construct == construct
    assert "equalities" in caught.value.hint
