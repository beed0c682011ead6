"""Whatever the strategy, the tree and the filters: each event comes to whoever wants it, once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tamis_lab.simulation.network import Network

from tamis.bloom.hashing import Shape
from tamis.errors import InputError, LoopError, SelectorError
from tamis.routing.interest import Interest
from tamis.routing.router import HERE
from tamis.routing.strategies import STRATEGIES, router
from tests.routing.networks import SHAPES, Model, any_events, name, selectors, single, trees

# With filters of the paper, and with those that have no more than others can ask for.
strategies = pytest.mark.parametrize("strategy", [*STRATEGIES, "narrow"])


@strategies
@given(data=st.data())
def test_each_event_reaches_all_interested_subscribers(strategy, data) -> None:
    """Subscriptions and brokers come and go between events."""
    tree = data.draw(trees(), "tree")
    shape = data.draw(st.sampled_from(SHAPES), "shape")
    model = Model.of(strategy, shape, tree, pick=lambda links: data.draw(st.sampled_from(links)))
    network = model.network
    for _ in range(data.draw(st.integers(1, 10), "steps")):
        nodes = st.sampled_from(network.nodes)
        what = data.draw(st.sampled_from(["subscribe", "unsubscribe", "publish", "move"]))
        if what == "subscribe":
            model.subscribe(data.draw(nodes), data.draw(selectors))
        elif what == "unsubscribe" and model.wanted:
            model.unsubscribe(data.draw(st.sampled_from(sorted(model.wanted))))
        elif what == "move" and network.links:
            network.unlink(*data.draw(st.sampled_from(network.links)))
            one, other = data.draw(nodes), data.draw(nodes)
            if network.way(one, other) is None:
                network.link(one, other)
        elif what == "publish":
            network.settle()
            passage = network.publish(data.draw(nodes), data.draw(any_events))
            network.settle()
            model.check(passage)
            if strategy in ("edge", "narrow"):
                assert passage.evaluations == 1
            if strategy == "siena":  # exact as long as nothing is beyond what a table can hold
                assert not passage.wasted_links or has_wide(model)
            if strategy == "flooding":
                assert passage.evaluations == 0
    network.settle()
    check_tables(model)


def has_wide(model: Model) -> bool:
    wanted = [network for node in model.network.nodes for network in [model.network.router(node)]]
    return any(
        interest.conjunctions is None
        for each in wanted
        for source in (HERE, *each.neighbours)
        for interest in each.wanted_interests(source).values()
    )


def check_tables(model: Model) -> None:
    """Both ends of a link agree; what is told is enough for all that is wanted beyond."""
    network = model.network
    for here, there in network.links:
        one, other = network.router(here), network.router(there)
        assert dict(one.advertised_interests(there)) == dict(other.wanted_interests(here))
        if one.strategy == "flooding":
            continue
        beyond = {
            text: interest
            for source in (HERE, *one.neighbours - {there})
            for text, interest in one.wanted_interests(source).items()
        }
        told = one.advertised_interests(there)
        assert set(told) <= set(beyond)
        if one.strategy == "edge":
            assert set(told) == set(beyond)
            continue
        for interest in beyond.values():
            filters = interest.coverage.filters
            assert not filters or any(each.covers(interest) for each in told.values())
        for interest in told.values():  # and not more than enough
            others = [each for each in told.values() if each != interest]
            assert not any(each.covers(interest) for each in others)


@strategies
@given(data=st.data())
def test_nothing_is_lost_while_others_come_and_go(strategy, data) -> None:
    """Who was there before an event and is there after it gets it, whatever is on its way."""
    tree = data.draw(trees(5))
    model = Model.of(
        strategy,
        data.draw(st.sampled_from(SHAPES)),
        tree,
        pick=lambda links: data.draw(st.sampled_from(links)),
    )
    nodes = st.sampled_from(model.network.nodes)
    for _ in range(data.draw(st.integers(1, 4))):
        model.subscribe(data.draw(nodes), data.draw(selectors))
    model.network.settle()
    kept, passages = dict(model.wanted), []
    for _ in range(data.draw(st.integers(1, 8))):
        what = data.draw(st.sampled_from(["subscribe", "unsubscribe", "publish", "step"]))
        if what == "subscribe":
            model.subscribe(data.draw(nodes), data.draw(selectors))
        elif what == "unsubscribe" and model.wanted:
            which = data.draw(st.sampled_from(sorted(model.wanted)))
            model.unsubscribe(which)
            kept.pop(which, None)
        elif what == "publish":
            passages.append(model.network.publish(data.draw(nodes), data.draw(any_events)))
        else:
            model.network.step()
    model.network.settle()
    for passage in passages:
        model.wanted = kept
        for node, ids in model.oracle(dict(passage.event)).items():
            assert set(ids) <= set(passage.delivered.get(node, []))
        assert len(passage.crossed) == len(set(passage.crossed))


@pytest.mark.parametrize("strategy", ["siena", "covering"])
def test_covered_interests_are_sent_before_their_cover_is_withdrawn(strategy) -> None:
    one = router(strategy)
    one.join("north")
    wide, narrow = Interest.parse("x > 5"), Interest.parse("x > 15 AND y = 0")
    assert [(t.interest, t.wanted) for t in one.subscribe(wide)] == [(wide, True)]
    assert one.subscribe(narrow) == []
    told = [(t.interest, t.wanted) for t in one.unsubscribe(wide)]
    assert told == [(narrow, True), (wide, False)]
    back = [(t.interest, t.wanted) for t in one.subscribe(wide)]
    assert back == [(wide, True), (narrow, False)]
    # Whoever comes later is told the same.
    assert [t.interest for t in one.join("south")] == [wide]


def test_a_neighbour_is_not_sent_its_own_interests() -> None:
    one = router("edge")
    one.join("a"), one.join("b")
    x = Interest.parse("x = 1")
    assert [t.neighbour for t in one.subscribe(x, "a")] == ["b"]
    assert one.subscribe(x, "a") == []  # said again
    assert [t.neighbour for t in one.subscribe(x, "b")] == ["a"]
    assert set(one.advertised_interests("a")) == set(one.advertised_interests("b")) == {"x = 1"}
    assert one.subscribe(x) == [] and one.subscribe(x) == []
    assert one.unsubscribe(x, "a") == [] and one.unsubscribe(x) == []
    assert [t.neighbour for t in one.unsubscribe(x)] == ["b"]
    assert [t.neighbour for t in one.leave("b")] == ["a"]
    assert dict(one.advertised_interests("a")) == {}
    assert one.route({"x": 1}) == router("edge").route({"x": 1})


@strategies
@given(data=st.data())
def test_a_batch_is_routed_like_single_events(strategy, data) -> None:
    shape, narrow = data.draw(st.sampled_from(SHAPES)), strategy == "narrow"
    one, edge = (router("edge" if narrow else strategy, shape, narrow) for _ in range(2))
    for neighbour in "ab":
        one.join(neighbour), edge.join(neighbour)
    places = st.sampled_from([HERE, "a", "b"])
    for selector, source in data.draw(st.lists(st.tuples(single, places), max_size=8)):
        one.subscribe(Interest.parse(selector), source)
        edge.subscribe(Interest.parse(selector), source)
    asked = data.draw(st.lists(st.tuples(any_events, places, st.booleans()), max_size=6))
    events, sources, carries = zip(*asked, strict=True) if asked else ((), (), ())
    filters = [
        edge.route(event).bloom if carried else None
        for event, carried in zip(events, carries, strict=True)
    ]
    each = [one.route(*args) for args in zip(events, sources, filters, strict=True)]
    before = one.evaluations
    assert one.route_many(events, sources, filters) == each
    assert one.evaluations == 2 * before


def test_cycles_of_links_are_rejected() -> None:
    network = Network("edge")
    for node in "abcd":
        network.add(node)
    network.link("a", "b"), network.link("b", "c")
    with pytest.raises(
        LoopError, match="linking c to a would close a loop: there is c - b - a"
    ) as e:
        network.link("c", "a")
    assert (e.value.one, e.value.other, e.value.way) == ("c", "a", ["c", "b", "a"])
    with pytest.raises(LoopError, match="a cannot be linked to itself"):
        network.link("a", "a")
    with pytest.raises(LoopError):
        network.link("b", "a")
    assert sorted(network.links) == [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")]
    network.unlink("b", "a")
    network.link("c", "a")


@strategies
def test_a_leaving_broker_withdraws_its_interests(strategy) -> None:
    model = Model.of(strategy, Shape(1024, 3), [(0, 1), (1, 2), (1, 3)])
    network = model.network
    model.subscribe("b2", "x > 5"), model.subscribe("b3", "x > 15")
    network.settle()
    network.remove("b2")
    network.settle()
    del model.wanted["b2", 1]
    assert network.nodes == ["b0", "b1", "b3"]
    for value in (10, 20):
        passage = network.publish("b0", {"x": value})
        network.settle()
        model.check(passage)
    if strategy != "flooding":
        assert list(network.router("b0").wanted_interests("b1")) == ["x > 15"]
    network.add("b2")
    network.link("b0", "b2")
    network.settle()
    assert network.publish("b2", {"x": 20}) and network.step() is (strategy != "")


def test_edge_routing_evaluates_once_on_a_line_of_any_length() -> None:
    for length in (1, 2, 8, 30):
        tree = [(n, n + 1) for n in range(length - 1)]
        for strategy, expected in (("edge", 1), ("siena", length), ("covering", length)):
            model = Model.of(strategy, Shape(4096, 4), tree)
            model.subscribe(name(length - 1), "x > 5 AND y = 0")
            model.network.settle()
            passage = model.network.publish("b0", {"x": 6, "y": 0})
            model.network.settle()
            assert passage.evaluations == expected
            assert passage.delivered == {name(length - 1): [1]}
            assert passage.checked == {name(length - 1)}
            assert len(passage.crossed) == passage.hops[name(length - 1)] == length - 1


def test_narrow_filters_are_shorter_and_route_alike() -> None:
    passages = []
    for strategy in ("edge", "narrow"):
        model = Model.of(strategy, Shape(1024, 3), [(0, 1), (1, 2), (1, 3)])
        for n in range(30):
            model.subscribe(f"b{n % 4}", f"x > {n} AND y = {n % 5} AND z < {n}")
        model.network.settle()
        passages.append([])
        for n in range(30):
            passages[-1].append(model.network.publish("b0", {"x": n, "y": n % 5, "z": 2}))
        model.network.settle()
    for wide, narrow in zip(*passages, strict=True):
        assert wide.delivered == narrow.delivered
        assert (narrow.crossed, narrow.checked) == (wide.crossed, wide.checked)
    sent = [[each.filter_bytes for each in some if each.crossed] for some in passages]
    assert 2 * sum(sent[1]) < sum(sent[0])


def test_tiny_filters_cause_false_positives_but_no_loss() -> None:
    model = Model.of("edge", Shape(2, 1), [(0, 1), (1, 2)])
    for n in range(20):
        model.subscribe("b2", f"x = {n} AND y = {n}")
    model.network.settle()
    passage = model.network.publish("b0", {"x": 3, "y": 4})
    model.network.settle()
    assert passage.delivered == {} and passage.checked == {"b2"}
    assert passage.wasted_links == {("b0", "b1"), ("b1", "b2")}
    assert passage.filter_bytes > 0


def test_invalid_requests_are_rejected() -> None:
    network = Network("covering")
    network.add("a")
    with pytest.raises(InputError, match="already"):
        network.add("a")
    with pytest.raises(InputError, match="no broker 'b'"):
        network.link("a", "b")
    with pytest.raises(InputError, match="not linked"):
        network.unlink("a", "b")
    with pytest.raises(SelectorError):
        network.subscribe("a", 1, "x >")
    network.subscribe("a", 1, "x > 1")
    with pytest.raises(InputError, match="already"):
        network.subscribe("a", 1, "x > 2")
    one = network.router("a")
    with pytest.raises(InputError, match="not a neighbour"):
        one.subscribe(Interest.parse("x > 1"), "b")
    with pytest.raises(KeyError):
        one.unsubscribe(Interest.parse("x > 9"))
    with pytest.raises(InputError, match="flooding, siena, covering, edge"):
        router("osmosis")
    with pytest.raises(InputError, match="sequences"):
        Interest.parse("FIRST x = 1 THEN y = 1")
