"""Texts of selectors: valid ones, written from the productions of the grammar, and damaged ones.

Both are functions of their seed alone. Texts stay clear of what docs/language.md leaves open:
white space other than blank, tab and line ends, and instants that only a zone carries out of range.
"""

import random
import re
from collections.abc import Callable, Sequence

Tokens = list[str]


def distance(x: object, *others: object) -> object:
    return others[-1] if others else x


# What the texts call besides the built-in functions.
FUNCTIONS = {"Distance": distance}

_FREE_WORDS = (
    "at least first then within per of timestamp date max min sum avg abs greatest contains "
    "startswith endswith array_contains millisecond milliseconds second seconds minute minutes "
    "hour hours day days distance"
).split()
_RESERVED_WORDS = "AND OR XOR NOT IN BETWEEN LIKE ILIKE RLIKE ESCAPE IS NULL TRUE FALSE".split()
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
_COMPARISONS = ("=", "<>", "!=", "<", "<=", ">", ">=")
_BLANKS = (" ", " ", " ", "  ", "\n", "\t", "\r\n")
_COMMENTS = (
    "-- it's\n", "--\n", "--`(/*\n", "/* , */", "/**/", "/***/", "/* a\nb */", "/* -- */", "/*'*/",
    "/*/*/",
)  # fmt: skip


def valid(seed: int, count: int) -> list[str]:
    """`count` texts that docs/language.md allows."""
    rng = random.Random(f"valid {seed}")
    return [_spaced(rng, _Writer(rng).selector()) for _ in range(count)]


def mutated(seed: int, count: int) -> list[str]:
    """`count` texts, each a valid one with a damage or two. Some are still valid."""
    rng = random.Random(f"mutated {seed}")
    return [_damaged(rng) for _ in range(count)]


class _Writer:
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
            (6, lambda: [*self.value(0), self.rng.choice(_COMPARISONS), *self.value(0)]),
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
        pool = self.rng.choices((_PLAIN_NAMES, _FREE_WORDS, _TRAPS, _QUOTED_NAMES), (12, 4, 2, 2))[
            0
        ]
        name = self.rng.choice(pool)
        return self.rng.choice((name, name.upper())) if pool is _FREE_WORDS else name

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


def _spaced(rng: random.Random, tokens: Tokens) -> str:
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


_STRAY = [
    *"!@#?&|^~;:{}[]\"\\'`(),.=<>-+*/%_$ 019aeELlDdTZ\n\t",
    # Letters that fold to ASCII ones, digits and letters that are neither, and a bare accent.
    "é", "\u017f", "\u0131", "\u212a", "\u0130", "²", "٣", "Ⅷ", "\u0301", "\x00", "😀", "\u2019",
    "\uff1d",
]  # fmt: skip
_STRAY_TOKENS = (
    *_RESERVED_WORDS, *_FREE_WORDS, *_COMPARISONS, *"+-*/%(),.", "'x'", "''", "1", "0", "a", "a.b",
    "`a`", "``", "==", "<=>", "||", "&&", "CASE", "ANY", "NULLIF", "INTERVAL", "f", "REGEXP",
)  # fmt: skip
_BAD_NUMBERS = (
    "9223372036854775808", "9223372036854775808L", "99999999999999999999", "1e309", "1e999D",
    "1.5L", "1e3L", "7.L", "12abc", "12é", "1e", "1e+", "0x1F", "1_000", "1..2", "1.2.3", "1.a",
    "10l", "5d", "5f", "10LL", "10DL", "1²", "٣", "-0", "5BD", ".", "1._", "1$", "1e5x",
)  # fmt: skip
_BAD_STRINGS = (
    r"'\'", r"'a\'", r"'\a'", r"'\\\'", r"'!'", r"'('", r"'a**'", r"'(?=x)'", r"'\1'", r"'[a'",
    r"'a{1001}'", r"'x{2,1}'", r"'(?<n>x)'", "'ab'", "''", "\"x\"", "N'x'", "'a''", "'",
    "'2024-02-30'", "'2023-02-29'", "'2024-13-01'", "'2024-5-1'", "'0000-01-01'", "'24-05-01'",
    "'2024-05-01 24:00'", "'2024-05-01 10:60'", "'2024-05-01 10:00:60'", "'2024-05-01 10'",
    "'2024-05-01 10:00:'", "'2024-05-01 10:00:00.'", "'2024-05-01t10:00'", "'2024-05-01 10:00z'",
    "'2024-05-01 10:00 +02:00'", "'2024-05-01 10:00+2'", "'2024-05-01 10:00+02:60'",
    "'2024-05-01 10:00+020'", "'2024-05-01 10:00 Mars/Base'", "'2024-05-01 10:00 Europe'",
    "'2024-05-01 10:00Europe/Paris'", "' 2024-05-01'", "'2024-05-01 '", "'2024-05-01\n'",
    "'2024-05-01  10:00'", "'20240501'", "'2024-05-01T'", "'٢٠٢٤-05-01'", "'now'",
    "'2024-05-01 10:00 ../UTC'", "'2024-05-01Z'", "'2024-05-01 Europe/Paris'",
    "'2024-05-01T10:00:00.1234567890123Z'",
)  # fmt: skip


def _damaged(rng: random.Random) -> str:
    tokens = _Writer(rng).selector()
    if rng.random() < 0.6:
        for _ in range(rng.choice((1, 1, 1, 2))):
            tokens = _damage_tokens(rng, tokens)
        # Without any gap some words run together, which is a damage too.
        text = "".join(tokens) if rng.random() < 0.05 else _spaced(rng, tokens)
    else:
        text = _spaced(rng, tokens)
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            text = _damage_text(rng, text)
    return text


def _damage_tokens(rng: random.Random, tokens: Tokens) -> Tokens:
    kind = rng.randrange(13)
    at = rng.randrange(len(tokens) + 1)
    before, after = tokens[:at], tokens[at:]
    if kind == 0:  # delete
        return [*before, *after[1:]] if len(tokens) > 1 else ["("]
    if kind == 1:  # duplicate
        return [*before, *after[:1], *after]
    if kind == 2:  # swap with a neighbour
        return [*before, *after[1:2], *after[:1], *after[2:]]
    if kind == 3:  # swap with any other
        other = rng.randrange(len(tokens))
        swapped = list(tokens)
        swapped[at - 1], swapped[other] = swapped[other], swapped[at - 1]
        return swapped
    if kind == 4:  # replace
        return [*before, rng.choice(_STRAY_TOKENS), *after[1:]]
    if kind == 5:  # insert
        return [*before, rng.choice(_STRAY_TOKENS), *after]
    if kind == 6:  # truncate
        return (before or after) if rng.random() < 0.5 else (after or before)
    if kind == 7:  # one parenthesis less, or one more
        parentheses = [i for i, token in enumerate(tokens) if token in "()"]
        if not parentheses or rng.random() < 0.3:
            return [*before, rng.choice("()"), *after]
        gone = rng.choice(parentheses)
        return [*tokens[:gone], *tokens[gone + 1 :]]
    if kind == 8:  # parentheses around anything
        length = rng.randint(1, 6)
        return [*before, "(", *after[:length], ")", *after[length:]]
    if kind == 9:  # another selector after this one, or in it
        joint = rng.choice(("AND", "OR", "XOR", "THEN", "FIRST", ",", "=", "+", ""))
        other_tokens = _Writer(rng).selector()
        if rng.random() < 0.5:
            return [token for token in [*tokens, joint, *other_tokens] if token]
        return [token for token in [*before, joint, *other_tokens, *after] if token]
    if kind == 10:
        return _replaced(rng, tokens, r"[0-9.]", _BAD_NUMBERS)
    if kind == 11:
        return _replaced(rng, tokens, r"'", _BAD_STRINGS)
    return _replaced(rng, tokens, r"[0-9]+$", ("0", "1", "2", "3", "99", "1L", "1.", "-1", "1D"))


def _replaced(rng: random.Random, tokens: Tokens, kind: str, pool: Sequence[str]) -> Tokens:
    """One of the tokens that are like `kind`, or else any, gives way to one of `pool`."""
    places = [i for i, token in enumerate(tokens) if re.match(kind, token)]
    place = rng.choice(places) if places else rng.randrange(len(tokens))
    return [*tokens[:place], rng.choice(pool), *tokens[place + 1 :]]


def _damage_text(rng: random.Random, text: str) -> str:
    kind = rng.randrange(10)
    at = rng.randrange(len(text)) if text else 0
    before, after = text[:at], text[at:]
    if kind == 0:  # delete
        return before + after[1:]
    if kind == 1:  # duplicate
        return before + after[:1] + after
    if kind == 2:  # swap with a neighbour
        return before + after[1:2] + after[:1] + after[2:]
    if kind == 3:  # replace
        return before + rng.choice(_STRAY) + after[1:]
    if kind == 4:  # insert
        return before + rng.choice(_STRAY) + after
    if kind == 5:  # truncate
        return before if rng.random() < 0.5 else after
    if kind == 6:  # one mark less, which leaves its partner alone
        marks = [m.start() for m in re.finditer(r"['`()*/-]|(?<=\s)\s", text)] or [at]
        gone = rng.choice(marks)
        return text[:gone] + text[gone + 1 :]
    if kind == 7:  # tokens run together
        gaps = [m.span() for m in re.finditer(r"\s+", text)] or [(at, at)]
        start, end = rng.choice(gaps)
        return text[:start] + text[end:]
    if kind == 8:  # a gap where none may be
        return before + rng.choice((" ", "/**/", "--\n")) + after
    lookalikes = {"s": "\u017f", "i": "\u0131", "k": "\u212a", "l": "1", "o": "0", "=": "\uff1d"}
    places = [i for i, c in enumerate(text) if c.lower() in lookalikes] or [at]
    place = rng.choice(places)
    return text[:place] + lookalikes.get(text[place : place + 1].lower(), "") + text[place + 1 :]
