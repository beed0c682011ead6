"""The figures and examples of the paper (ICSE 2001), and the properties it defines."""

import itertools

import numpy as np
import pytest

import tamis
from tamis.engines.bdd import BddEngine
from tamis.engines.subscription import Subscription
from tamis.errors import EventError
from tamis.kernels.bdd.eval import UNDEFINED, eval_bdd, mv_eval_bdd
from tests.engines.bdd.inspection import drawn

# -- §4: messages and query languages -------------------------------------------------------------

SALES = {"company": "STR", "product": "STR", "price": "DBL"}
M1 = {"company": "IBM", "product": "PC AT, 20 Mhz, 256 KB RAM", "price": 5000}
M2 = {"company": "Future Inc.", "product": "100 GHz Super PC"}


def sales(semantics: str, schema: dict[str, object] | None = None, **options: object):
    return tamis.Matcher(schema or SALES, semantics, engine="bdd", **options)


def test_example_3_a_total_message_and_one_that_is_not() -> None:
    matcher = sales("total")
    matcher.add("any", "price < 10000 OR contains(product, 'PC')")
    assert matcher.match(M1) == ["any"]
    with pytest.raises(EventError, match="price"):
        matcher.match(M2)


@pytest.mark.parametrize("restrict", [True, False])
def test_example_4_a_query(restrict: bool) -> None:
    matcher = sales("total", restrict=restrict)
    matcher.add(
        "pcs",
        "company IN ('IBM', 'Dell', 'Siemens') AND contains(product, 'PC') "
        "AND contains(product, '1000Mhz') AND price <= 1000",
    )
    wanted = {"company": "Dell", "product": "PC, 1000Mhz", "price": 1000.0}
    assert matcher.match(wanted) == ["pcs"]
    for change in ({"company": "Apple"}, {"product": "PC, 20Mhz"}, {"price": 1000.5}):
        assert matcher.match({**wanted, **change}) == []
    assert matcher.match(M1) == []


@pytest.mark.parametrize("restrict", [True, False])
@pytest.mark.parametrize("repeated", [1, 40])
def test_example_5_alice_and_bob(restrict: bool, repeated: int) -> None:
    """Together they want exactly the messages with a price."""
    matcher = sales("strict", restrict=restrict)
    matcher.add("alice", "price < 1000")
    matcher.add("bob", "price > 500")
    matcher.add("both", "price < 1000 OR price > 500")
    messages = [{"price": 200.0}, {"price": 700.0}, {"price": 2000.0}, M2, {}] * repeated
    wanted = [["alice", "both"], ["alice", "bob", "both"], ["bob", "both"], [], []] * repeated
    assert matcher.match_batch(messages).per_event() == wanted
    if restrict:  # the diagram itself says "true" now, and still nobody gets what has no price
        assert drawn(matcher).label[drawn(matcher).outputs["both"]] == "1"


@pytest.mark.parametrize("restrict", [True, False])
def test_adequacy_depends_on_the_text(restrict: bool) -> None:
    """The diagram of `y AND (x OR NOT x)` is `y`, but it needs x: MVEvalBDD alone would match."""
    matcher = sales("strict", {"x": "BOOL", "y": "BOOL"}, restrict=restrict)
    matcher.add("s", "y AND (x OR NOT x)")
    assert matcher.stats()["nodes"] == 1
    assert matcher.match({"y": True}) == []
    assert matcher.match({"y": True, "x": False}) == ["s"]
    assert matcher.match_batch([{"y": True}, {"y": True, "x": True}] * 40).per_event() == (
        [[], ["s"]] * 40
    )


def test_example_6_defaults() -> None:
    schema = {"name": ("STR", ""), "size": ("INT", -1)}
    matcher = sales("default", schema)
    matcher.add("nameless", "name = ''")
    matcher.add("unsized", "size = -1")
    matcher.add("small", "size < 10")
    assert matcher.match({}) == ["nameless", "small", "unsized"]
    assert matcher.match({"name": "x", "size": 3}) == ["small"]


def test_example_6_a_default_beyond_all_values() -> None:
    """With an undefined value as default, `IS NULL` is the test for "not defined"."""
    matcher = sales("default", {"v": "INT"})
    matcher.add("defined", "v IS NOT NULL")
    matcher.add("undefined", "v IS NULL")
    assert matcher.match({}) == ["undefined"]
    assert matcher.match({"v": 0}) == ["defined"]


def test_proposition_7_over_total_messages_all_languages_agree() -> None:
    schema = {"company": ("STR", ""), "product": ("STR", ""), "price": ("DBL", -1.0)}
    texts = [
        "price < 1500 AND contains(company, 'IBM')",
        "NOT (price < 1500 OR contains(company, 'IBM'))",
        "contains(product, 'PC') XOR price > 4000",
        "AT LEAST 2 OF (price > 1, company = 'IBM', contains('PC', product))",
    ]
    messages = [
        {"company": company, "product": product, "price": price}
        for company in ("IBM", "Dell", "")
        for product in ("PC", "P", "Super PC")
        for price in (-1.0, 1500.0, 5000.0)
    ]
    answers = []
    for semantics in ("total", "strict", "default"):
        matcher = sales(semantics, schema)  # type: ignore[arg-type]
        matcher.add_many(enumerate(texts))
        answers.append(matcher.match_batch(messages).per_event())
    assert answers[0] == answers[1] == answers[2] and any(answers[0])


# -- §5: diagrams ---------------------------------------------------------------------------------

XYZ = {"x": "BOOL", "y": "BOOL", "z": "BOOL"}
FUNCTIONS = {"o1": "x AND (y OR z)", "o2": "NOT x AND (y OR z)", "o3": "y OR z"}


def over_xyz(*names: str) -> tamis.Matcher:
    matcher = sales("total", XYZ, order=["x", "y", "z"])
    for name in names:
        matcher.add(name, FUNCTIONS[name])
    return matcher


def test_figure_1_example_8() -> None:
    figure = drawn(over_xyz("o1"))
    assert figure.label == {1: "x", 2: "y", 3: "z", 4: "0", 5: "1"}
    assert figure.low == {1: 4, 2: 3, 3: 4}
    assert figure.high == {1: 2, 2: 5, 3: 5}


@pytest.mark.parametrize("names", list(itertools.permutations(FUNCTIONS)))
def test_figure_2_example_9(names: tuple[str, ...]) -> None:
    """Three functions have six nodes; shared ones exist once, in any order of insertion."""
    figure = drawn(over_xyz(*names))
    assert sorted(figure.label.items()) == [
        (1, "x"), (2, "x"), (3, "y"), (4, "z"), (5, "0"), (6, "1"),
    ]  # fmt: skip
    o1, o2 = figure.outputs["o1"], figure.outputs["o2"]
    assert {o1, o2} == {1, 2} and figure.outputs["o3"] == 3
    assert (figure.low[o1], figure.high[o1]) == (5, 3)
    assert (figure.low[o2], figure.high[o2]) == (3, 5)
    assert (figure.low[3], figure.high[3], figure.low[4], figure.high[4]) == (4, 6, 5, 6)
    assert figure.thick == {1, 2, 3}


@pytest.mark.parametrize("restrict", [True, False])
def test_proposition_10_evaluation_is_the_function(restrict: bool) -> None:
    matcher = sales("total", XYZ, restrict=restrict)
    matcher.add_many(FUNCTIONS.items())
    for x, y, z in itertools.product([True, False], repeat=3):
        holds = {"o1": x and (y or z), "o2": not x and (y or z), "o3": y or z}
        found = matcher.match({"x": x, "y": y, "z": z})
        assert found == [name for name in FUNCTIONS if holds[name]]


def laid_out(order: list[str], *texts: str) -> BddEngine:
    engine = BddEngine(order=order, restrict=False)
    for number, text in enumerate(texts):
        engine.add(Subscription.of(number, text))
    engine.match(tamis.EventBatch.of([{}]))
    return engine


def values(engine: BddEngine, kernel, **alpha: int) -> list[int]:
    """Return the values of the outputs, by Figure 3 or Figure 5."""
    truths = np.zeros(engine.index.capacity, np.uint8)
    for name, truth in alpha.items():
        truths[engine.index.find(tamis.parse(name))] = truth
    nodes, outputs = engine._layout.nodes, engine._layout.outputs
    value = np.full(len(nodes.low), 77, np.uint8)
    kernel(nodes, truths, value)
    found = [int(value[edge >> 1]) for edge in outputs.edge]
    return [
        v if v == UNDEFINED else v ^ (edge & 1) for v, edge in zip(found, outputs.edge, strict=True)
    ]


def test_figure_3_eval_bdd() -> None:
    engine = laid_out(["x", "y", "z"], "x AND (y OR z)", "y OR z")
    for x, y, z in itertools.product([0, 1], repeat=3):
        assert values(engine, eval_bdd, x=x, y=y, z=z) == [x & (y | z), y | z]


def test_figure_5_mv_eval_bdd() -> None:
    """A node is undefined if its variable is, or one of its successors; else as in Figure 3."""
    engine = laid_out(["x", "y", "z"], "x AND (y OR z)", "y OR z", "z")
    for x, y, z in itertools.product([0, 1, UNDEFINED], repeat=3):
        # y OR z is a node of y over a node of z; x AND … a node of x over that one.
        either = UNDEFINED if UNDEFINED in (y, z) else y | z
        both = UNDEFINED if UNDEFINED in (x, either) else x & either
        assert values(engine, mv_eval_bdd, x=x, y=y, z=z) == [both, either, z]


# -- §6: the filtering engine ---------------------------------------------------------------------

Q1 = "price < 1500 AND contains(company, 'IBM')"
Q2 = "price < 1500 AND contains(company, 'McDonalds')"
ORDER = ["contains(company, 'IBM')", "contains(company, 'McDonalds')", "price < 1500"]


@pytest.mark.parametrize("semantics", ["sql", "strict"])
def test_figure_4_example_11(semantics: str) -> None:
    matcher = sales(semantics, order=ORDER)
    matcher.add("Q1", Q1)
    matcher.add("Q2", Q2)
    figure = drawn(matcher)
    assert figure.label == {1: ORDER[0], 2: ORDER[1], 3: ORDER[2], 4: "0", 5: "1"}
    assert figure.low == {1: 4, 2: 4, 3: 4}
    assert figure.high == {1: 3, 2: 3, 3: 5}
    assert figure.outputs == {"Q1": 1, "Q2": 2} and figure.thick == {1, 2}
    assert matcher.match({"price": 100.0, "company": "IBM and McDonalds"}) == ["Q1", "Q2"]
    assert matcher.match({"price": 100.0, "company": "McDonalds"}) == ["Q2"]
    assert matcher.match({"price": 1500.0, "company": "IBM"}) == []


@pytest.mark.parametrize(
    ("text", "nodes", "restricted"),
    [
        ("n = 10 AND n > 8", 2, 1),  # the first implies the second
        ("n = 10 AND n < 8", 2, 0),  # they exclude each other
        ("n = 10 OR n <> 10", 2, 0),  # they are opposites
        ("v = 3 AND v > 1 AND s = 'a' AND startswith(s, 'a')", 4, 2),
        ("n IN (1, 2, 3) AND n < 5", 2, 1),
        ("n BETWEEN 1 AND 3 AND n >= 4", 2, 0),
        ("startswith(s, 'ab') AND startswith(s, 'a')", 2, 1),
        ("n > 8 AND v > 8", 2, 2),  # of different attributes: nothing to say
    ],
)
def test_dependencies_make_diagrams_smaller(text: str, nodes: int, restricted: int) -> None:
    """The paper's pairs: u ⊨ v, u ⊨ ¬v, ¬u ⊨ v."""
    schema = {"n": "INT", "v": "INT", "s": "STR"}
    for restrict, wanted in ((False, nodes), (True, restricted)):
        matcher = sales("total", schema, restrict=restrict)  # type: ignore[arg-type]
        matcher.add("q", text)
        assert matcher.stats()["nodes"] == wanted


def test_missing_attributes_do_not_restrict_the_diagram() -> None:
    """Under `sql` a price may be missing: then neither holds, and the diagram must reflect it."""
    for semantics, nodes in (("sql", 2), ("strict", 0)):
        matcher = sales(semantics)
        matcher.add("both", "price < 1000 OR price > 500")
        assert matcher.stats()["nodes"] == nodes
        assert matcher.match({}) == [] and matcher.match({"price": 7.0}) == ["both"]
