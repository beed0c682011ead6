"""The poset and the forest: Table 1 and Figure 1 of the DEBS paper, and their invariants."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.engines.baselines.filter_engine import FilterEngine
from tamis.engines.baselines.filter_node import EventValues
from tamis.engines.baselines.forest import ForestEngine
from tamis.engines.baselines.siena import SienaEngine
from tests.engines.baselines.orders import check_forest, check_poset, edges, filled, roots
from tests.engines.baselines.random_cases import conjunctions, equalities, lattice, taken

CHECKS = {SienaEngine: check_poset, ForestEngine: check_forest}
TABLE_1 = {
    "f1": "x > 5",
    "f2": "x >= 0.7",
    "f3": "x > 15",
    "f4": "y < 5",
    "f5": "y = 0",
    "f6": "x > 15 AND y > 0",
}
both = pytest.mark.parametrize("kind", CHECKS)


@both
def test_table_1(kind: type[FilterEngine]) -> None:
    engine = filled(kind(), TABLE_1)
    CHECKS[kind](engine)
    assert roots(engine) == {"f2", "f4"}
    assert edges(engine) == {("f2", "f1"), ("f1", "f3"), ("f3", "f6"), ("f4", "f5")}
    assert engine.stats() == {
        "subscriptions": 6,
        "filters": 6,
        "roots": 2,
        "edges": 4,
        "depth": 4,
    }


@both
@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"x": 0, "z": 3}, []),
        ({"x": 1}, ["f2"]),
        ({"x": 16}, ["f1", "f2", "f3"]),
        ({"x": 16, "y": 0}, ["f1", "f2", "f3", "f4", "f5"]),
        ({"x": 16, "y": 1}, ["f1", "f2", "f3", "f4", "f6"]),
        ({"y": 7}, []),
    ],
)
def test_table_1_published(kind, event, expected) -> None:
    engine = filled(kind(), TABLE_1)
    found = engine.publish(EventValues(event))
    assert sorted(list(TABLE_1)[code] for code in found) == expected


@both
def test_filters_below_an_unsatisfied_one_are_not_evaluated(kind) -> None:
    engine = filled(kind(), TABLE_1)
    looked = []

    class Watching(EventValues):
        def satisfies(self, node) -> bool:
            looked.append(engine.subscriptions_at(node)[0].id)
            return super().satisfies(node)

    engine.publish(Watching({"x": 3, "y": 9}))
    assert sorted(looked) == ["f1", "f2", "f4"]


@both
def test_drawn_as_in_figure_1(kind) -> None:
    engine = filled(kind(), TABLE_1)
    assert engine.to_dot() == "\n".join(
        [
            f"digraph {engine.name} {{",
            "  node [shape=box];",
            '  root [label="{null}"];',
            '  n0 [label="{x > 5}", xlabel="f1"];',
            '  n1 [label="{x >= 0.7}", xlabel="f2"];',
            '  n2 [label="{x > 15}", xlabel="f3"];',
            '  n3 [label="{y < 5}", xlabel="f4"];',
            '  n4 [label="{y = 0}", xlabel="f5"];',
            '  n5 [label="{x > 15 AND y > 0}", xlabel="f6"];',
            "  root -> n1;",
            "  root -> n3;",
            "  n0 -> n2;",
            "  n1 -> n0;",
            "  n2 -> n5;",
            "  n3 -> n4;",
            "}",
        ]
    )


def test_a_filter_has_several_parents_in_the_poset_and_one_in_the_forest() -> None:
    texts = {"x": "x > 1", "y": "y > 1", "both": "x > 2 AND y > 2"}
    assert edges(filled(SienaEngine(), texts)) == {("x", "both"), ("y", "both")}
    assert len(edges(filled(ForestEngine(), texts))) == 1


@both
def test_equal_filters_are_stored_once(kind) -> None:
    engine = filled(kind(), {"a": "x > 1 AND y = 2", "b": "y = 2.0 AND NOT x <= 1", "c": "TRUE"})
    assert roots(engine) == {"c"} and edges(engine) == {("c", "a+b")}
    engine.remove("a")
    assert edges(engine) == {("c", "b")}
    engine.remove("b")
    assert edges(engine) == set() and engine.stats()["filters"] == 1


@both
def test_an_unsatisfiable_filter_is_not_stored(kind) -> None:
    engine = filled(kind(), {"never": "a = 1 AND a = 2"})
    assert engine.stats()["subscriptions"] == 1 and engine.stats()["filters"] == 0
    engine.remove("never")
    assert engine.stats()["subscriptions"] == 0


@both
@given(
    texts=st.one_of(
        st.lists(st.one_of(conjunctions(), equalities()), min_size=1, max_size=12),
        st.lists(lattice(), min_size=5, max_size=12),
    ),
    gone=st.lists(st.integers(0, 11), unique=True, max_size=8),
    again=st.lists(st.integers(0, 11), unique=True, max_size=4),
)
def test_order_invariants_hold_after_changes(kind, texts, gone, again) -> None:
    texts = dict(enumerate(taken(kind.name, texts)))
    engine = filled(kind(), texts)
    CHECKS[kind](engine)
    gone = [id for id in gone if id in texts]
    for id in gone:
        engine.remove(id)
        CHECKS[kind](engine)
    engine = pickle.loads(pickle.dumps(engine))
    CHECKS[kind](engine)
    filled(engine, {id: texts[id] for id in again if id in gone})
    CHECKS[kind](engine)


def test_removal_links_neighbours_only_without_another_path() -> None:
    texts = {"x": "x > 1", "xy": "x > 2 AND y > 2", "xz": "x > 2 AND z > 2", "w": "w > 1"}
    texts["all"] = "x > 3 AND y > 3 AND z > 3 AND w > 3"
    engine = filled(SienaEngine(), texts)
    assert edges(engine) >= {("x", "xy"), ("x", "xz"), ("xy", "all"), ("xz", "all"), ("w", "all")}
    engine.remove("xy")
    check_poset(engine)  # x -> xz -> all is left
    engine.remove("xz")
    assert edges(engine) == {("x", "all"), ("w", "all")}


def test_children_of_a_removed_filter_move_below_another_cover() -> None:
    texts = {"x": "x > 1", "y": "y > 1", "xy": "x > 2 AND y > 2", "deep": "x > 5 AND y > 5"}
    for gone in ("x", "y"):
        engine = filled(ForestEngine(), texts)
        engine.remove(gone)
        check_forest(engine)
        assert edges(engine) == {("y" if gone == "x" else "x", "xy"), ("xy", "deep")}


def test_a_moved_filter_keeps_its_subtree_and_covers_new_siblings() -> None:
    """A filter with children moves next to others that it covers."""
    texts = {"x": "x > 1", "a": "x > 2 AND y > 2", "b": "x > 3 AND y > 3", "y": "y > 1"}
    for more in ("x > 4 AND y > 4", "x > 2.5 AND y > 2.5", "x > 2 AND y > 5"):
        engine = filled(ForestEngine(), {**texts, "more": more})
        for gone in ("x", "y", "a"):
            engine.remove(gone)
            check_forest(engine)


def test_the_poset_does_not_depend_on_insertion_order() -> None:
    texts = {n: f"x > {n % 10} AND y < {n // 10}" for n in range(60)} | {60: "x > 3", 61: "y < 4"}
    one = filled(SienaEngine(), texts)
    other = filled(SienaEngine(), dict(reversed(texts.items())))
    assert edges(one) == edges(other) and roots(one) == roots(other)
    check_poset(one)


@both
def test_a_long_chain_pickles(kind) -> None:
    # The most general last: each finds its place at once.
    engine = filled(kind(), {n: f"x > {n}" for n in reversed(range(3000))})
    again = pickle.loads(pickle.dumps(engine))
    assert again.stats()["depth"] == 3000 == len(again.publish(EventValues({"x": 5000})))
