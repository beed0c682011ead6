"""Tables of brokers: no event is kept from an address that has a match for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.bloom.filter import Bloom
from tamis.bloom.hashing import Shape
from tamis.bloom.interfaces import IPoset
from tamis.engines import ENGINES
from tamis.engines.subscription import Subscription
from tamis.errors import UnsupportedExpression
from tamis.language import parse
from tamis.predicates.covering import covers
from tamis.routing.tables import ContentTable, EdgeTable
from tests.engines.oracle import matching
from tests.strategies import bool_exprs, events

texts = bool_exprs(depth=2).map(str)
ADDRESSES = ["north", "south", "client"]
stored = st.lists(st.tuples(texts, st.sampled_from(ADDRESSES)), max_size=6)


def wanted(model: list[tuple[str, str]], event: dict[str, object]) -> set[str]:
    found = matching({number: text for number, (text, _) in enumerate(model)}, event)
    return {model[number][1] for number in found}


@given(
    shape=st.builds(Shape, st.sampled_from([1, 3, 40, 1 << 14]), st.integers(1, 4)),
    kept=stored,
    gone=stored,
    batch=st.lists(events(), min_size=1, max_size=3),
)
def test_edge_routing_has_no_false_negative(shape, kept, gone, batch) -> None:
    """The filter is made once, at the edge; another broker with this table goes by its bytes."""
    edge, inner = EdgeTable(shape), EdgeTable(shape)
    model = []
    for text, address in [*gone, *kept]:
        try:
            edge.subscribe(Subscription.of(0, text), address)
        except UnsupportedExpression:
            continue
        model.append((text, address))
    # The other one has them in another order, and has forgotten nothing yet.
    for text, address in reversed(model):
        inner.subscribe(Subscription.of(0, text), address)
    for text, address in [pair for pair in gone if pair in model]:
        for table in (edge, inner):
            table.unsubscribe(Subscription.of(0, text), address)
        model.remove((text, address))
    for event in batch:
        bloom = edge.match(event)
        assert bloom == inner.match(event)
        found = inner.forward(Bloom.from_bytes(bloom.to_bytes()))
        assert found == edge.publish(event) >= wanted(model, event)
        if shape.m > 1000:
            assert found == wanted(model, event)


@given(model=stored, batch=st.lists(events(), min_size=1, max_size=3))
def test_routing_by_content(model, batch) -> None:
    table = ContentTable(ENGINES["brute"], neighbours=["north", "south"])
    sent: dict[str, list[str]] = {"north": [], "south": []}
    for text, address in model:
        for neighbour in table.subscribe(Subscription.of("x", text), address):
            assert neighbour != address
            sent[neighbour].append(text)
    for event in batch:
        assert table.publish(event) == wanted(model, event)
        # Whoever is not told a subscription has others that send all of its events here.
        for neighbour, told in sent.items():
            others = [(text, "") for text, address in model if address != neighbour]
            here = matching({n: text for n, text in enumerate(told)}, event)
            assert bool(here) >= bool(wanted(others, event))


def test_a_covered_subscription_is_kept_back() -> None:
    table = ContentTable(ENGINES["brute"], neighbours=["a", "b"])
    assert covers(parse("x > 5"), parse("x > 15 AND y = 0"))
    assert table.subscribe(Subscription.of(1, "x > 15"), "client") == {"a", "b"}
    assert table.subscribe(Subscription.of(2, "x > 5"), "a") == {"b"}
    assert table.subscribe(Subscription.of(3, "x > 15 AND y = 0"), "client") == set()
    assert table.subscribe(Subscription.of(4, "y = 0"), "b") == {"a"}


def test_edge_routing_tells_everybody_else() -> None:
    table = EdgeTable(Shape(1024, 3), neighbours=["a", "b"])
    assert isinstance(table, IPoset) and isinstance(ContentTable(ENGINES["brute"]), IPoset)
    rule = Subscription.of(1, "x = 1 OR y = 2")
    assert table.subscribe(rule, "a") == {"b"}
    assert table.unsubscribe(rule, "a") == {"b"}
    assert len(table.poset) == 0 and table.tree.nodes == 1
    # What was never there is refused, and what is there of it stays.
    table.subscribe(Subscription.of(2, "x = 1"), "a")
    with pytest.raises(KeyError):
        table.unsubscribe(rule, "a")
    assert table.publish({"x": 1}) == {"a"} and len(table.poset) == 1
    with pytest.raises(UnsupportedExpression, match="sequence"):
        table.subscribe(Subscription.of(3, "FIRST x = 1 THEN y = 2"), "a")
    wide = " AND ".join(f"(a{n} = 1 OR b{n} = 1)" for n in range(7))
    with pytest.raises(UnsupportedExpression, match="more than 64 conjunctions"):
        table.subscribe(Subscription.of(4, wide), "a")
