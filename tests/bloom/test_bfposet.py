"""The bfposet: an event's filter has the bits of exactly the predicates that it satisfies."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.bloom.bfposet import BFPoset
from tamis.bloom.filter import Bloom
from tamis.bloom.hashing import Shape
from tamis.bloom.hasse_diagram import HasseDiagram
from tamis.bloom.interfaces import IBFPoset
from tamis.bloom.poset_predicate import StoredPredicate, canonical_text
from tamis.language import evaluate, parse
from tamis.language.expr import Not
from tamis.language.printer import to_text
from tests.bloom.paper import SHAPE, TABLE_1
from tests.soak import count
from tests.strategies import events, predicates

# Dense: few constants, so that every relation between two constraints comes up.
CONSTANTS = ["0", "1", "1.0", "1.5", "2", "-0.0", "'a'", "'ab'", "'b'", "TRUE", "FALSE"]
TESTS = [
    *("= {}", "<> {}", "< {}", "<= {}", "> {}", ">= {}", "IN ({}, {})", "NOT IN ({}, {})"),
    *("BETWEEN {} AND {}", "NOT BETWEEN {} AND {}", "IS NULL", "IS NOT NULL"),
    *("LIKE 'a%'", "LIKE '%b'", "NOT LIKE 'a%'", "RLIKE 'a'"),
]
VALUES = [None, 0, 1, 1.0, 1.2, 1.5, 2, 3, -1, math.nan, math.inf, "", "a", "ab", "b", True, False]


@st.composite
def constraints(draw) -> object:
    test = draw(st.sampled_from(TESTS))
    drawn = [draw(st.sampled_from(CONSTANTS)) for _ in range(test.count("{}"))]
    return parse(f"{draw(st.sampled_from('xyz'))} {test.format(*drawn)}")


small_events = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from([*VALUES, [1], {"a": 1}]) for name in "xyzw"}
)
tiny_shapes = st.builds(Shape, st.sampled_from([1, 2, 5, 64, 1 << 14]), st.integers(1, 4))


def check(poset: BFPoset, held: list[object], event: dict[str, object]) -> None:
    right = [leaf for leaf in held if evaluate(leaf, event) is True]
    expected = {place for leaf in right for place in poset.filter_of([leaf]).places.tolist()}
    found = poset.match(event)
    assert set(found.places.tolist()) == expected
    assert {held.text for held in poset.satisfied_predicates(event)} == {
        canonical_text(leaf) for leaf in right
    }
    assert found <= poset.universe.bloom
    for leaf in right:
        assert poset.filter_with_covers(leaf) <= found  # all that cover it are satisfied too


@given(
    shape=tiny_shapes,
    kept=st.lists(constraints(), max_size=25),
    gone=st.lists(constraints(), max_size=25),
    batch=st.lists(small_events, min_size=1, max_size=5),
)
def test_an_event_filter_is_the_union_of_satisfied_predicates(shape, kept, gone, batch) -> None:
    """An event's filter has the bits of all predicates that it satisfies, and no others."""
    poset = BFPoset(shape)
    both = [leaf for pair in zip(gone, kept, strict=False) for leaf in pair]
    both += kept[len(gone) :] + gone[len(kept) :]
    for number, leaf in enumerate(both):
        poset.subscribe([leaf], "here")
        check(poset, both[: number + 1], batch[number % len(batch)])
    for event in batch:
        check(poset, both, event)
    for leaf in gone:
        poset.unsubscribe([leaf], "here")
    assert len(poset) == len({canonical_text(leaf) for leaf in kept})
    for event in batch:
        check(poset, kept, event)


@given(
    leaves=st.lists(st.tuples(predicates(functions=True), st.booleans()), max_size=8),
    batch=st.lists(events(), min_size=1, max_size=3),
)
def test_any_predicate_on_any_event(leaves, batch) -> None:
    held = [Not(leaf) if negated else leaf for leaf, negated in leaves]
    poset = BFPoset(Shape(1 << 14, 3))
    poset.hold(held)
    for event in batch:
        check(poset, held, event)


@given(st.lists(constraints(), max_size=20), st.data())
def test_a_diagram_is_the_transitive_reduction_of_covering(leaves, data) -> None:
    """Two groups are linked if and only if one covers the other with none in between."""
    leaves = [parse("x" + to_text(leaf)[1:]) for leaf in leaves]
    held = [StoredPredicate(leaf, canonical_text(leaf), Shape(64, 2)) for leaf in leaves]
    diagram = HasseDiagram()
    for each in held:
        diagram.add(each)
    for each in data.draw(st.permutations(held))[: len(held) // 2]:
        diagram.remove(each)
        held.remove(each)
    groups = list(diagram)
    assert sorted(h.text for g in groups for h in g.members) == sorted(h.text for h in held)

    def under(lower, upper) -> bool:
        return upper is not lower and upper.members[0].covers(lower.members[0])

    for lower in groups:
        assert all(m.covers(n) for m in lower.members for n in lower.members)
        above = [upper for upper in groups if under(lower, upper)]
        direct = {g for g in above if not any(under(other, g) for other in above)}
        assert set(lower.above) == direct
        assert (lower in diagram.roots) == (not above)
        assert all(lower in upper.below for upper in lower.above)
    for each in held:
        assert {h for h in held if h.covers(each)} == set(diagram.covering_predicates(each))


# -- Figure 1 and Table 1 -------------------------------------------------------------------------


@pytest.fixture
def paper() -> BFPoset:
    poset = BFPoset(SHAPE)
    for source, (texts, _) in TABLE_1.items():
        poset.subscribe(map(parse, texts), source)
    return poset


def test_table_1(paper) -> None:
    """A filter of a subscription has the bits of its own predicates, k of them each."""
    for texts, bits in TABLE_1.values():
        bloom = paper.filter_of(map(parse, texts))
        assert len(bloom) == len(bits) == 2 * len(texts)
    assert len(paper) == 6  # x > 15 is there once: seven predicates, six stored
    assert paper.filter_of([parse("x > 15")]) <= paper.filter_of([parse("x > 15"), parse("y > 0")])


def test_figure_1(paper) -> None:
    links = {}
    for attribute, diagram in paper.diagrams():
        for group in diagram:
            (held,) = group.members
            links[held.text] = {upper.members[0].text for upper in group.above} or {attribute}
    assert links == {
        "x >= 0.7": {"x"},
        "x > 5": {"x >= 0.7"},
        "x > 15": {"x > 5"},
        "y < 5": {"y"},
        "y > 0": {"y"},
        "y = 0": {"y < 5"},
    }
    own = {text: paper.filter_of([parse(text)]) for text in links}
    whole = {text: paper.filter_with_covers(parse(text)) for text in links}
    assert whole["x >= 0.7"] == own["x >= 0.7"]
    assert whole["x > 5"] == own["x > 5"] | own["x >= 0.7"]
    assert whole["x > 15"] == own["x > 15"] | own["x > 5"] | own["x >= 0.7"]
    assert whole["y = 0"] == own["y = 0"] | own["y < 5"]
    assert whole["y > 0"] == own["y > 0"]
    assert paper.match({"x": 20}) == whole["x > 15"]
    assert paper.match({"x": 10}) == whole["x > 5"]
    # The union of all: y = 3 is in y < 5 and in y > 0, neither of which covers the other.
    assert paper.match({"y": 3}) == whole["y < 5"] | whole["y > 0"]
    assert paper.match({"x": 20, "y": 0}) == whole["x > 15"] | whole["y = 0"]
    assert len(paper.match({"z": 3})) == len(paper.match({"x": 0})) == 0


def test_figure_1_drawn(paper) -> None:
    dot = paper.to_dot()
    assert dot.startswith("digraph bfposet {") and dot.endswith("}")
    assert dot.count('label="{null}"') == 2 and dot.count("->") == 2 + 6
    for text in ("x > 15", "y = 0"):
        assert f'label="{text}\\n{paper.filter_with_covers(parse(text))!r}"' in dot


# -- the rest -------------------------------------------------------------------------------------


def test_the_same_text_is_stored_once_and_counted() -> None:
    poset = BFPoset(SHAPE)
    for _ in range(3):
        poset.subscribe([parse("x = 1"), parse("y > 2")], "a")
    assert len(poset) == 2 and parse("x = 1") in poset
    for left in (2, 1):
        poset.unsubscribe([parse("x = 1")], "a")
        assert parse("x = 1") in poset and len(poset.match({"x": 1})) == 2, left
    poset.unsubscribe([parse("x = 1")], "a")
    assert parse("x = 1") not in poset and len(poset.match({"x": 1})) == 0
    with pytest.raises(KeyError):
        poset.unsubscribe([parse("y > 2"), parse("x = 1")], "a")
    assert len(poset.match({"y": 3})) == 2  # nothing has changed


def test_equal_constants_with_different_texts_are_found() -> None:
    """0.0 equals -0.0, and 1 equals 1.0; filters use texts, so the bits of all must be set."""
    poset = BFPoset(SHAPE)
    texts = ["x = 0.0", "x = -0.0", "x = 0", "x >= 0", "x >= -0.0"]
    poset.hold(map(parse, texts))
    assert len(poset) == 5
    assert poset.match({"x": 0}) == poset.filter_of(map(parse, texts))


@given(predicates(functions=True), st.booleans())
def test_canonical_texts(leaf, negated) -> None:
    leaf = Not(leaf) if negated else leaf
    assert canonical_text(leaf) == to_text(leaf)


def test_numbers_and_texts_are_distinguished() -> None:
    poset = BFPoset(SHAPE)
    poset.hold([parse("x = 1"), parse("x = '1'"), parse("x = TRUE"), parse("x = 1.0")])
    assert len(poset) == 4
    assert poset.match({"x": "1"}) == poset.filter_of([parse("x = '1'")])
    assert poset.match({"x": True}) == poset.filter_of([parse("x = TRUE")])


def test_released_predicates_leave_nothing() -> None:
    poset = BFPoset(SHAPE)
    empty = {name: value for name, value in vars(poset).items() if isinstance(value, dict)}
    texts = ["x IS NULL", "x > 5", "a + b = 1", "(a + b) IS NULL", "a < b", "TRUE", "y.z = 1"]
    held = poset.hold(map(parse, texts))
    assert len(poset) == 7 and poset.attributes == ["a + b", "x", "y.z"]
    poset.release(held)
    assert all(value == {} for value in empty.values()) and len(empty) == 7
    assert poset.universe.fill == 0


def test_subscriptions_go_to_all_neighbours_but_their_source() -> None:
    poset = BFPoset(SHAPE, neighbours=["a", "b", "c"])
    assert isinstance(poset, IBFPoset)
    assert poset.subscribe([parse("x = 1")], "b") == {"a", "c"}
    assert poset.subscribe([parse("x = 1")], "client") == {"a", "b", "c"}
    assert poset.unsubscribe([parse("x = 1")], "b") == {"a", "c"}


def test_events_of_any_form() -> None:
    poset = BFPoset(SHAPE)
    leaves = [parse(t) for t in ("u.v = 1", "u IS NOT NULL", "u.w IS NULL", "a + b > 3", "a < b")]
    poset.hold(leaves)
    for event in ({"u": {"v": 1}}, {"u": {"w": 2}}, {"u": 3}, {"a": 1, "b": 3}, {}, {"u.v": 1}):
        check(poset, leaves, event)


def test_a_long_chain_is_quick() -> None:
    """The time is linear in the satisfied predicates, with thousands of thresholds on one name."""
    size = count(3_000, 30_000)
    poset = BFPoset(SHAPE)
    poset.hold(parse(f"x {op} {n}") for n in range(size) for op in ("<", ">="))
    assert len(list(poset.satisfied_predicates({"x": 10}))) == (size - 11) + 11
    assert poset.match({"x": 10}) == Bloom.at(
        SHAPE,
        [p for held in poset.satisfied_predicates({"x": 10}) for p in held.places],
    )
