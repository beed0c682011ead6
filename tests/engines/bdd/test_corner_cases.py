"""Cases in which a diagram could become wrong, or too large, although each answer is simple."""

import pickle
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tamis_lab.workloads.bdd2001 import Workload

import tamis
from tamis.engines.bdd import BddEngine
from tamis.engines.bdd.diagram import Diagram
from tamis.engines.subscription import Subscription
from tamis.errors import InputError, UnsupportedExpression
from tamis.events.batch import EventBatch
from tests.engines.oracle import matching
from tests.soak import count
from tests.strategies import bool_exprs


def engine_of(texts: dict[object, str], **options: object) -> BddEngine:
    engine = BddEngine(**options)  # type: ignore[arg-type]
    for id, text in texts.items():
        engine.add(Subscription.of(id, text))
    return engine


def answer(engine: BddEngine, *events: dict[str, object]) -> list[list[object]]:
    return engine.match(EventBatch.of(list(events))).per_event()


# -- the records agree with the diagram ------------------------------------------------------------


def check_records(engine: BddEngine) -> None:
    """Check that the slots are what the roots reach, uses are counted, and children come first."""
    diagram = engine._diagram
    assert diagram is not None
    roots = engine._roots.alive_edges()
    reached: set[int] = set()
    pending = [edge >> 1 for edge in roots]
    while pending:
        slot = pending.pop()
        if slot and slot not in reached:
            reached.add(slot)
            assert diagram.high[slot] & 1 == 0 and diagram.low[slot] != diagram.high[slot]
            pending += [diagram.low[slot] >> 1, diagram.high[slot] >> 1]
    assert set(diagram.alive_slots()) == reached and len(diagram) == len(reached)
    uses = Counter(edge >> 1 for edge in roots)
    for slot in reached:
        uses[diagram.low[slot] >> 1] += 1
        uses[diagram.high[slot] >> 1] += 1
    for slot in reached:
        assert diagram._references[slot] == uses[slot]
    assert diagram.uses == Counter(diagram.label[slot] for slot in reached)
    variables = engine._variables
    assert {variables.variable_of(p) for p in variables.predicates()} == set(diagram.uses)
    needed = sum(len(one) for one in engine._roots._predicates)
    assert engine.index.stats()["references"] == len(variables) + needed
    answer(engine, {})
    nodes, place = engine._layout.nodes, engine._layout._place.array
    for slot in reached:
        for edge in (nodes.low[place[slot]], nodes.high[place[slot]]):
            assert edge >> 1 < place[slot]


@settings(max_examples=count(25, 1_000), deadline=None)
@given(
    exprs=st.lists(bool_exprs(), min_size=1, max_size=8),
    gone=st.sets(st.integers(0, 7)),
    semantics=st.sampled_from(["sql", "strict"]),
    options=st.fixed_dictionaries(
        {}, optional={"restrict": st.booleans(), "order": st.sampled_from(["random", "frequency"])}
    ),
)
def test_records_agree_with_the_diagram_after_changes(exprs, gone, semantics, options) -> None:
    engine = BddEngine(**options)
    for number, expr in enumerate(exprs):
        engine.add(Subscription.of(number, str(expr), semantics=semantics))
        if number % 2:
            check_records(engine)
    for number in gone & set(range(len(exprs))):
        engine.remove(number)
        check_records(engine)
    check_records(pickle.loads(pickle.dumps(engine)))
    for number in set(range(len(exprs))) - gone:
        engine.remove(number)
    check_records(engine)
    assert len(engine.index) == len(engine._variables) == engine.stats()["nodes"] == 0


@pytest.mark.parametrize("after", range(9))
def test_an_interrupted_addition_leaves_consistent_records(
    after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C can come at any time; CUDD may reuse a node without a root for another function."""
    engine = engine_of({"before": "a = 1 AND b = 1 OR c = 1"})
    make, made = Diagram._make, iter(range(100))

    def interrupted(*arguments: object) -> None:
        if next(made) == after:
            raise KeyboardInterrupt
        make(*arguments)  # type: ignore[arg-type]

    text = "AT LEAST 2 OF (a = 1, d = 1, e = 1, f = 1) XOR c = 1"
    with monkeypatch.context() as patched:
        patched.setattr(Diagram, "_make", interrupted)
        with pytest.raises(KeyboardInterrupt):
            engine.add(Subscription.of("s", text))
    check_records(engine)
    engine.add(Subscription.of("s", text))
    check_records(engine)
    assert answer(engine, {"a": 1, "d": 1, "c": 2}, {"c": 1}) == [["s"], ["before"]]


def test_variables_are_reused() -> None:
    """CUDD never deletes a variable: new predicates get the unused ones."""
    engine = BddEngine()
    for cycle in range(5):
        for number in range(100):
            engine.add(Subscription.of(number, f"a = {1000 * cycle + number} AND b > {number}"))
        for number in range(100):
            engine.remove(number)
    assert len(engine._variables.levels()) == 200


# -- alternating additions and matches -------------------------------------------------------------


def test_adding_and_matching_in_turns_lays_out_rarely() -> None:
    engine, texts = BddEngine(), {}
    for number, text in enumerate(Workload(subscriptions=1000).selectors()):
        texts[number] = text
        engine.add(Subscription.of(number, text))
        engine.match(EventBatch.of([{}]))
    assert 2 <= engine.stats()["layouts"] < 20  # type: ignore[operator]
    for number in range(0, 1000, 2):
        engine.remove(number)
        engine.match(EventBatch.of([{}]))
        del texts[number]
    assert engine.stats()["layouts"] < 30  # type: ignore[operator]
    batch = Workload(subscriptions=1).events(40)
    found = [set(ids) for ids in engine.match(batch).per_event()]
    assert found[:8] == [matching(texts, row) for row in batch.rows()[:8]]
    fresh = engine_of(texts)
    assert engine.match(batch) == fresh.match(batch)


def test_nodes_added_together_make_few_runs() -> None:
    texts = dict(enumerate(Workload(subscriptions=700).selectors()))
    engine = engine_of({number: texts[number] for number in range(620)})
    batch = Workload(subscriptions=1).events(30)
    engine.match(batch)
    before = len(engine._layout.nodes.run_label)
    for number in range(620, 700):
        engine.add(Subscription.of(number, texts[number]))
    assert engine.match(batch) == engine_of(texts).match(batch)
    assert engine.stats()["layouts"] == 1
    assert len(engine._layout.nodes.run_label) <= 2 * before + 20
    check_records(engine)


@pytest.mark.parametrize("semantics", ["sql", "strict"])
@pytest.mark.parametrize("density", [1.0, 0.4])
def test_a_batch_of_several_pieces_and_blocks(semantics: str, density: float) -> None:
    """Pieces have 8,192 events, blocks 512; some are left over of both."""
    workload = Workload(subscriptions=60, density=density)
    batch = workload.events(8192 + 512 + 77)
    matchers = [tamis.Matcher(semantics=semantics, engine=name) for name in ("bdd", "block")]
    for matcher in matchers:
        matcher.add_many(enumerate(workload.selectors()))
    found, wanted = (matcher.match_batch(batch) for matcher in matchers)
    assert len(wanted) > 1000 and found == wanted
    assert found.counts() == wanted.counts()


def test_strict_with_more_attributes_than_a_word_has_bits() -> None:
    matcher = tamis.Matcher(semantics="strict", engine="bdd")
    for number in range(150):
        matcher.add(number, f"a{number} > 0 OR a{(number + 1) % 150} > 0")
    batch = [{f"a{(n + k) % 150}": 1 for k in range(1 + n % 4)} for n in range(300)]
    texts = {id: matcher[id].text for id in matcher}
    found = [set(ids) for ids in matcher.match_batch(batch).per_event()]
    assert found == [matching(texts, event, "strict") for event in batch]


@pytest.mark.parametrize("repeated", [1, 30])
def test_strict_and_other_subscriptions_in_one_engine(repeated: int) -> None:
    """Then no node may be skipped because an event lacks an attribute."""
    engine = BddEngine()
    engine.add(Subscription.of("strict", "a = 1 OR b = 1", semantics="strict"))
    engine.add(Subscription.of("sql", "a = 1 OR b = 1"))
    events: list[dict[str, object]] = [{"a": 1}, {"a": 1, "b": 2}, {"b": 1}, {}] * repeated
    both = ["sql", "strict"]
    assert answer(engine, *events) == [["sql"], both, ["sql"], []] * repeated
    engine.remove("sql")
    assert answer(engine, *events) == [[], ["strict"], [], []] * repeated


def test_the_number_of_a_presence_predicate_may_change() -> None:
    """Numbers of predicates are reused, while the variable stays for other uses."""
    engine = BddEngine()
    engine.add(Subscription.of("strict", "a = 1 OR b = 1", semantics="strict"))
    assert answer(engine, {"a": 1, "b": 0}) == [["strict"]]
    engine.add(Subscription.of("loose", "a = 1 OR b = 1"))
    engine.remove("strict")
    engine.add(Subscription.of("c", "c = c OR TRUE", semantics="strict"))
    engine.add(Subscription.of("again", "a = 1 OR b = 1", semantics="strict"))
    engine.remove("loose")
    assert answer(engine, {"a": 1, "b": 0}, {"c": 0}, {"a": 1}) == [["again"], ["c"], []]


# -- the order of variables ------------------------------------------------------------------------


def in_order(engine: BddEngine) -> list[str]:
    return [
        str(engine.index.predicate(number)) for number in engine._variables.predicates_top_down()
    ]


def test_variables_of_an_attribute_stand_together() -> None:
    engine = engine_of({1: "a = 1 AND b = 1", 2: "b = 2 OR c = 1", 3: "a = 3 AND c = 3"})
    assert in_order(engine) == ["a = 1", "a = 3", "b = 1", "b = 2", "c = 1", "c = 3"]


def test_a_given_order_is_kept() -> None:
    order = ["c = 1", "a = 1", "NOT contains(s, 'x')"]
    engine = engine_of({1: "a = 1 AND b = 1", 2: "c = 1 AND NOT contains(s, 'x')"}, order=order)
    assert in_order(engine) == [*order, "b = 1"]
    engine.remove(2)
    engine.add(Subscription.of(3, "d = 1 AND c = 1"))
    assert in_order(engine) == ["c = 1", "a = 1", "b = 1", "d = 1"]
    assert in_order(pickle.loads(pickle.dumps(engine))) == in_order(engine)


def test_frequent_variables_come_to_the_top() -> None:
    texts: dict[object, str] = {n: f"a = {n % 40} AND b = {n % 7}" for n in range(200)}
    texts |= {n: f"x > 1 AND a = {n % 40}" for n in range(200, 1100)}
    engine = engine_of(texts, order="frequency")
    assert in_order(engine)[0] == "x > 1"
    check_records(engine)
    plain = engine_of(texts)
    events = [{"a": n % 45, "b": n % 9, "x": n % 3} for n in range(90)]
    assert answer(engine, *events) == answer(plain, *events)
    assert in_order(plain)[0] == "a = 0"


def test_invalid_orders_are_rejected() -> None:
    with pytest.raises(InputError, match="unknown order 'size'; choose one of attribute"):
        BddEngine(order="size")
    with pytest.raises(InputError, match="or a list of predicates"):
        BddEngine(order=7)
    with pytest.raises(InputError, match="combines several"):
        BddEngine(order=["a = 1 AND b = 1"])
    with pytest.raises(tamis.errors.SelectorError):
        BddEngine(order=["a ="])
    with pytest.raises(InputError, match="restrict must be True or False"):
        BddEngine(restrict="yes")  # type: ignore[arg-type]


# -- limits ----------------------------------------------------------------------------------------


def test_a_diagram_that_is_too_large_is_rejected_and_leaves_nothing() -> None:
    """Pairs, in an order with all first halves above all second ones: 2 ** 24 nodes."""
    pairs = range(24)
    order = [f"a{n} = 1" for n in pairs] + [f"b{n} = 1" for n in pairs]
    engine = engine_of({"before": "a1 = 1 AND c = 2"}, order=order)
    with pytest.raises(UnsupportedExpression, match="more than 100,000 nodes"):
        engine.add(Subscription.of("s", " OR ".join(f"a{n} = 1 AND b{n} = 1" for n in pairs)))
    check_records(engine)
    assert engine.stats()["subscriptions"] == 1 and engine.stats()["nodes"] == 2
    kind = engine_of({"s": " OR ".join(f"a{n} = 1 AND b{n} = 1" for n in pairs)})
    assert kind.stats()["nodes"] == 48  # one after the other


def test_at_least_k_of_many_operands() -> None:
    names = [f"a{n}" for n in range(120)]
    tests = ", ".join(f"{name} = 1" for name in names)
    engine = engine_of({"s": f"AT LEAST 60 OF ({tests})", "t": f"NOT (AT LEAST 60 OF ({tests}))"})
    for ones, wanted in ((59, ["t"]), (60, ["s"]), (61, ["s"])):
        event = {name: int(n < ones) for n, name in enumerate(names)}
        assert answer(engine, event) == [wanted]
    with pytest.raises(UnsupportedExpression, match="AT LEAST 500 OF 1,000"):
        many = ", ".join(f"a{n} = 1" for n in range(1000))
        engine.add(Subscription.of("u", f"AT LEAST 500 OF ({many})"))


def test_a_long_selector_matches_and_pickles() -> None:
    engine = engine_of({"s": " OR ".join(f"a{n} = {n}" for n in range(3000))})
    assert answer(engine, {"a2999": 2999}, {"a2999": 1}, {"a0": 0}) == [["s"], [], ["s"]]
    assert engine.stats()["nodes"] == 3000
    again = pickle.loads(pickle.dumps(engine))
    assert answer(again, {"a7": 7}) == [["s"]]


def test_mutually_exclusive_cases_stay_small() -> None:
    """Without their dependencies, the diagram would have 2 ** 80 nodes."""
    text = " OR ".join(f"a = {n} AND b > {n}" for n in range(80))
    engine = engine_of({"s": text})
    assert answer(engine, {"a": 79, "b": 80}, {"a": 79, "b": 79}, {"a": 79}) == [["s"], [], []]
    assert engine.stats()["nodes"] < 200  # type: ignore[operator]
    with pytest.raises(UnsupportedExpression):
        engine_of({"s": text}, restrict=False)


def test_a_sequence_is_rejected() -> None:
    with pytest.raises(UnsupportedExpression, match="FIRST"):
        BddEngine().add(Subscription.of("s", "FIRST a = 1 THEN b = 1"))


# -- users of the engine ---------------------------------------------------------------------------


def test_a_missing_cudd_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dd.cudd", None)
    with pytest.raises(
        InputError, match=r"needs CUDD: install it with `pip install 'tamis\[bdd\]'"
    ):
        tamis.Matcher(engine="bdd")


def test_schema_and_semantics_are_not_listed_as_options() -> None:
    with pytest.raises(InputError, match=r"it takes order, restrict$"):
        tamis.Matcher(engine="bdd", filter="tvp")


def test_events_without_the_schema_are_rejected() -> None:
    engine = BddEngine(schema={"a": "INT"}, semantics="total")
    engine.add(Subscription.of("s", "a < 1 OR a >= 1"))
    with pytest.raises(InputError, match="do not have the engine's schema"):
        engine.match(EventBatch.of([{"a": "text"}]))
    assert engine.match(EventBatch.of([{"a": 3}], {"a": "INT"}, "total")).per_event() == [["s"]]


def test_functions_and_sequences_of_a_matcher() -> None:
    matcher = tamis.Matcher(engine="bdd", functions={"twice": lambda n: 2 * n}, time="at")
    matcher.add("f", "twice(a) > 4 AND NOT twice(a) > 8")
    matcher.add("q", "FIRST a = 1 THEN a = 2")
    assert matcher.match({"a": 3, "at": 0}) == ["f"]
    assert matcher.match({"a": 5, "at": 1}) == []
    assert matcher.match({"a": 1, "at": 2}) == [] and matcher.match({"a": 2, "at": 3}) == ["q"]
