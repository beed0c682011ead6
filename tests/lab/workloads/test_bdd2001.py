"""The queries and messages of the BDD paper, as §8 describes them."""

import pytest
from tamis_lab.workloads.bdd2001 import Workload
from tamis_lab.workloads.bdd2001.atoms import ATOMS, NAMES
from tamis_lab.workloads.bdd2001.grammar import Grammar, grammar
from tamis_lab.workloads.bdd2001.workload import ALTERNATIVES

from tamis.errors import InputError
from tamis.language import parse
from tamis.language.evaluate import evaluate
from tamis.language.expr import And, Comparison, Not, Or, StringTest, attributes, predicates, walk
from tamis.values import Type

WORKLOAD = Workload(subscriptions=4000)
TREES = [parse(text) for text in WORKLOAD.selectors()]


def test_there_are_208_atoms() -> None:
    trees = {parse(atom) for atom in ATOMS}
    assert len(trees) == len(set(ATOMS)) == 208
    assert sum(isinstance(tree, StringTest) for tree in trees) == 4 * 4 * 2
    operators = {tree.op for tree in trees if isinstance(tree, Comparison)}
    assert operators == {"=", "<>", "<", "<=", ">", ">="}


def test_all_atoms_are_used_and_no_others() -> None:
    used = [atom for tree in TREES for atom in predicates(tree)]
    assert set(used) == {parse(atom) for atom in ATOMS}
    most, least = (f(used.count(parse(atom)) for atom in ATOMS) for f in (max, min))
    assert most / least < 2


def test_queries_have_the_papers_average_of_atoms_and_operators() -> None:
    """7.6 atoms and 7.7 operators, as in the paper."""
    atoms = sum(len(list(predicates(tree))) for tree in TREES)
    assert atoms / 4000 == pytest.approx(7.6, abs=0.15)
    # The parser makes one AND of `a AND b AND c` only where no parentheses are.
    joins = sum(len(n.operands) - 1 for t in TREES for n in walk(t) if isinstance(n, And | Or))
    nots = sum(isinstance(node, Not) for tree in TREES for node in walk(tree))
    assert (joins + nots) / 4000 == pytest.approx(7.7, abs=0.15)
    assert nots / 4000 == pytest.approx(1.1, abs=0.08)


def test_trees_have_any_shape() -> None:
    """As many ORs lie below an AND as ANDs below an OR; without parentheses there would be none."""
    below = {
        outer: sum(
            isinstance(inner, other)
            for tree in TREES
            for node in walk(tree)
            if isinstance(node, outer)
            for inner in node.operands
        )
        for outer, other in ((And, Or), (Or, And))
    }
    assert below[And] > 2000 and below[And] / below[Or] == pytest.approx(1, abs=0.2)


def test_roots_and_leaves_may_be_negated() -> None:
    assert {type(tree) for tree in TREES if not isinstance(tree, Comparison | StringTest)} == {
        And,
        Or,
        Not,
    }
    inside = [node.operand for tree in TREES for node in walk(tree) if isinstance(node, Not)]
    assert any(isinstance(node, Comparison) for node in inside)
    assert any(isinstance(node, And | Or) for node in inside)


@pytest.mark.parametrize("conjunctive", [0.0, 0.6, 1.0])
def test_joins_are_and_as_often_as_requested(conjunctive: float) -> None:
    texts = Workload(subscriptions=3000, conjunctive=conjunctive).selectors()
    joined = "".join(texts)
    both, either = joined.count(" AND "), joined.count(" OR ")
    assert both / (both + either) == pytest.approx(conjunctive, abs=0.02)


@pytest.mark.parametrize("density", [0.077, 0.308, 1.0])
def test_density_is_the_fraction_of_defined_attributes(density: float) -> None:
    rows = Workload(subscriptions=1, density=density).events(5000).rows()
    assert sum(map(len, rows)) / 5000 / 10 == pytest.approx(density, abs=0.01)


def test_messages_have_values_of_the_papers_domains() -> None:
    batch = WORKLOAD.events(5000)
    assert list(batch.columns) == [(name,) for name in NAMES]
    for (name,), (column,) in batch.columns.items():
        kind = {"i": Type.INT, "d": Type.DBL, "s": Type.STR}[name[0]]
        values = column.data.to_pylist()
        assert column.type is kind and None not in values
        assert set(values) == set(ALTERNATIVES if kind is Type.STR else range(81))
    assert len(set(ALTERNATIVES)) == 20 and len(set(map(len, ALTERNATIVES))) > 3


def test_every_atom_can_hold_and_fail() -> None:
    rows = WORKLOAD.events(2000).rows()
    for atom in ATOMS:
        assert {evaluate(parse(atom), row) for row in rows} == {True, False}


def test_queries_use_all_attributes() -> None:
    assert set().union(*map(attributes, TREES)) == {(name,) for name in NAMES}


# -- the grammar -----------------------------------------------------------------------------------

CHAINS = [parse(text) for text in Workload(subscriptions=4000, form="grammar").selectors()]


def test_the_grammar_has_as_many_atoms_and_operators() -> None:
    used = [atom for tree in CHAINS for atom in predicates(tree)]
    assert len(used) / 4000 == pytest.approx(7.6, abs=0.15)
    assert set(used) == {parse(atom) for atom in ATOMS}
    joins = sum(len(n.operands) - 1 for t in CHAINS for n in walk(t) if isinstance(n, And | Or))
    nots = sum(isinstance(node, Not) for tree in CHAINS for node in walk(tree))
    assert (joins + nots) / 4000 == pytest.approx(7.7, abs=0.15)


def test_queries_of_the_grammar_are_chains() -> None:
    """Of the operands of a junction, one at most is more than an atom."""
    for tree in CHAINS:
        for node in walk(tree):
            if isinstance(node, And | Or):
                inside = [o.operand if isinstance(o, Not) else o for o in node.operands]
                assert sum(isinstance(o, And | Or) for o in inside) <= 1


@pytest.mark.parametrize("conjunctive", [0.0, 0.7, 1.0])
def test_the_fraction_of_and_in_the_grammar(conjunctive: float) -> None:
    texts = Workload(subscriptions=2000, conjunctive=conjunctive, form="grammar").selectors()
    joined = "".join(texts)
    both, either = joined.count(" AND "), joined.count(" OR ")
    assert both / (both + either) == pytest.approx(conjunctive, abs=0.02)


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(InputError, match="trees or grammar"):
        Workload(subscriptions=1, form="forest")


def test_a_grammar_with_probabilities() -> None:
    rules = Grammar.of('s = [0.25] "a" s | [0.75] "b"')
    texts = [
        rules.derive("s", iter(drawn).__next__) for drawn in ([0.3], [0.2, 0.3], [0.24, 0.1, 0.9])
    ]
    assert texts == ["b", "ab", "aab"]
    assert grammar(0.7) is grammar(0.7)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no rule", "line 1 is not a rule"),
        ('s = "a"', "starts with its probability"),
        ('s = [0.5] "a"', "must add up to 1"),
        ('s = [2] "a" | [-1] "b"', "must add up to 1"),
        ("s = [1] t", "'t', which has no rule"),
        ('s = [x] "a"', "'x' is not a probability"),
        ('s = [1] [1] "a"', "only one probability"),
        ('s = [1] "a" |', "must add up to 1"),
        ("s = [1] ?", "line 1"),
        ("s = ", "must add up to 1"),
    ],
)
def test_invalid_grammars_are_refused(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        Grammar.of(text)
