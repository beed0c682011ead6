"""Decide whether a text is a valid selector, without any code of `tamis`.

`selector.lark` holds the grammar. This module holds the restrictions of docs/guides/language.md
that a grammar cannot express. All of them can be checked on the tokens of a text, because a
word and its neighbours mean the same in every context.

Where the page does not say, these readings are assumed:

- Keywords differ in case within ASCII only.
- White space is what Python's `\\s` matches; only a line feed ends a `--` comment.
- A region is one of `zoneinfo.available_timezones()`; an offset is at most 18:00, as in Spark.
- Text that is not Unicode (a lone surrogate) is refused.

Out of scope: nesting deeper than 100, which the grammar accepts.
"""

import datetime
import functools
import re
import zoneinfo
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import re2
from lark import Lark, Token
from lark.exceptions import UnexpectedInput

_GRAMMAR = Path(__file__).with_name("selector.lark").read_text(encoding="utf-8")

_RESERVED = set("AND OR XOR NOT IN BETWEEN LIKE ILIKE RLIKE ESCAPE IS NULL TRUE FALSE".split())
_FREE = set(
    "FIRST THEN WITHIN PER AT LEAST OF TIMESTAMP DATE "
    "MILLISECOND MILLISECONDS SECOND SECONDS MINUTE MINUTES HOUR HOURS DAY DAYS "
    "CONTAINS STARTSWITH ENDSWITH ARRAY_CONTAINS ABS MIN GREATEST MAX SUM AVG DISTANCE".split()
)
_INFIX_AFTER_NOT = {"IN", "BETWEEN", "LIKE", "ILIKE", "RLIKE"}
_CONTINUES_VALUE = _INFIX_AFTER_NOT | {
    "AND", "OR", "XOR", "IS", "COMPARISON",
    "PLUS", "MINUS", "STAR", "SLASH", "PERCENT", "COMMA", "RPAR",
}  # fmt: skip
_INT_MAX = 2**63 - 1
_UNITS = {
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
}


class _RefusedError(Exception):
    pass


@functools.cache
def _parser() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", lexer="basic", start="selector")


def accepts(text: str) -> bool:
    """Whether docs/guides/language.md allows `text` as a selector."""
    try:
        tokens = _tokens(text)
        parser = _parser().parse_interactive()
        for token in tokens:
            parser.feed_token(token)
        parser.feed_eof()
        _check(tokens)
    except (UnexpectedInput, UnicodeEncodeError, _RefusedError):
        return False
    return True


def unused_terminals(texts: Iterable[str]) -> set[str]:
    """The terminals of the grammar that none of `texts`, which are valid, has."""
    terminals = _RESERVED | _FREE | {"DIGITS", "INT_MIN", "OPEN"}
    terminals |= {terminal.name for terminal in _parser().terminals}
    terminals -= set(_parser().ignore_tokens)
    return terminals - {token.type for text in texts for token in _tokens(text)}


def _tokens(text: str) -> list[Token]:
    text.encode()
    tokens = [_typed(token) for token in _parser().lex(text)]
    if tokens and tokens[0].type == "FIRST" and _opens_sequence(tokens):
        tokens[0] = _retyped(tokens[0], "OPEN")
    return tokens


def _retyped(token: Token, type_: str) -> Token:
    return Token.new_borrow_pos(type_, token.value, token)


def _typed(token: Token) -> Token:
    if token.type == "PATH":
        return _typed_path(token)
    if token.type == "NUMBER":
        return _typed_number(token)
    return token


def _typed_path(token: Token) -> Token:
    words = re.sub(r"`(?:[^`]|``)+`", "`", token.value).split(".")
    for word in words:
        if word != "`" and not all(_in_name(character) for character in word):
            raise _RefusedError(f"not a letter in {word!r}")
    # ASCII only: str.upper() would turn the long s of "i\u017f" into the S of IS.
    keywords = [word.upper() if word.isascii() else word for word in words]
    if len(words) == 1 and keywords[0] in _RESERVED | _FREE:
        return _retyped(token, keywords[0])
    if keywords[0] in _RESERVED:
        raise _RefusedError("a reserved word opens a path")
    return token


def _in_name(character: str) -> bool:
    return character in "_$" or character.isalnum()


def _typed_number(token: Token) -> Token:
    text = token.value
    digits = text.removesuffix("L")
    if digits.isdigit():
        if _integer(digits) > _INT_MAX + 1:
            raise _RefusedError("outside of 64 bits")
        if _integer(digits) == _INT_MAX + 1:
            return _retyped(token, "INT_MIN")
        return _retyped(token, "DIGITS") if text == digits else token
    if text.endswith("L"):
        raise _RefusedError("L after more than digits")
    if float(text.removesuffix("D")) == float("inf"):
        raise _RefusedError("overflows to infinity")
    return token


def _integer(digits: str) -> int:
    """The value of `digits`, cut short where it is far outside of 64 bits.

    Python refuses to convert more than 4300 digits.
    """
    return int(digits.lstrip("0")[:25] or "0")


def _opens_sequence(tokens: list[Token]) -> bool:
    following = [token.type for token in tokens[1:3]]
    if not following:
        return False
    if following[0] == "NOT":  # infix in `first NOT IN (1)`, prefix in `FIRST NOT a THEN b`
        return following[-1] not in _INFIX_AFTER_NOT
    return following[0] not in _CONTINUES_VALUE


def _check(tokens: list[Token]) -> None:
    """Refuse what is wrong in tokens that the grammar has accepted."""
    types = [token.type for token in tokens]
    for i, kind in enumerate(types):
        after = types[i + 1 :]
        if kind == "AT" and after[:1] == ["LEAST"]:
            alternatives = _count_items(types[i + 4 :])
            _require(1 <= _integer(tokens[i + 2]) <= alternatives, "k outside of 1...n")
        elif kind == "WITHIN" and after[:1] == ["DIGITS"]:
            microseconds = _integer(tokens[i + 1]) * _UNITS[types[i + 2].removesuffix("S")]
            _require(0 < microseconds <= _INT_MAX, "WITHIN out of range")
        elif after[:1] == ["STRING"]:
            text = _unquote(tokens[i + 1])
            if kind in ("TIMESTAMP", "DATE"):
                check: Callable[[str], bool] = _is_timestamp if kind == "TIMESTAMP" else _is_date
                _require(check(text), f"not a {kind}")
            elif kind == "RLIKE":
                _require(_is_re2(text), "not a regular expression")
            elif kind in ("LIKE", "ILIKE"):
                escaped = after[1:3] == ["ESCAPE", "STRING"]
                escape = _unquote(tokens[i + 3]) if escaped else "\\"
                _require(len(escape) == 1, "ESCAPE takes one character")
                pattern = text.lower() if kind == "ILIKE" else text
                _require(_is_like(pattern, escape), "a bad escape")


def _require(condition: bool, reason: str) -> None:
    if not condition:
        raise _RefusedError(reason)


def _count_items(types: list[str]) -> int:
    """Count the items of the list that begins with the first of `types`, a parenthesis."""
    depth, items = 0, 1
    for kind in types:
        depth += (kind == "LPAR") - (kind == "RPAR")
        if depth == 0:
            break
        items += kind == "COMMA" and depth == 1
    return items


def _unquote(token: Token) -> str:
    return token.value[1:-1].replace("''", "'")


def _is_like(pattern: str, escape: str) -> bool:
    characters: Iterator[str] = iter(pattern)
    return all(c != escape or next(characters, None) in ("%", "_", escape) for c in characters)


@functools.cache
def _is_re2(pattern: str) -> bool:
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options=options)
    except re2.error:
        return False
    return True


_TIMESTAMP = re.compile(
    r"(\d{4}-\d{2}-\d{2})"
    r"(?:[ T](\d{2}:\d{2})(?::(\d{2})(?:\.\d+)?)?)?"
    r"(?:Z|UTC|[+-](\d{2})(?::?(\d{2}))?| ([A-Za-z][A-Za-z0-9_+/-]*))?",
    re.ASCII,
)


@functools.cache
def _regions() -> set[str]:
    return zoneinfo.available_timezones()


def _is_date(text: str) -> bool:
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
        return False
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_timestamp(text: str) -> bool:
    match = _TIMESTAMP.fullmatch(text)
    if match is None or not _is_date(match[1]):
        return False
    if match[2] is not None:
        if match[2].startswith("24"):  # to Python 3.14 the next midnight
            return False
        try:
            datetime.time.fromisoformat(f"{match[2]}:{match[3] or '00'}")
        except ValueError:
            return False
    if match[4] is not None:
        hours, minutes = int(match[4]), int(match[5] or 0)
        if minutes >= 60 or hours * 60 + minutes > 18 * 60:
            return False
    return match[6] is None or match[6] in _regions()
