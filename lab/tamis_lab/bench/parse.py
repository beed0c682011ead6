"""How fast selectors are parsed, rewritten, printed and added, on one core."""

from __future__ import annotations

import random
from collections import deque

import pyarrow as pa

from tamis.language import parse, rewrite
from tamis.matcher import Matcher
from tamis_lab.harness.measure import Rate, rate

_WORDS = ("IBM", "Dell", "Siemens", "HP", "Apple", "Sun", "SGI", "DEC")


def measure(count: int, predicates: int, seed: int = 2001) -> list[Rate]:
    """Measure with random selectors."""
    texts = selectors(count, predicates, seed)
    trees = [parse(text) for text in texts]
    table = pa.table({"id": pa.array(range(count), pa.int64()), "selector": texts})

    # deque(…, 0) drops the results at once. To keep a million trees, pause Python's garbage
    # collector, as add_many does.
    return [
        rate("parse", count, lambda: deque(map(parse, texts), 0)),
        rate("rewrite", count, lambda: deque(map(rewrite, trees), 0)),
        rate("print", count, lambda: deque(map(str, trees), 0)),
        rate("add_many (Arrow)", count, lambda: Matcher().add_many(table)),
    ]


def selectors(count: int, predicates: int, seed: int) -> list[str]:
    """Return random selectors: conjunctions of mixed tests, some with a disjunction inside."""
    rng = random.Random(seed)
    return [_selector(rng, predicates) for _ in range(count)]


def _selector(rng: random.Random, predicates: int) -> str:
    tests = [_test(rng) for _ in range(predicates)]
    if predicates > 3 and rng.random() < 0.3:
        tests[-2:] = [f"({tests[-2]} OR {tests[-1]})"]
    return " AND ".join(tests)


def _test(rng: random.Random) -> str:
    attribute = f"attr{rng.randrange(20)}"
    kind = rng.random()
    if kind < 0.35:
        return f"{attribute} = {rng.randrange(1000)}"
    if kind < 0.55:
        return f"{attribute} {rng.choice(('<', '<=', '>', '>='))} {rng.random() * 100:.2f}"
    if kind < 0.75:
        return f"{attribute} = '{rng.choice(_WORDS)}'"
    if kind < 0.85:
        low = rng.randrange(500)
        return f"{attribute} BETWEEN {low} AND {low + 200}"
    if kind < 0.95:
        return f"{attribute} IN ({', '.join(repr(w) for w in rng.sample(_WORDS, 3))})"
    return f"{attribute} LIKE '%{rng.choice(_WORDS)}%'"
