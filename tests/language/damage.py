"""Damaged texts of selectors: valid ones with tokens, or letters, lost, doubled or out of place.

They are a function of their seed alone.
"""

import random
import re
from collections.abc import Sequence

from tests.language.corpus import COMPARISONS, FREE_WORDS, Tokens, Writer, spaced

_RESERVED_WORDS = "AND OR XOR NOT IN BETWEEN LIKE ILIKE RLIKE ESCAPE IS NULL TRUE FALSE".split()
_STRAY = [
    *"!@#?&|^~;:{}[]\"\\'`(),.=<>-+*/%_$ 019aeELlDdTZ\n\t",
    # Letters that fold to ASCII ones, digits and letters that are neither, and a bare accent.
    "é", "\u017f", "\u0131", "\u212a", "\u0130", "²", "٣", "Ⅷ", "\u0301", "\x00", "😀", "\u2019",
    "\uff1d",
]  # fmt: skip
_STRAY_TOKENS = (
    *_RESERVED_WORDS, *FREE_WORDS, *COMPARISONS, *"+-*/%(),.", "'x'", "''", "1", "0", "a", "a.b",
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


def mutated(seed: int, count: int) -> list[str]:
    """`count` texts, each a valid one with a damage or two. Some are still valid."""
    rng = random.Random(f"mutated {seed}")
    return [_damaged(rng) for _ in range(count)]


def _damaged(rng: random.Random) -> str:
    tokens = Writer(rng).selector()
    if rng.random() < 0.6:
        for _ in range(rng.choice((1, 1, 1, 2))):
            tokens = _damage_tokens(rng, tokens)
        # Without any gap some words run together, which is a damage too.
        text = "".join(tokens) if rng.random() < 0.05 else spaced(rng, tokens)
    else:
        text = spaced(rng, tokens)
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
        other_tokens = Writer(rng).selector()
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
