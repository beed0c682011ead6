"""Enough predicates and events for every structure to be in its large form."""

import random

import numpy as np

from tamis.events.batch import EventBatch
from tamis.language.evaluate import evaluate
from tamis.language.expr import Attribute, Between, Comparison, In, Literal, Not, StringTest
from tamis.predicates import PredicateIndex
from tamis.predicates.ladder_arrays import fork
from tamis.values import Timestamp
from tests.predicates.oracle import answers, expected, mask_answers

NAMES = [Attribute((name,)) for name in "abcd"]
OPERATORS = ["=", "<>", "<", "<=", ">", ">="]


def constant(chance: random.Random) -> Literal:
    number = chance.randrange(200)
    made = (number, number / 2, f"w{number:03}", Timestamp(number * 10**6), chance.random() < 0.5)
    return Literal.of(chance.choice(made))


def predicate(chance: random.Random) -> object:
    name = chance.choice(NAMES)
    kind = chance.randrange(6)
    if kind < 2:
        return Comparison(chance.choice(OPERATORS), name, constant(chance))
    if kind == 2:
        low = chance.randrange(200)
        found = Between(name, Literal.of(low), Literal.of(low + chance.randrange(40) / 2))
    elif kind == 3:
        found = In(name, tuple(constant(chance) for _ in range(chance.randrange(1, 5))))
    elif kind == 4:
        part = Literal.of(str(chance.randrange(200)))
        function = chance.choice(["contains", "startswith", "endswith"])
        found = StringTest(function, name, part)
    else:
        found = Between(name, constant(chance), constant(chance))
    return chance.choice([found, Not(found)])


def event(chance: random.Random) -> dict[str, object]:
    names = chance.sample("abcd", 3)
    return {name: constant(chance).value for name in names}


def test_thousands_of_predicates_come_and_go() -> None:
    chance = random.Random(7)
    index, held = PredicateIndex(), {}
    references: list[int] = []
    batch = EventBatch.of([event(chance) for _ in range(150)])
    for _ in range(4):
        for _ in range(1000):
            made = predicate(chance)
            references.append(index.intern(made))
            held[references[-1]] = made
        chance.shuffle(references)
        for id in references[-300:]:
            index.release(id)
        del references[-300:]
        held = {id: held[id] for id in set(references)}
        wanted = expected(held, batch)
        assert answers(index, batch) == wanted
        assert mask_answers(index, batch) == wanted
    for id in references:
        index.release(id)
    assert len(index) == 0 and index.stats()["terms"] == 0


def test_a_large_batch_equals_the_oracle() -> None:
    chance = random.Random(8)
    index = PredicateIndex()
    held = {index.intern(p): p for p in (predicate(chance) for _ in range(60))}
    batch = EventBatch.of([event(chance) for _ in range(5000)])
    ids = index.satisfied_predicates(batch).ids
    counts = {id: sum(evaluate(p, row) is True for row in batch.rows()) for id, p in held.items()}
    assert np.bincount(ids, minlength=index.capacity).tolist() == [counts[i] for i in sorted(held)]
    assert answers(index, batch) == mask_answers(index, batch)


def test_the_fork_has_the_most_trailing_zeros() -> None:
    pairs = [(low, high) for low in range(1, 70) for high in range(low, 70)]
    found = fork(*np.array(pairs, np.int64).T).tolist()
    assert found == [max(range(a, b + 1), key=lambda n: n & -n) for a, b in pairs]
