"""Valid texts of selectors, written from the productions of the grammar.

They are a function of their seed alone. Texts stay clear of what docs/guides/language.md leaves
open: white space other than blank, tab and line ends, and instants that only a zone carries out of
range.
"""

import random
from collections.abc import Callable, Sequence

Tokens = list[str]


def distance(x: object, *others: object) -> object:
    return others[-1] if others else x


# What the texts call besides the built-in functions.
FUNCTIONS = {"Distance": distance}

FREE_WORDS = (
    "at least first then within per of timestamp date max min sum avg abs greatest contains "
    "startswith endswith array_contains millisecond milliseconds second seconds minute minutes "
    "hour hours day days distance"
).split()
_PLAIN_NAMES = "a b c x price company qty user host e1 L D T Z _ __x $ $t a$b a_1 x9".split()
# Reserved words at the front or the back; letters of every kind; letters that str.upper() and
# str.lower() carry to those of IS, IN and LIKE, though they are other names.
_TRAPS = (
    "android orders inner nullable notin isnull like2 trueish _null in_ between1 first_name thenx "
    "été 名前 имя Ünï größe ʰx ǅ ªb i\u017f \u0131n li\u212ae \u0130S"
).split()
_QUOTED_NAMES = (
    "`a`", "`a b`", "`a.b`", "`a``b`", "````", "`AND`", "`null`", "`first`", "`max`", "`it's`",
    "`-- x`", "`/*`", "`\n`", "` `", "`1`", "`é`", "`😀`", "`(`",
)  # fmt: skip

_INTEGERS = ("0", "1", "7", "42", "007", "1000", "10L", "0L", "9223372036854775807")
_DECIMALS = (
    "1.5", ".5", "7.", "0.0", "1e3", "1E+5", "1.e-5", ".5e10", "2.50e1", "42D", "7.D", ".5D",
    "1e3D", "1e308", "1e-400", "3.14159265358979323846", "9223372036854775808.",
    "99999999999999999999D", "00.5",
)  # fmt: skip
_STRINGS = (
    "''", "'x'", "'IBM'", "'it''s'", "''''", "'a b'", "'-- no'", "'/* no */'", "'é'", "'\n'", "'`'",
    "'😀'", "'\\'", "'%_'", "'AND'", "'2024-05-01'", "'(,)'",
)  # fmt: skip
_REGEXPS = (
    r"'curl/\d+'", r"'^a.*b$'", r"'(a|b)+'", r"'[[:alpha:]]'", r"'\pL{2,3}'", r"'(?i)x'",
    r"'(?P<n>x)'", r"''", r"'it''s'", r"'\.'", r"'[^a-z]*?'", r"'\x{1F600}'",
)  # fmt: skip
_ESCAPES = ("\\", "!", "#", "|", "é", "'", "%", "_", " ", "😀", "a")
_ZONES = (
    "", "Z", "UTC", "+02:00", "-0330", "+02", "-00:00", " Europe/Paris", " UTC",
    " America/Argentina/Buenos_Aires", " Etc/GMT+5",
)  # fmt: skip
_UNITS = "MILLISECOND MILLISECONDS SECOND SECONDS MINUTE MINUTES HOUR HOURS DAY DAYS".split()
COMPARISONS = ("=", "<>", "!=", "<", "<=", ">", ">=")
_BLANKS = (" ", " ", " ", "  ", "\n", "\t", "\r\n")
_COMMENTS = (
    "-- it's\n", "--\n", "--`(/*\n", "/* , */", "/**/", "/***/", "/* a\nb */", "/* -- */", "/*'*/",
    "/*/*/",
)  # fmt: skip


def valid(seed: int, count: int) -> list[str]:
    """`count` texts that docs/guides/language.md allows."""
    rng = random.Random(f"valid {seed}")
    return [spaced(rng, Writer(rng).selector()) for _ in range(count)]


class Writer:
    """Writes one selector, of about as many operands as `size`."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.size = rng.choice((1, 1, 2, 2, 3, 4, 6))
        self.case = rng.choice((str.upper, str.upper, str.lower, self._mixed_case))

    def selector(self) -> Tokens:
        return self.sequence() if self.chance(0.12) else self.boolean(0)

    def sequence(self) -> Tokens:
        first = self.boolean(1)
        while first[0][0] in "+-":  # there, FIRST would be an attribute
            first = self.boolean(1)
        tokens = [self.word("FIRST"), *first]
        for _ in range(self.rng.choice((1, 1, 2))):
            tokens += [self.word("THEN"), *self.boolean(1)]
        if self.chance(0.6):
            number = self.rng.choice(("1", "5", "007", "3600"))
            tokens += [self.word("WITHIN"), number, self.word(self.rng.choice(_UNITS))]
        if self.chance(0.5):
            tokens += [self.word("PER"), self.attribute()]
        return tokens

    def boolean(self, depth: int) -> Tokens:
        if self.size > 1 and depth < 8 and self.chance(0.55):
            tokens = self.boolean(depth + 1)
            if not self.chance(0.6):
                tokens = self.wrapped(tokens)
            for _ in range(self.rng.choice((1, 1, 1, 2))):
                operator = self.rng.choice(("AND", "AND", "OR", "OR", "XOR"))
                tokens += [self.word(operator), *self.boolean(depth + 1)]
            return tokens
        if self.chance(0.15):
            return [self.word("NOT"), *self.boolean(depth + 1)]
        tokens = self.test(depth)
        while self.chance(0.12):
            tokens = self.wrapped(tokens)
        return tokens

    def test(self, depth: int) -> Tokens:
        self.size -= 1
        negated = [self.word("NOT")] if self.chance(0.3) else []
        kinds: list[tuple[int, Callable[[], Tokens]]] = [
            (6, lambda: [*self.value(0), self.rng.choice(COMPARISONS), *self.value(0)]),
            (2, lambda: [*self.value(1), *negated, *self.between()]),
            (2, lambda: [*self.value(1), *negated, *self.membership()]),
            (2, lambda: [*self.value(1), *negated, *self.like()]),
            (1, lambda: [*self.value(1), *negated, self.word("RLIKE"), self.rng.choice(_REGEXPS)]),
            (1, lambda: [*self.value(1), self.word("IS"), *negated, self.word("NULL")]),
            (2, lambda: self.call("contains startswith endswith array_contains", 2, 2)),
            (1 if depth < 6 else 0, lambda: self.at_least(depth)),
            (2, lambda: [self.attribute()]),
            (1, lambda: self.call("distance", 1, 3)),
            (1, lambda: [self.word(self.rng.choice(("TRUE", "FALSE", "NULL")))]),
        ]
        (chosen,) = self.rng.choices([kind for _, kind in kinds], [weight for weight, _ in kinds])
        return chosen()

    def between(self) -> Tokens:
        return [self.word("BETWEEN"), *self.value(1), self.word("AND"), *self.value(1)]

    def membership(self) -> Tokens:
        items = [self.literal() for _ in range(self.rng.choice((1, 1, 2, 3, 5)))]
        return [self.word("IN"), "(", *_separated(items), ")"]

    def like(self) -> Tokens:
        escape = self.rng.choice(_ESCAPES) if self.chance(0.4) else "\\"
        marks = ("%", "_", escape)
        ordinary = [c for c in ("a", "b ", "é", "''", "/", "%", "_", "😀", "--") if escape not in c]
        pieces = [*ordinary, *(escape + mark for mark in marks)]
        pattern = "".join(self.rng.choices(pieces, k=self.rng.randrange(5)))
        if escape == "'":
            pattern = pattern.replace("'", "''")
        tokens = [self.word(self.rng.choice(("LIKE", "ILIKE"))), f"'{pattern}'"]
        if escape != "\\" or self.chance(0.1):
            written = "''" if escape == "'" else escape
            tokens += [self.word("ESCAPE"), f"'{written}'"]
        return tokens

    def at_least(self, depth: int) -> Tokens:
        items = [self.boolean(depth + 1) for _ in range(self.rng.choice((1, 2, 2, 3)))]
        number = self.rng.randint(1, len(items))
        written = f"{number}" if self.chance(0.9) else f"0{number}"
        words = [self.word("AT"), self.word("LEAST"), written, self.word("OF")]
        return [*words, "(", *_separated(items), ")"]

    def value(self, depth: int) -> Tokens:
        if depth < 4 and self.chance(0.2):
            operator = self.rng.choice(("+", "-", "*", "/", "%"))
            return [*self.value(depth + 1), operator, *self.value(depth + 1)]
        if self.chance(0.08):
            return [self.rng.choice("+-"), *self.value(depth + 1)]
        if depth < 4 and self.chance(0.08):
            return self.wrapped(self.value(depth + 1))
        if depth < 4 and self.chance(0.08):
            return self.call("abs", 1, 1)
        if depth < 4 and self.chance(0.1):
            return self.call("least min greatest max sum avg distance", 1, 3)
        if self.chance(0.55):
            return [self.attribute()]
        if self.chance(0.03):
            return ["-9223372036854775808"]
        return self.unsigned()

    def call(self, names: str, fewest: int, most: int) -> Tokens:
        name = self.word(self.rng.choice(names.split()))
        arguments = [self.value(2) for _ in range(self.rng.randint(fewest, most))]
        return [name, "(", *_separated(arguments), ")"]

    def literal(self) -> Tokens:
        if self.chance(0.03):
            return ["-9223372036854775808"]
        if self.chance(0.25):
            return [self.rng.choice("+-"), self.number()]
        return self.unsigned()

    def unsigned(self) -> Tokens:
        if self.chance(0.45):
            return [self.number()]
        if self.chance(0.6):
            return [self.rng.choice(_STRINGS)]
        if self.chance(0.5):
            return self.timestamp()
        return [self.word(self.rng.choice(("TRUE", "FALSE", "NULL")))]

    def number(self) -> str:
        return self.rng.choice(self.rng.choice((_INTEGERS, _DECIMALS)))

    def timestamp(self) -> Tokens:
        rng = self.rng
        year = rng.choice((1, 1969, 1970, 2023, 2024, 9999))
        month = rng.randint(2, 11)  # a zone must not carry the first or the last year out of range
        date = f"{year:04}-{month:02}-{rng.randint(1, 28):02}"
        if year == 2024 and self.chance(0.3):
            date = "2024-02-29"
        if self.chance(0.3):
            return [self.word("DATE"), f"'{date}'"]
        time = ""
        if self.chance(0.8):
            time = f"{rng.choice(' T')}{rng.randrange(24):02}:{rng.randrange(60):02}"
            if self.chance(0.7):
                time += f":{rng.randrange(60):02}" + rng.choice(("", ".5", ".123456", ".123456789"))
        return [self.word("TIMESTAMP"), f"'{date}{time}{rng.choice(_ZONES)}'"]

    def attribute(self) -> str:
        parts = [self.name()]
        while self.chance(0.12):
            parts.append(self.name())
        return ".".join(parts)

    def name(self) -> str:
        pool = self.rng.choices((_PLAIN_NAMES, FREE_WORDS, _TRAPS, _QUOTED_NAMES), (12, 4, 2, 2))[0]
        name = self.rng.choice(pool)
        return self.rng.choice((name, name.upper())) if pool is FREE_WORDS else name

    def wrapped(self, tokens: Tokens) -> Tokens:
        return ["(", *tokens, ")"]

    def word(self, keyword: str) -> str:
        return self.case(keyword)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def _mixed_case(self, keyword: str) -> str:
        return "".join(self.rng.choice((c.upper(), c.lower())) for c in keyword)


def _separated(items: Sequence[Tokens]) -> Tokens:
    tokens = list(items[0])
    for item in items[1:]:
        tokens += [",", *item]
    return tokens


def spaced(rng: random.Random, tokens: Tokens) -> str:
    """`tokens` as text, from which the same tokens are read again."""
    blank = rng.choice((0.05, 0.5, 0.95))
    comment = rng.choice((0, 0, 0, 0.1))
    text = ""
    previous = ""
    for token in tokens:
        gap = _gap(rng, blank, comment)
        if not gap and previous and _run_together(previous, token):
            gap = rng.choice(_BLANKS)
        if previous.endswith("-") and gap.startswith("-"):
            gap = " " + gap
        text += gap + token
        previous = token
    end = _gap(rng, 0.05, comment)
    if comment and rng.random() < 0.3:
        end = " -- end"
    return text + end


def _gap(rng: random.Random, blank: float, comment: float) -> str:
    gap = rng.choice(_BLANKS) if rng.random() < blank else ""
    if rng.random() < comment:
        gap += rng.choice(_COMMENTS)
    return gap


def _run_together(left: str, right: str) -> bool:
    """Whether two tokens side by side would be read as others."""
    pair = left[-1] + right[0]
    if pair in ("--", "/*", "''", "``", "<=", ">=", "<>", "!="):
        return True
    return _is_wordy(left[-1]) and _is_wordy(right[0])


def _is_wordy(character: str) -> bool:
    return character.isalnum() or character in "_$."
