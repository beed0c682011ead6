"""Random selectors and events of the whole language, by the thousand, from a seed.

`tests/strategies.py` draws few and small ones, and shrinks them. Here it is the number that counts:
so many constants on an axis, selectors in a segment and events in a batch that every way through
the engine is taken.
"""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Callable

from tamis.schema import Schema
from tests.strategies import FUNCTIONS, INSTANTS, REGEXES, TEXTS

__all__ = ["FUNCTIONS", "SCHEMA", "drawn_events", "drawn_selectors"]

# `m` may hold anything, and is not in the schema.
TYPES = {
    "k": ("INT", 7),
    "n": "INT",
    "x": ("DBL", 0.5),
    "s": ("STR", "x"),
    "w": "STR",
    "f": ("BOOL", True),
    "t": "TIMESTAMP",
    "tags": "LIST<STRING>",
    "user.city": ("STR", "Lyon"),
    "user.age": "INT",
}
SCHEMA = Schema(TYPES, open=True)
LARGE = [2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1, 2**62, 2**63 - 1, 2**63 - 2, -(2**63)]
REALS = [0.0, -0.0, 0.5, -1.5, 2.0**53, 2.0**53 + 2, 9.3e18, -9.3e18, 1e308, 5e-324, 1e-7]
WORDS = [*TEXTS, "x😀", "\uffff", "𐀀", "Zürich", *(f"w{i}" for i in range(40))]
NUMBERS = ["k", "n", "x", "user.age", "m"]
STRINGS = ["s", "w", "user.city", "m"]
ANY = [*NUMBERS, *STRINGS, "f", "t", "tags", "lost"]
COMPARISONS = ["=", "=", "<>", "<", "<=", ">", ">="]


def drawn_events(draw: random.Random, count: int, filled: float = 0.8) -> list[dict[str, object]]:
    """Draw events with about this fraction of the attributes; with all of the schema if it is 1."""
    makers: dict[str, Callable[[], object]] = {
        "k": lambda: draw.randrange(3000),
        "n": lambda: draw.choice(LARGE) if draw.random() < 0.3 else draw.randrange(12),
        "x": lambda: _real(draw),
        "s": lambda: draw.choice(WORDS),
        "w": lambda: draw.choice(WORDS) + draw.choice(WORDS),
        "f": lambda: draw.random() < 0.5,
        "t": lambda: dt.datetime(2024, 5, 1 + draw.randrange(20), 8),
        "tags": lambda: [draw.choice(WORDS) for _ in range(draw.randrange(4))],
        "m": lambda: _anything(draw),
    }
    events = []
    for _ in range(count):
        event = {name: make() for name, make in makers.items() if draw.random() < filled}
        user = {}
        if draw.random() < filled:
            user["city"] = draw.choice(WORDS)
        if draw.random() < filled:
            user["age"] = draw.randrange(100)
        if user or filled == 1:
            event["user"] = user
        events.append(event)
    return events


def drawn_selectors(draw: random.Random, count: int) -> list[str]:
    """Draw selectors; some are flat and narrow, some wide, some deep."""
    return [draw.choice(_FORMS)(draw) for _ in range(count)]


# -- values ---------------------------------------------------------------------------------------


def _real(draw: random.Random) -> float:
    kind = draw.random()
    if kind < 0.1:
        return draw.choice([math.nan, math.inf, -math.inf, *REALS])
    return draw.choice(REALS) if kind < 0.3 else draw.randrange(400) / 4


def _anything(draw: random.Random) -> object:
    return draw.choice(
        [
            lambda: draw.randrange(12),
            lambda: draw.choice(LARGE),
            lambda: _real(draw),
            lambda: draw.choice(WORDS),
            lambda: draw.random() < 0.5,
            lambda: dt.datetime(2024, 5, 1, 8),
            lambda: [draw.randrange(4)],
            lambda: {"city": 1},
            lambda: None,
        ]
    )()


# -- predicates -----------------------------------------------------------------------------------


def _text(draw: random.Random) -> str:
    return "'" + draw.choice(WORDS).replace("'", "''").replace("\\", "\\\\") + "'"


def _number(draw: random.Random) -> str:
    kind = draw.random()
    if kind < 0.15:
        return str(draw.choice(LARGE))
    if kind < 0.4:
        return repr(draw.choice(REALS))
    return str(draw.randrange(12)) if kind < 0.6 else str(draw.randrange(3000))


def _instant(draw: random.Random) -> str:
    if draw.random() < 0.3:
        return f"TIMESTAMP '{draw.choice(INSTANTS)}'"
    return f"TIMESTAMP '2024-05-{1 + draw.randrange(20):02} 08:00:00'"


def _constant(draw: random.Random, name: str) -> str:
    if name in STRINGS and (name != "m" or draw.random() < 0.4):
        return _text(draw)
    if name == "f":
        return draw.choice(["TRUE", "FALSE"])
    return _instant(draw) if name == "t" else _number(draw)


def _term(draw: random.Random) -> str:
    """Draw a computed number."""
    one, other = draw.choice(NUMBERS), draw.choice(NUMBERS)
    return draw.choice(
        [
            f"{one} {draw.choice('+-*/%')} {other}",
            f"{one} {draw.choice('+-*')} {draw.randrange(5)}",
            f"-{one}",
            f"abs({one})",
            f"least({one}, {other}, 5)",
            f"greatest({one}, {other})",
            f"sum({one}, {other}, 1)",
            f"avg({one}, {other})",
            f"size({draw.choice(ANY)})",
            f"Turned({draw.choice(ANY)})",
        ]
    )


def _listed(draw: random.Random, name: str) -> str:
    many = draw.choice([1, 2, 5, 20, 60])
    items = [_constant(draw, name) for _ in range(many)]
    if draw.random() < 0.3:
        items += [_text(draw), _number(draw), "TRUE"]
    if draw.random() < 0.05:
        items.append("NULL")
    return f"{name} {draw.choice(['IN', 'IN', 'NOT IN'])} ({', '.join(items)})"


def _on_text(draw: random.Random) -> str:
    name, function = draw.choice(STRINGS), draw.choice(["contains", "startswith", "endswith"])
    parts = ["x", "y", "é", "w1", "%", "_", "\\\\_"]
    pattern = "".join(draw.choice(parts) for _ in range(draw.randrange(1, 4)))
    return draw.choice(
        [
            f"{name} {draw.choice(['', 'NOT '])}{draw.choice(['LIKE', 'ILIKE'])} '{pattern}'",
            f"{name} RLIKE '{draw.choice(REGEXES)}'".replace("\\", "\\\\"),
            f"{function}({name}, {_text(draw)})",
            f"{function}({_text(draw)}, {name})",
            f"array_contains(tags, {_text(draw)})",
            f"array_contains(m, {draw.randrange(4)})",
        ]
    )


def _odd(draw: random.Random) -> str:
    """Draw an expression that is rare in practice."""
    return draw.choice(
        [
            "TRUE",
            "FALSE",
            "NULL",
            "f",
            "m",
            "user IS NULL",
            "alike(n, m)",
            f"{draw.choice(ANY)} IS {draw.choice(['', 'NOT '])}NULL",
            f"({_term(draw)}) IS NULL",
            f"{draw.choice(NUMBERS)} {draw.choice(COMPARISONS)} {draw.choice(NUMBERS)}",
            f"{draw.choice(NUMBERS)} = 1e308 * 10 - 1e308 * 10",
            f"{draw.choice(NUMBERS)} < 1e308 * 10",
            f"{draw.choice(NUMBERS)} > -1e308 * 10",
            f"{draw.choice(ANY)} = NULL",
            "n > 5 AND n < 3",
        ]
    )


def _predicate(draw: random.Random) -> str:
    kind = draw.random()
    name = draw.choice(ANY)
    if kind < 0.45:
        return f"{name} {draw.choice(COMPARISONS)} {_constant(draw, name)}"
    if kind < 0.6:
        low, high = _constant(draw, name), _constant(draw, name)
        return f"{name} {draw.choice(['', 'NOT '])}BETWEEN {low} AND {high}"
    if kind < 0.7:
        return _listed(draw, name)
    if kind < 0.8:
        return _on_text(draw)
    if kind < 0.9:
        return f"{_term(draw)} {draw.choice(COMPARISONS)} {_number(draw)}"
    return f"({_odd(draw)})"


# -- structure ------------------------------------------------------------------------------------


def _rare(draw: random.Random) -> str:
    """Draw a test that few events satisfy."""
    low = draw.randrange(3000)
    return draw.choice(
        [
            f"k = {low}",
            f"k BETWEEN {low} AND {low + draw.choice([0, 1, 3, 10, 40])}",
            f"k IN ({low}, {draw.randrange(3000)}, {draw.randrange(3000)})",
            f"w = {_text(draw)[:-1]}w1'",
        ]
    )


def _narrow(draw: random.Random) -> str:
    return " AND ".join([_rare(draw), *(_predicate(draw) for _ in range(draw.randrange(4)))])


def _conjunction(draw: random.Random) -> str:
    return " AND ".join(_predicate(draw) for _ in range(draw.randrange(1, 5)))


def _tree(draw: random.Random, depth: int = 3) -> str:
    if depth == 0 or draw.random() < 0.15:
        return _predicate(draw)
    kind = draw.choice(["AND", "OR", "XOR", "NOT", "AT LEAST"])
    if kind == "NOT":
        return f"NOT ({_tree(draw, depth - 1)})"
    operands = [f"({_tree(draw, depth - 1)})" for _ in range(draw.randrange(2, 5))]
    if kind == "AT LEAST":
        return f"AT LEAST {draw.randrange(1, len(operands) + 1)} OF ({', '.join(operands)})"
    return f" {kind} ".join(operands)


def _guarded(draw: random.Random) -> str:
    return f"{_rare(draw)} AND ({_tree(draw)})"


def _either(draw: random.Random) -> str:
    return f"({_narrow(draw)}) OR ({_narrow(draw)}) OR {_rare(draw)}"


def _counted(draw: random.Random) -> str:
    n = draw.choice([2, 3, 7, 8, 31, 33, 64, 70])
    of = ", ".join(draw.choice([_rare, _predicate])(draw) for _ in range(n))
    return f"{draw.choice(['', 'NOT '])}AT LEAST {draw.randrange(1, n + 1)} OF ({of})"


def _parities(draw: random.Random) -> str:
    some = [draw.choice([_rare, _predicate])(draw) for _ in range(draw.randrange(2, 9))]
    return f"{draw.choice(['', 'NOT '])}({' XOR '.join(some)})"


def _deep(draw: random.Random) -> str:
    text = _predicate(draw)
    for _ in range(draw.choice([10, 30])):
        text = f"{_predicate(draw)} {draw.choice(['AND', 'OR', 'AND NOT', 'OR NOT'])} ({text})"
    return text


_FORMS: list[Callable[[random.Random], str]] = [
    _narrow,
    _narrow,
    _narrow,
    _conjunction,
    _conjunction,
    _conjunction,
    _tree,
    _guarded,
    _either,
    _parities,
    lambda draw: draw.choice([_counted, _deep, _tree, _guarded])(draw),
]
