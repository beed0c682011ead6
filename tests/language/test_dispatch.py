"""A new node class is handled everywhere, or left out on purpose.

`PLACES` lists every table and chain of `isinstance` that decides by the class of a node, with the
classes it leaves to its default and why. A class that is neither handled nor listed fails. So do
a place in the source that is not listed here, and an entry here that the source no longer has.

To add a node class: make `test_every_class_has_a_role` and `test_every_class_has_an_example` pass,
then follow the failures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from typing import NamedTuple, get_args

import pytest
from tamis_lab.peers.peer import AttributeKind
from tamis_lab.peers.peer_catalogue import PEERS

from tamis import Matcher
from tamis.analysis import lint
from tamis.broker.config.selector_cost import cost
from tamis.cli.shared.selector_tree import as_dict, draw_tree
from tamis.covering.coverage import covers
from tamis.engines import ENGINES
from tamis.errors import UnsupportedExpression
from tamis.language import evaluate, expr, parse, rewrite
from tamis.language.disjuncts import disjuncts
from tamis.language.expr import Arithmetic, Attribute, BoolExpr, Literal, Node, Not, walk
from tamis.language.rewrite import RULES
from tamis.language.rewrite.fold import fold_constants
from tamis.language.rewrite.orient import orient_comparisons
from tamis.language.typecheck import check
from tamis.predicates.placement import placement
from tamis.schema import Schema
from tamis.values import Type
from tests.language.dispatch import NODES, dispatches, names_in
from tests.language.lark_oracle import accepts
from tests.oracles.constructs import EVERY_CONSTRUCT
from tests.oracles.duckdb import DuckdbPrinter
from tests.oracles.spark import SparkPrinter
from tests.oracles.sqlite import SqlitePrinter

VALUES, PREDICATES, BOOLEANS = (
    frozenset(kind.__name__ for kind in get_args(union))
    for union in (expr.ValueExpr, expr.Predicate, expr.BoolExpr)
)
STRUCTURE = BOOLEANS - PREDICATES
BOTH = VALUES & PREDICATES
TEXTS = frozenset(["Like", "RLike", "StringTest"])  # what `predicates.shapes.Text` holds
ALL = frozenset(NODES)


class Place(NamedTuple):
    """A dispatch over node classes.

    Attributes:
        classes: The classes that can reach it.
        left: Those that it does not name, with the reason: `{"Not Xor": "why"}`.
    """

    classes: frozenset[str]
    left: Mapping[str, str] = {}

    def left_out(self) -> frozenset[str]:
        return frozenset(name for names in self.left for name in names.split())


REST = "the last branch"
REFUSED = "refused: UnsupportedExpression"
PLACES: dict[str, Place] = {
    # -- the language
    "tamis/language/expr.py::_CHILDREN": Place(ALL, {"Attribute Literal": "have no children"}),
    "tamis/language/expr.py::STRUCTURE": Place(STRUCTURE),
    "tamis/language/expr.py::JUNCTION": Place(STRUCTURE, {"Not": "has one operand"}),
    "tamis/language/expr.py::predicates": Place(STRUCTURE),
    "tamis/language/expr.py::map_structure": Place(STRUCTURE),
    "tamis/language/parser.py::_BOOLEANS": Place(
        BOOLEANS, {"Attribute Literal Custom": "are values too: `check_boolean` decides"}
    ),
    "tamis/language/parser.py::_Parser.as_value": Place(BOTH),
    "tamis/language/parser.py::_Parser.check_boolean": Place(BOTH),
    "tamis/language/printer.py::_WRITERS": Place(ALL),
    "tamis/language/printer.py::_LEVELS": Place(
        ALL,
        {
            "Attribute Literal Negate Call Custom StringTest ArrayContains AtLeast": "atoms",
            "Arithmetic": "`_level` looks at the operator",
            "Sequence": "only ever the whole selector",
        },
    ),
    "tamis/language/printer.py::_negated_test": Place(
        PREDICATES,
        {
            "Comparison StringTest ArrayContains Attribute Literal Custom": "NOT stands before it",
        },
    ),
    "tamis/language/printer.py::_negate": Place(
        VALUES, {"Arithmetic Literal": "printed in parentheses"}
    ),
    "tamis/language/evaluate.py::_TRUTH": Place(BOOLEANS),
    "tamis/language/evaluate.py::_VALUE": Place(VALUES),
    "tamis/language/typecheck.py::_Checker.boolean": Place(STRUCTURE),
    "tamis/language/typecheck.py::_Checker.value": Place(VALUES, {"Call": REST}),
    "tamis/language/typecheck.py::_TESTS": Place(PREDICATES),
    "tamis/language/disjuncts.py::_expand": Place(STRUCTURE, {"Not": "part of a leaf"}),
    "tamis/language/rewrite/flatten.py::flatten": Place(
        STRUCTURE, {"AtLeast Not": "not associative"}
    ),
    "tamis/language/rewrite/fold.py::fold_constants": Place(STRUCTURE),
    "tamis/language/rewrite/fold.py::_predicate": Place(
        PREDICATES,
        {"Between Like RLike StringTest ArrayContains IsNull": "evaluated if all parts are known"},
    ),
    "tamis/language/rewrite/fold.py::_with_folded_values": Place(
        PREDICATES, {"Attribute Literal Custom": "`_predicate` has returned them"}
    ),
    "tamis/language/rewrite/fold.py::_value": Place(VALUES, {"Call": REST}),
    "tamis/language/rewrite/negation.py::_negate": Place(
        BOOLEANS,
        {
            "Between In Like RLike StringTest ArrayContains IsNull Attribute Literal Custom": (
                "NOT stays directly above it"
            )
        },
    ),
    "tamis/language/rewrite/order.py::sort_operands": Place(STRUCTURE, {"Not": "has one operand"}),
    "tamis/language/rewrite/orient.py::orient_comparisons": Place(
        PREDICATES,
        {
            "Like RLike StringTest": "sums and products are never text",
            "Attribute Literal": "have no operands",
        },
    ),
    "tamis/language/rewrite/orient.py::_value": Place(
        VALUES, {"Attribute Literal": "have no operands"}
    ),
    # -- predicates and covering
    "tamis/predicates/placement.py::_PLACE": Place(PREDICATES),
    "tamis/predicates/term_values.py::Sheet._compute": Place(VALUES, {"Call": REST}),
    "tamis/predicates/text_guards.py::guard_of": Place(TEXTS, {"Like": REST}),
    "tamis/predicates/text_tests.py::_check": Place(TEXTS, {"StringTest": REST}),
    "tamis/covering/constraint.py::_text": Place(TEXTS),
    "tamis/covering/coverage.py::conjunction": Place(STRUCTURE),
    "tamis/covering/domains.py::Domains.of": Place(
        VALUES, {"Custom": "may have any type", "Literal": "never the term of a test"}
    ),
    "tamis/covering/regions.py::_REBUILD": Place(PREDICATES, {"Literal": "has no term"}),
    "tamis/covering/regions.py::_constants": Place(
        PREDICATES,
        {
            "Like RLike StringTest": "`text_regions` reads their patterns",
            "ArrayContains": "`_item` reads it",
            "IsNull Attribute Custom": "compare with no constant",
        },
    ),
    "tamis/covering/regions.py::_TESTED_TYPES": Place(
        PREDICATES,
        {
            "Comparison Between In": "by the types of their constants",
            "Custom": "is the term itself, so an attribute here",
            "Literal": "has no term",
        },
    ),
    "tamis/covering/text_regions.py::_looks_at_text": Place(TEXTS, {"RLike": "has no automaton"}),
    "tamis/covering/text_regions.py::_walker": Place(TEXTS, {"RLike": "has no automaton"}),
    "tamis/covering/text_regions.py::_alphabet": Place(TEXTS, {"RLike": "has no automaton"}),
    "tamis/covering/text_regions.py::_guess_texts": Place(TEXTS),
    # -- engines
    "tamis/engines/atree/planner.py::_JUNCTIONS": Place(
        STRUCTURE, {"AtLeast Not": "branches of `_plan`"}
    ),
    "tamis/engines/atree/planner.py::Planner._plan": Place(STRUCTURE, {"And Or": "`_JUNCTIONS`"}),
    "tamis/engines/atree/planner.py::Planner._build_rail": Place(
        STRUCTURE, {"Not": "part of a leaf"}
    ),
    "tamis/engines/atree/value_nodes.py::ValuePlanner._value": Place(VALUES, {"Call": REST}),
    "tamis/engines/baselines/conjuncts.py::_NAMES": Place(STRUCTURE, {"And Not": "supported"}),
    "tamis/engines/baselines/conjuncts.py::conjuncts": Place(STRUCTURE),
    "tamis/engines/bdd/formula.py::Formula._rail": Place(STRUCTURE, {"Not": "part of a leaf"}),
    "tamis/engines/bdd/variables.py::_leaf": Place(STRUCTURE),
    "tamis/engines/block/draft/draft.py::Draft._put": Place(STRUCTURE),
    # -- explain and analysis
    "tamis/explain/explanation.py::_explain_node": Place(STRUCTURE),
    "tamis/explain/smallest_change.py::_Tests.__init__": Place(STRUCTURE),
    "tamis/explain/smallest_change.py::_cheapest_plan": Place(STRUCTURE, {"Or": "at least 1"}),
    "tamis/analysis/invert.py::invert": Place(
        VALUES, {"Literal": "fixed", "Custom": "not called to analyse selectors"}
    ),
    "tamis/analysis/invert.py::guess": Place(
        VALUES, {"Call": "not guessed", "Custom": "not called to analyse selectors"}
    ),
    "tamis/analysis/neighbours.py::_attribute": Place(STRUCTURE),
    "tamis/analysis/redundancy.py::_parts": Place(STRUCTURE),
    "tamis/analysis/redundancy.py::_drop_part": Place(STRUCTURE),
    "tamis/analysis/simple_selectors.py::_collect": Place(STRUCTURE, {"Xor": "needs a proof"}),
    "tamis/analysis/simple_selectors.py::_attribute": Place(
        PREDICATES, {"ArrayContains Custom": "need a proof"}
    ),
    "tamis/analysis/simple_selectors.py::_candidate_values": Place(
        PREDICATES,
        {"Attribute": REST, "ArrayContains Custom": "`_attribute` has refused them"},
    ),
    "tamis/analysis/space.py::_RAILS": Place(STRUCTURE),
    # -- broker and command line
    "tamis/broker/config/selector_cost.py::_extra_cost": Place(
        ALL,
        {
            "Attribute Literal Negate": "no work of their own",
            "Custom": "brokers accept no functions",
            "Comparison Between ArrayContains IsNull": "1, as every predicate",
            "And Or Not": "no more than their operands",
        },
    ),
    "tamis/cli/shared/selector_tree.py::_LABELS": Place(
        ALL, {"Between In And Or Xor Not": "labelled with the name of the class"}
    ),
    # -- the laboratory's peers
    "lab/tamis_lab/peers/infix.py::Infix.boolean": Place(STRUCTURE),
    "lab/tamis_lab/peers/infix.py::Infix.parenthesize": Place(STRUCTURE),
    "lab/tamis_lab/peers/infix.py::Infix.leaf": Place(
        PREDICATES, {"RLike ArrayContains Literal Custom": REFUSED}
    ),
    "lab/tamis_lab/peers/infix.py::Infix.type_of": Place(VALUES, {"Negate Call Custom": REFUSED}),
    "lab/tamis_lab/peers/infix.py::Infix.value": Place(VALUES, {"Negate Call Custom": REFUSED}),
    "lab/tamis_lab/peers/lucene_monitor.py::_QueryWriter.query": Place(
        STRUCTURE, {"Xor AtLeast": REFUSED}
    ),
    "lab/tamis_lab/peers/lucene_monitor.py::_QueryWriter.leaf": Place(
        PREDICATES, {"RLike ArrayContains Custom": REFUSED}
    ),
    "lab/tamis_lab/peers/patterns.py::Patterns.field": Place(
        PREDICATES, {"RLike ArrayContains Custom": REFUSED}
    ),
    # -- the databases that the tests compare with
    "tests/oracles/sql.py::Printer.boolean": Place(STRUCTURE),
    "tests/oracles/sql.py::Printer.predicate": Place(
        PREDICATES,
        {"Attribute Literal": "`boolean` has written them", "Custom": "unknown to databases"},
    ),
    "tests/oracles/sql.py::Printer.value": Place(VALUES, {"Custom": "unknown to databases"}),
    "tests/oracles/static_types.py::static_type": Place(
        VALUES, {"Call": REST, "Custom": "unknown to databases"}
    ),
}

FAST = "a shortcut for common tests; every other one takes the general path"
WEAKER = "may find less for a class it does not know, never something wrong"
CALLED_FOR = "called by a listed place, for the classes it names"
SPECIAL: dict[str, str] = {
    "tamis/analysis/invert.py::invert_test": WEAKER,
    "tamis/analysis/simple_selectors.py::_few_values": FAST,
    "tamis/analysis/space.py::Space._true_rail": FAST,
    "tamis/bloom/poset_predicate.py::canonical_text": FAST,
    "tamis/covering/constraint.py::_holds": CALLED_FOR,
    "tamis/covering/regions.py::term_of": FAST,
    "tamis/covering/text_regions.py::_prefix": FAST,
    "tamis/engines/atree/planner.py::_NEGATED": CALLED_FOR,
    "tamis/engines/atree/planner.py::Planner._negation": FAST,
    "tamis/engines/baselines/gryphon.py::_plain_equalities": FAST,
    "tamis/engines/block/draft/conjunctions.py::plain_tests": FAST,
    "tamis/engines/block/draft/draft.py::_tested_attribute": WEAKER,
    "tamis/engines/block/draft/draft.py::_present_attribute": WEAKER,
    "tamis/explain/smallest_change.py::possible_truths": WEAKER,
    "tamis/language/printer.py::_test": CALLED_FOR,
    "tamis/language/rewrite/__init__.py::_is_plain": FAST,
    "tamis/language/rewrite/equalities.py::merge_equalities": WEAKER,
    "tamis/language/rewrite/equalities.py::_items": WEAKER,
    "tamis/language/rewrite/intervals.py::_key": WEAKER,
    "tamis/language/rewrite/intervals.py::_interval": CALLED_FOR,
    "tamis/predicates/predicate_index.py::_key": FAST,
    "tamis/predicates/residual.py::_decide_numbers": FAST,
    "tamis/spark/index/shard_covers.py::cover_of": WEAKER,
    "lab/tamis_lab/peers/a_tree_crate.py::ATree.leaf": CALLED_FOR,
    "lab/tamis_lab/workloads/atree2004/trees.py::JUNCTIONS": "the operators of the thesis",
    "tests/oracles/constructs.py::constructs": "names more than the class",
    "tests/oracles/sql.py::Printer.enclosed": "parentheses are always right",
    "tests/oracles/test_spark.py::_is_spark": "the constructs that Spark lacks",
}


@pytest.mark.parametrize("place", PLACES)
def test_every_class_is_handled_or_left_out_for_a_reason(place: str) -> None:
    named = dispatches().get(place)
    assert named is not None, f"{place} is gone or names fewer classes: update PLACES"
    expected, left = PLACES[place].classes, PLACES[place].left_out()
    assert not expected - named - left, f"{place} does not handle these classes"
    assert not left & named, f"{place} handles these classes: remove them from `left`"
    assert left <= expected, "`left` names classes that cannot reach this place"


def test_every_dispatch_is_listed() -> None:
    listed = PLACES.keys() | SPECIAL.keys()
    assert dispatches().keys() - listed == set(), "add these to PLACES, or to SPECIAL with a reason"
    assert listed - dispatches().keys() == set(), "these are gone: remove them"


# -- the classes and an example of each -----------------------------------------------------------


def test_every_class_has_a_role() -> None:
    assert VALUES | BOOLEANS | {"Sequence"} == ALL
    assert frozenset(kind.__name__ for kind in get_args(expr.Expr)) == ALL


def distance(*numbers: object) -> object:
    return sum(number for number in numbers if isinstance(number, int))


FUNCTIONS = {"distance": distance}
SCHEMA = Schema({"i": "INT", "j": "INT", "s": "STR", "b": "BOOL", "list": "LIST<INT>"})
EXAMPLES: dict[str, str] = {
    "Attribute": "b",
    "Literal": "i = 2",
    "Arithmetic": "i + j > 3",
    "Negate": "-i < -1",
    "Call": "greatest(i, j) = 3",
    "Custom": "distance(i, j) = 5",
    "Comparison": "i <= j",
    "Between": "i BETWEEN 1 AND 2",
    "In": "i IN (2, 4)",
    "Like": "s LIKE 'a%'",
    "RLike": "s RLIKE '^a'",
    "StringTest": "contains(s, 'b')",
    "ArrayContains": "array_contains(list, 7)",
    "IsNull": "s IS NULL",
    "And": "b AND i = 2",
    "Or": "b OR i = 2",
    "Xor": "b XOR i = 2",
    "Not": "NOT s LIKE 'a%'",
    "AtLeast": "AT LEAST 2 OF (b, i = 2, j = 3)",
    "Sequence": "FIRST i = 1 THEN i = 2 WITHIN 5 SECONDS PER s",
}
EVENTS: list[dict[str, object]] = [
    {},
    {"i": 2, "j": 3, "s": "ab", "b": True, "list": [7]},
    {"i": 3, "j": 1, "s": "x", "b": False, "list": [1]},
    {"i": 2, "j": 1, "s": "b", "b": False, "list": []},
    {"i": 1, "j": 0, "s": "", "b": None, "list": None},
]
CONDITIONS = [name for name in EXAMPLES if name != "Sequence"]


@cache
def example(name: str) -> BoolExpr:
    return parse(EXAMPLES[name], FUNCTIONS)  # type: ignore[return-value]


def test_every_class_has_an_example() -> None:
    assert EXAMPLES.keys() == ALL
    for name, kind in NODES.items():
        assert any(type(node) is kind for node in walk(example(name))), name


def test_examples_are_true_of_one_event_and_false_of_another() -> None:
    for name in CONDITIONS:
        truths = {evaluate(example(name), event) for event in EVENTS}
        assert {True, False} <= truths, name


# -- what every class can do ----------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_class_is_printed_drawn_and_read_back(name: str) -> None:
    selector = example(name)
    assert parse(str(selector), FUNCTIONS) == selector
    assert accepts(EXAMPLES[name]), "the grammar of the tests, selector.lark, does not have it"
    assert f'"{name}"' in repr(as_dict(selector)).replace("'", '"')
    assert len(draw_tree(selector)) > 1 or name == "Attribute"
    check(selector, SCHEMA, EXAMPLES[name])
    assert cost(selector) > 0


@pytest.mark.parametrize("name", CONDITIONS)
@pytest.mark.parametrize("rule", [*RULES, rewrite], ids=lambda rule: rule.__name__)
def test_every_rule_keeps_the_truth_of_every_class(rule, name: str) -> None:
    for condition in (example(name), Not(example(name))):
        for event in EVENTS:
            assert evaluate(rule(condition), event) is evaluate(condition, event)


@pytest.mark.parametrize("name", sorted(PREDICATES - BOTH))
def test_constants_are_folded_below_every_predicate(name: str) -> None:
    constant = Arithmetic("+", Literal.of(1), Literal.of(1))
    for changed in _with_operand(example(name), constant):
        folded = fold_constants(changed)
        assert not any(isinstance(node, Arithmetic) for node in walk(folded)), str(folded)


@pytest.mark.parametrize("name", sorted(PREDICATES - BOTH - TEXTS))
def test_sums_are_ordered_below_every_predicate(name: str) -> None:
    one, other = Attribute(("a",)), Attribute(("z",))
    for changed in _with_operand(example(name), Arithmetic("+", other, one)):
        assert Arithmetic("+", one, other) in walk(orient_comparisons(changed))


def _with_operand(predicate: Node, operand: Node) -> list[BoolExpr]:
    """The predicate with each of its operands replaced in turn."""
    return [
        replace(predicate, **{field.name: operand})  # type: ignore[type-var]
        for field in fields(predicate)  # type: ignore[arg-type]
        if type(getattr(predicate, field.name)).__name__ in VALUES
    ]


@pytest.mark.parametrize("name", sorted(PREDICATES))
def test_every_predicate_has_a_place_in_the_index(name: str) -> None:
    for predicate in (example(name), Not(example(name))):
        found = placement(predicate)  # type: ignore[arg-type]
        assert found.term is not None or found.residual


CONJUNCTIONS_ONLY = ["Or", "Xor", "AtLeast"]
REFUSED_BY: dict[str, list[str]] = {
    "counting": CONJUNCTIONS_ONLY,
    "siena": CONJUNCTIONS_ONLY,
    "forest": CONJUNCTIONS_ONLY,
    # It takes equalities of a term with a constant, and conjunctions of them.
    "gryphon": [
        name for name in CONDITIONS if name not in ("Attribute", "Literal", "Call", "Custom", "And")
    ],
}


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_matches_every_class_or_refuses_it(engine: str) -> None:
    matcher = Matcher(engine=engine, functions=FUNCTIONS)
    conditions = {name: example(name) for name in CONDITIONS}
    if engine not in REFUSED_BY:
        conditions |= {f"NOT {name}": Not(example(name)) for name in CONDITIONS}
    refused = []
    for id, condition in conditions.items():
        try:
            matcher.add(id, str(condition))
        except UnsupportedExpression:
            refused.append(id)
    assert refused == REFUSED_BY.get(engine, [])
    for event in EVENTS:
        matching = [id for id in matcher if evaluate(conditions[id], event) is True]
        assert sorted(matcher.match(event)) == sorted(matching)


@pytest.mark.parametrize("name", CONDITIONS)
def test_every_class_is_explained(name: str) -> None:
    matcher = Matcher(functions=FUNCTIONS)
    matcher.add(name, EXAMPLES[name])
    for event in EVENTS:
        found = matcher.explain(name, event)
        assert found.tree.truth is evaluate(example(name), event)
        if not found.matches:
            assert found.possible is not False and found.missing


@pytest.mark.parametrize("name", sorted(ALL - {"Custom"}))
def test_every_class_is_analysed(name: str) -> None:
    text = EXAMPLES[name]
    rows = [("one", text), ("same", f"({text})")] if name != "Sequence" else [("one", text)]
    found = lint(rows, SCHEMA)
    assert [finding.rule for finding in found] == ["equivalent"] * (len(rows) - 1)


@pytest.mark.parametrize("name", CONDITIONS)
def test_every_class_covers_itself_and_has_disjuncts(name: str) -> None:
    condition = example(name)
    assert covers(condition, condition)
    parts = disjuncts(condition, 10)
    assert parts
    for event in EVENTS:
        some = any(all(evaluate(leaf, event) is True for leaf in part) for part in parts)
        assert some is (evaluate(condition, event) is True)


# -- outside the product --------------------------------------------------------------------------


@pytest.mark.parametrize("peer", [peer for peer in PEERS if not peer.startswith("tamis")])
def test_every_peer_translates_or_refuses_every_class(peer: str) -> None:
    kinds = {
        name: AttributeKind(kind, True)
        for name, kind in (("i", Type.INT), ("j", Type.INT), ("s", Type.STR), ("b", Type.BOOL))
    }
    translated = set()
    for name in CONDITIONS:
        try:
            assert PEERS[peer].translate(example(name), kinds)
            translated.add(name)
        except UnsupportedExpression:
            pass
    assert {"In", "And", "Or"} <= translated


@pytest.mark.parametrize(
    "dialect", [DuckdbPrinter(), SparkPrinter(), SqlitePrinter()], ids=lambda d: type(d).__name__
)
@pytest.mark.parametrize("name", sorted(ALL - {"Sequence", "Custom"}))
def test_every_class_is_written_as_sql(dialect, name: str) -> None:
    if name == "RLike" and isinstance(dialect, SqlitePrinter):  # it has no regular expressions
        with pytest.raises(NotImplementedError):
            dialect.boolean(example(name))
    else:
        assert dialect.boolean(example(name))


def test_random_selectors_have_every_class() -> None:
    assert names_in("tests/strategies.py") == ALL
    # Databases have no sequences and none of the caller's functions.
    made = names_in("tests/oracles/generate.py") | names_in("tests/oracles/terms.py")
    assert made == ALL - {"Sequence", "Custom"}
    counted = {word for construct in EVERY_CONSTRUCT for word in construct.split()}
    by_operator = {"Attribute", "Literal", "Arithmetic", "Call", "Comparison", "StringTest"}
    assert ALL - {"Sequence", "Custom"} - by_operator <= counted | {"Like"}
