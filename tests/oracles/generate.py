"""Random selectors over the columns, well-typed so that a database accepts them.

A seeded generator builds trees from the top down, with every construct of docs/guides/language.md.
A dialect names what it leaves out in `without`: the constants below, in terms.py and in columns.py.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tamis.language.expr import (
    And,
    ArrayContains,
    AtLeast,
    Attribute,
    Between,
    BoolExpr,
    Comparison,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    RLike,
    StringTest,
    ValueExpr,
    Xor,
)
from tamis.language.patterns import like_fault
from tamis.values import Type
from tests.oracles.columns import CASES, NUL, Path, draw
from tests.oracles.terms import Terms

# What a dialect may leave out, beside NAN, NUL and MIXED.
REGEX = "RLIKE"
JAVA_REGEX = "regular expressions that mean other things in Java"
LOWER = "letters whose lower case is not one letter, or depends on its place"
UNICODE_LOWER = "lower case beyond ASCII"
UPPER_ESCAPE = "a capital as the escape character of ILIKE"
ASCII_ESCAPE = "an escape character beyond ASCII"
BMP_ESCAPE = "an escape character beyond U+FFFF"
OBJECTS = "a test of a whole object"

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
STRING_TESTS = ("contains", "startswith", "endswith")

# Patterns with one meaning in RE2 and in Java, on any text.
_PATTERNS = (
    "a", "^a", "b|c", "^(a|b)+", "[a-c]{2}", "a?b", "(ab)*c", r"\d", r"^\w+\z", r"\.", r"\\", "%",
    "é", "[é-ü]", r"\pL", r"\p{Lu}", r"^\PL", r"\x{1F600}", "(?:a|A)b", "(?i)AB", r"\A\z|a+?b",
    "it's", r"[^\x00-\x7f]", "😀", r"\[a\]", "",
)  # fmt: skip
# The dot: Java stops it at more line ends, so there it is kept to texts without them.
_DOTTED = ("a.b", "^.$", "^a.*b", "^.{2,3}", ".+c", "(?s)a.b")
# `$` before a last line end, \s and \v, \b and (?i) beyond ASCII, POSIX classes.
_RE2_ONLY = ("a$", "^a$", r"\s", r"a\b", "(?i)É", "[[:upper:]]", r"(?P<x>a)b", "(?i)k")
_TEXTS_WITHOUT_LINE_ENDS = (("s2",), ("s3",), ("user", "city"))


def random_selectors(
    rng: random.Random, count: int, without: frozenset[str] = frozenset(), depth: int = 3
) -> list[BoolExpr]:
    """Different selectors, nested at most so deep, the same for the same state of the generator."""
    make = _Generator(rng, without)
    found: dict[str, BoolExpr] = {}
    while len(found) < count:
        selector = make.boolean(min(depth, rng.choice((0, 1, 1, 2, 2, 3))))
        found.setdefault(str(selector), selector)
    return list(found.values())


class _Generator(Terms):
    # -- structure --------------------------------------------------------------------------------

    def boolean(self, depth: int) -> BoolExpr:
        if depth == 0 or self.rng.random() < 0.1:
            return self.predicate()
        kind = self.rng.choice(("and", "and", "or", "or", "xor", "not", "not", "at least"))
        if kind == "not":
            return Not(self.boolean(depth - 1))
        operands = tuple(self.boolean(depth - 1) for _ in range(self.rng.choice((2, 2, 3))))
        if kind == "and":
            return And(operands)
        if kind == "or":
            return Or(operands)
        if kind == "xor":
            return Xor(operands)
        operands += tuple(self.predicate() for _ in range(self.rng.choice((0, 1))))
        return AtLeast(self.rng.randint(1, len(operands)), operands)

    def predicate(self) -> BoolExpr:
        rng = self.rng
        makers = [make for make, weight in self.predicates().items() for _ in range(weight)]
        found = rng.choice(makers)()
        return Not(found) if rng.random() < 0.2 else found

    def predicates(self) -> dict[Callable[[], BoolExpr], int]:
        return {
            self.comparison: 10,
            self.between: 3,
            self.in_list: 4,
            self.like: 4,
            self.rlike: 0 if REGEX in self.without else 3,
            self.string_test: 4,
            self.array_contains: 3,
            self.is_null: 3,
            self.bare: 2,
        }

    # -- predicates -------------------------------------------------------------------------------

    def comparison(self) -> BoolExpr:
        left, right = self.comparable(2)
        return Comparison(self.rng.choice(COMPARISONS), left, right)

    def between(self) -> BoolExpr:
        operand, low, high = self.comparable(3)
        return Between(operand, low, high)

    def comparable(self, count: int) -> list[ValueExpr]:
        """Values of one type, or numbers of both, that may be compared."""
        kind = self.rng.choice(
            (Type.INT, Type.INT, Type.DBL, Type.DBL, Type.STR, Type.STR, Type.BOOL, Type.TIMESTAMP)
        )
        if kind not in (Type.INT, Type.DBL):
            return [self.plain(kind) for _ in range(count)]
        while True:
            kinds = [
                kind if n == 0 else self.rng.choice((kind, Type.INT, Type.DBL))
                for n in range(count)
            ]
            numbers = [self.number(k, self.rng.choice((0, 1, 1, 2))) for k in kinds]
            if self.may_meet(numbers):
                return [n.expr for n in numbers]

    def in_list(self) -> BoolExpr:
        rng = self.rng
        kind = rng.choice((Type.INT, Type.DBL, Type.STR, Type.BOOL, Type.TIMESTAMP))
        count = rng.choice((1, 2, 3, 4))
        if rng.random() < 0.15:
            count = rng.randint(11, 15)  # beyond 10 Spark looks it up in a set
        if kind in (Type.INT, Type.DBL):
            while True:
                operand = self.number(kind, rng.choice((0, 0, 1)))
                items = [
                    self.number_literal(rng.choice((kind, kind, Type.INT, Type.DBL)))
                    for _ in range(count)
                ]
                if self.may_meet([operand, *items]):
                    break
            literals = [n.expr for n in items]
            return In(operand.expr, self.with_null(literals))
        return In(self.plain(kind), self.with_null([self.literal(kind) for _ in range(count)]))

    def with_null(self, items: list[ValueExpr]) -> tuple[Literal, ...]:
        if self.rng.random() < 0.25:
            items.insert(self.rng.randint(0, len(items)), Literal.of(None))
        return tuple(items)  # type: ignore[arg-type]

    def like(self) -> BoolExpr:
        rng = self.rng
        ignore_case = rng.random() < 0.4
        if ignore_case and UNICODE_LOWER in self.without:
            path: Path = ("s3",)
        elif ignore_case and LOWER in self.without:
            path = rng.choice((("s2",), ("s3",), ("user", "city")))
        else:
            path = rng.choice(self.paths(Type.STR))
        text = str(draw(rng, path, self.without | {NUL}))
        if ignore_case and path == ("s1",) and rng.random() < 0.7:
            text = rng.choice(CASES)
        escape = rng.choice(("\\", "\\", "\\", "!", "#", "%", "_", "'", "a", "A", "é", "→", "😀"))
        if ord(escape) > self.widest_escape():
            escape = "#"
        if ignore_case and escape.isupper() and UPPER_ESCAPE in self.without:
            escape = "!"
        pattern = self.pattern(text, escape)
        while ignore_case and like_fault(pattern.lower(), escape):
            escape = "!"
            pattern = self.pattern(text, escape)
        return Like(self.text(path), pattern, escape, ignore_case)

    def widest_escape(self) -> int:
        if ASCII_ESCAPE in self.without:
            return 0x7F
        return 0xFFFF if BMP_ESCAPE in self.without else 0x10FFFF

    def pattern(self, text: str, escape: str) -> str:
        """A pattern that at times the text matches, and other texts too."""
        rng = self.rng
        parts: list[str] = []
        for character in text:
            chance = rng.random()
            if chance < 0.15 and escape != "%":
                parts.append("%")
            elif chance < 0.3 and escape != "_":
                parts.append("_")
            elif character == escape or (character in "%_" and chance < 0.9):
                parts.append(escape + character)
            else:
                parts.append(character)
        if rng.random() < 0.4 and escape != "%":
            parts.insert(rng.choice((0, len(parts))), "%")
        if rng.random() < 0.1:
            parts.append(escape + rng.choice(("%", "_", escape)))
        return "".join(parts)

    def rlike(self) -> BoolExpr:
        patterns = [*_PATTERNS, *_DOTTED]
        if JAVA_REGEX not in self.without:
            patterns += _RE2_ONLY
        pattern = self.rng.choice(patterns)
        paths = self.paths(Type.STR)
        if pattern in _DOTTED and JAVA_REGEX in self.without:
            paths = list(_TEXTS_WITHOUT_LINE_ENDS)
        return RLike(self.text(self.rng.choice(paths)), pattern)

    def string_test(self) -> BoolExpr:
        text, part = self.plain(Type.STR), self.plain(Type.STR)
        if self.rng.random() < 0.6:  # a part that often is one
            path = self.rng.choice(self.paths(Type.STR))
            whole = str(draw(self.rng, path, self.without | {NUL}))
            first = self.rng.randint(0, len(whole))
            literal = Literal.of(whole[first : self.rng.randint(first, len(whole))])
            text, part = self.rng.choice(
                ((Attribute(path), literal), (Literal.of(whole), Attribute(path)))
            )
        return StringTest(self.rng.choice(STRING_TESTS), text, part)

    def array_contains(self) -> BoolExpr:
        if self.rng.random() < 0.5:
            item = self.plain(Type.STR)
            if self.rng.random() < 0.6:
                item = Literal.of(draw(self.rng, ("tags",), self.without) or "a")
            return ArrayContains(Attribute(("tags",)), item)
        kind = self.rng.choice((Type.INT, Type.INT, Type.DBL))
        while True:
            item = self.number(kind, self.rng.choice((0, 0, 1)))
            # The elements are small, so an INT of any size may meet them.
            if kind is Type.INT or self.may_meet([item]):
                return ArrayContains(Attribute(("nums",)), item.expr)

    def is_null(self) -> BoolExpr:
        rng = self.rng
        chance = rng.random()
        if chance < 0.25:
            return IsNull(Attribute(rng.choice((("tags",), ("nums",)))))
        if chance < 0.35 and OBJECTS not in self.without:
            return IsNull(Attribute(("user",)))
        if chance < 0.7:
            return IsNull(self.number(rng.choice((Type.INT, Type.DBL)), 2).expr)
        return IsNull(self.plain(rng.choice((Type.STR, Type.BOOL, Type.TIMESTAMP))))

    def bare(self) -> BoolExpr:
        if self.rng.random() < 0.3:
            return Literal.of(self.rng.choice((True, False, None)))
        return Attribute(self.rng.choice(self.paths(Type.BOOL)))
