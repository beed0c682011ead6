"""Tables of brokers: no event is kept from an address that has a match for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.bloom.filter import Bloom
from tamis.bloom.hashing import Shape
from tamis.engines import ENGINES
from tamis.routing.cover_index import CoverIndex
from tamis.routing.interest import Interest
from tamis.routing.maximal_interests import MaximalInterests
from tamis.routing.routing_table import EngineTable, FilterTable
from tests.engines.oracle import matching
from tests.routing.networks import conjunctions
from tests.strategies import bool_exprs, events

texts = st.one_of(conjunctions, bool_exprs(depth=2).map(str))
ADDRESSES = ["north", "south", "client"]
stored = st.lists(st.tuples(texts, st.sampled_from(ADDRESSES)), max_size=6, unique=True)
batches = st.lists(events(), min_size=1, max_size=3)


def wanted(model: list[tuple[str, str]], event: dict[str, object]) -> set[str]:
    found = matching({number: text for number, (text, _) in enumerate(model)}, event)
    return {model[number][1] for number in found}


def cannot_hold(model: list[tuple[str, str]]) -> set[str]:
    return {address for text, address in model if Interest.parse(text).conjunctions is None}


@given(
    shape=st.builds(Shape, st.sampled_from([1, 3, 40, 1 << 14]), st.integers(1, 4)),
    model=stored,
    gone=st.sets(st.integers(0, 5)),
    batch=batches,
)
def test_filter_tables_have_no_false_negatives(shape, model, gone, batch) -> None:
    """The filter is made once, at the edge; another broker with this table goes by its bytes."""
    edge, inner = FilterTable(shape), FilterTable(shape)
    for text, address in model:
        edge.insert(Interest.parse(text), address)
    # The other one has them in another order, and has forgotten nothing yet.
    for text, address in reversed(model):
        inner.insert(Interest.parse(text), address)
    for text, address in [pair for number, pair in enumerate(model) if number in gone]:
        for table in (edge, inner):
            table.remove(Interest.parse(text), address)
    model = [pair for number, pair in enumerate(model) if number not in gone]
    filters = edge.match(batch)
    assert filters == inner.match(batch)
    nowhere = [None] * len(batch)
    carried = inner.forward([Bloom.from_bytes(bloom.to_bytes()) for bloom in filters], nowhere)
    assert carried == edge.forward(filters, nowhere)
    for event, found in zip(batch, carried, strict=True):
        assert found >= wanted(model, event)
        if shape.m > 1000:
            assert found == wanted(model, event) | cannot_hold(model)
    sources = [("a", "b", None)[n % 3] for n in range(len(batch))]
    onward = [found - {source} for found, source in zip(carried, sources, strict=True)]
    assert edge.forward(filters, sources) == onward


@pytest.mark.parametrize("engine", ["brute", "siena", "block"])
@given(model=stored, gone=st.sets(st.integers(0, 5)), batch=batches)
def test_engine_tables_are_exact(engine, model, gone, batch) -> None:
    table = EngineTable(ENGINES[engine])
    for text, address in model:
        table.insert(Interest.parse(text), address)
    for text, address in [pair for number, pair in enumerate(model) if number in gone]:
        table.remove(Interest.parse(text), address)
    model = [pair for number, pair in enumerate(model) if number not in gone]
    for event, found in zip(batch, table.forward(batch), strict=True):
        assert found >= wanted(model, event)
        assert found - wanted(model, event) <= cannot_hold(model)


def test_a_table_forgets_removed_interests() -> None:
    table = FilterTable(Shape(1024, 3))
    rule, other = Interest.parse("x = 1 OR y = 2"), Interest.parse("x = 1")
    table.insert(rule, "a"), table.insert(other, "b")
    table.remove(rule, "a")
    assert forwarded(table, {"x": 1, "y": 2}) == {"b"}
    with pytest.raises(KeyError):
        table.remove(rule, "a")
    table.remove(other, "b")
    assert table.sizes()["predicates"] == 0 and table.tree.nodes == 1


def test_an_address_with_an_unsupported_interest_gets_every_event() -> None:
    wide = Interest.parse(" AND ".join(f"(a{n} = 1 OR b{n} = 1)" for n in range(7)))
    assert wide.conjunctions is None
    for table in (FilterTable(Shape(1024, 3)), EngineTable(ENGINES["siena"])):
        table.insert(wide, "a")
        assert forwarded(table, {"z": 0}) == {"a"}
        table.remove(wide, "a")
        assert forwarded(table, {"z": 0}) == set()
    exact = EngineTable(ENGINES["block"])
    exact.insert(wide, "a")
    assert forwarded(exact, {"z": 0}) == set()


def forwarded(table: FilterTable | EngineTable, event: dict[str, object]) -> set[str]:
    if isinstance(table, FilterTable):
        return table.forward(table.match([event]), [None])[0]
    return table.forward([event])[0]


@given(kept=st.lists(conjunctions | texts, max_size=8, unique=True), asked=conjunctions | texts)
def test_the_cover_index_equals_comparing_all_pairs(kept, asked) -> None:
    index = CoverIndex()
    interests = [Interest.parse(text) for text in kept]
    interests = [each for each in interests if each.coverage.filters]
    for each in interests:
        index.add(each)
    interest = Interest.parse(asked)
    if not interest.coverage.filters:
        return
    above = [each for each in interests if each.covers(interest)]
    below = [each for each in interests if interest.covers(each)]
    found, covered = index.find_cover(interest), list(index.covered_by(interest))
    assert found in above if found else not above or has_tests(interest, *above)
    assert set(covered) <= set(below) and len(covered) == len(set(covered))
    assert len(covered) == len(below) or has_tests(interest, *below)
    for each in interests:
        index.remove(each)
    assert not len(index) and not index._general and not index._special


def has_tests(*interests: Interest) -> bool:
    """With tests of text beside it a single value is not seen to be one."""
    filters = [each for interest in interests for each in interest.coverage.filters]
    return any(asked.tests for each in filters for asked in each.terms.values())


def test_interests_covered_only_by_a_removed_one_become_maximal() -> None:
    wide, other, *below = map(
        Interest.parse,
        ["x > 0", "y = 1", "x > 9", "x > 5", "x = 3", "x > 7 AND y = 1", "x = 2 AND y = 1"],
    )
    maximal = MaximalInterests()
    for interest in (*below, wide, other):
        maximal.add(interest)
    assert list(maximal.maximal) == [wide, other]
    nine, five, three, _, _ = below
    changes = maximal.remove(wide)
    # Of the five covered by it, two have another cover, and one is covered by a third.
    assert set(changes) == {(five, True), (three, True), (wide, False)}
    assert changes[-1] == (wide, False) and set(maximal.maximal) == {five, three, other}
    assert set(maximal.remove(five)) == {(nine, True), (five, False)}


@given(data=st.data())
def test_the_maximal_interests_are_advertised(data) -> None:
    """The advertised interests cover all interests, and none of them covers another."""
    maximal, there, told = MaximalInterests(), [], set()
    for _ in range(data.draw(st.integers(1, 12))):
        if there and data.draw(st.booleans()):
            changes = maximal.remove(there.pop(data.draw(st.integers(0, len(there) - 1))))
        else:
            interest = Interest.parse(data.draw(conjunctions))
            if interest in there:
                continue
            there.append(interest)
            changes = maximal.add(interest)
        before = set(told)
        for interest, wanted in changes:
            assert (interest in told) != wanted
            told = told | {interest} if wanted else told - {interest}
            # At no time is an interest uncovered that was advertised before and is still wanted.
            for each in before & set(there):
                assert any(other.covers(each) for other in told)
        assert told == set(maximal.maximal) and len(maximal) == len(there)
        for each in there:
            assert not each.coverage.filters or any(other.covers(each) for other in told)
        assert not any(a.covers(b) for a in told for b in told if a is not b)
