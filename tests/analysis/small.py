"""Random selectors over a domain so small that all of its events can be tried.

The constants are chosen so that the domain has a value in every cell that tests with them can tell
apart: what holds for all its events holds for all events of the schema.
"""

from itertools import product
from random import Random

from tamis.language import evaluate, parse
from tamis.language.expr import attributes
from tamis.schema import Schema

SCHEMA = Schema({"n": ("INT", 2), "x": "DBL", "s": ("STR", "ab"), "b": "BOOL"})
SEMANTICS = ("sql", "strict", "default", "total")

_COMPARED = ("=", "<>", "<", "<=", ">", ">=")
TESTS = {
    "n": [
        *(f"n {op} {c}" for op in _COMPARED for c in range(4)),
        *(f"n BETWEEN {low} AND {high}" for low in range(3) for high in range(1, 4)),
        *(f"n IN ({a}, {b})" for a in range(4) for b in range(4)),
    ],
    "x": [f"x {op} {c}" for op in _COMPARED for c in ("0.5", "1.5")],
    "s": [
        *(f"s {op} '{c}'" for op in _COMPARED for c in ("a", "ab", "b")),
        *(f"s LIKE '{pattern}'" for pattern in ("a%", "ab%", "%b", "a%b")),
        *(f"contains(s, '{letter}')" for letter in "ab"),
    ],
    "b": ["b", "NOT b"],
}
_DENSE = {
    "n": range(-2, 6),
    "x": [n / 4 for n in range(-2, 9)],
    "s": ["".join(t) for n in range(5) for t in product("Aabc", repeat=n)],
    "b": [True, False],
}


def _told_apart(name: str) -> list[object]:
    """Of a dense domain one value for each way in which the tests can come out; and NULL."""
    tests = [parse(text) for text in TESTS[name]]
    found = {tuple(evaluate(t, {name: value}) for t in tests): value for value in _DENSE[name]}
    return [None, *found.values()]


VALUES = {name: _told_apart(name) for name in TESTS}


def events(named: set[str], semantics: str) -> list[dict[str, object]]:
    """All events that differ in the named attributes; under `total` none is missing."""
    found = []
    names = sorted(named)
    total = semantics == "total"
    for values in product(*(VALUES[name][1 if total else 0 :] for name in names)):
        event = {name: v for name, v in zip(names, values, strict=True) if v is not None}
        if total:
            event = {"n": 0, "x": 0.0, "s": "", "b": False, **event}
        found.append(event)
    return found


def selector(random: Random, depth: int = 2) -> str:
    """A random one; often a small change of another is more telling, see `changed`."""
    if depth == 0 or random.random() < 0.25:
        return test(random)
    parts = [selector(random, depth - 1) for _ in range(random.choice((2, 2, 3)))]
    kind = random.choice(("AND", "AND", "AND", "OR", "OR", "XOR", "NOT", "LEAST"))
    if kind == "NOT":
        return f"NOT ({parts[0]})"
    if kind == "LEAST":
        return f"AT LEAST {random.randint(1, len(parts))} OF ({', '.join(parts)})"
    return "(" + f" {kind} ".join(parts) + ")"


def test(random: Random) -> str:
    name = random.choice("nnnxsssb")
    if random.random() < 0.15:
        return f"{name} IS {random.choice(('', 'NOT '))}NULL"
    return random.choice(TESTS[name])


test.__test__ = False  # type: ignore[attr-defined]


def changed(random: Random, text: str) -> str:
    """Another selector, often close to this one."""
    kind = random.choice(("and", "or", "not not", "rewrite", "other", "other"))
    if kind == "and":
        return f"({text}) AND {test(random)}"
    if kind == "or":
        return f"{test(random)} OR {text}"
    if kind == "not not":
        return f"NOT (NOT ({text}))"
    if kind == "rewrite":
        return (
            text.replace("n <> 1", "NOT n = 1")
            .replace("n >= 2", "n > 1")
            .replace("n < 2", "n <= 1")
        )
    return selector(random)


def matched(text: str, tried: list[dict[str, object]], semantics: str) -> list[bool]:
    """Which of the events match, by the meaning alone."""
    tree = parse(text)
    needed = attributes(tree) if semantics == "strict" else ()
    if semantics == "default":
        tried = [{**_DEFAULTS, **event} for event in tried]
    return [
        evaluate(tree, event) is True and all(path[0] in event for path in needed)
        for event in tried
    ]


_DEFAULTS = {path[0]: value for path, value in SCHEMA.defaults.items()}
