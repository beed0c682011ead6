"""Tokens to constants: numbers, text, timestamps, TRUE, FALSE, NULL, and lists of them."""

from __future__ import annotations

import re
from collections.abc import Callable

from tamis.errors import SelectorSyntaxError, shorten
from tamis.language.expr import Literal
from tamis.language.lexer import NAME, NUMBER, STRING
from tamis.language.token_reader import TokenReader
from tamis.values import INT_MAX, INT_MIN, Timestamp, Type

# Looking up an Enum member costs half as much as creating a node.
BOOL, INT, DBL, STR, TIMESTAMP = Type.BOOL, Type.INT, Type.DBL, Type.STR, Type.TIMESTAMP

_DECIMAL = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?D?")


class LiteralReader(TokenReader):
    """Reads literals."""

    __slots__ = ()

    def literal(self) -> Literal:
        """Read one item of a list."""
        first = self.at
        kind = self.kinds[first]
        if kind in ("-", "+"):
            if self.kinds[first + 1] is NUMBER:
                return self.signed_number()
        elif kind in LITERALS:
            return LITERALS[kind](self)
        elif kind is NAME and self.is_timestamp():
            return self.timestamp()
        if kind == ")":
            raise self.error("the list is empty", first, hint="add at least one literal")
        raise self.unexpected_error(
            "expected a literal", "a list holds literals only; for attributes, write a = b OR a = c"
        )

    def items(self) -> tuple[Literal, ...]:
        """Read the list after IN."""
        self.expect("(", "IN takes a list in parentheses: IN (1, 2)")
        kinds, texts, starts, ends = self.kinds, self.texts, self.starts, self.ends
        items = []
        while True:
            at = self.at
            kind = kinds[at]
            if kind is STRING:  # inlined: lists of thousands of words are common
                text = texts[at][1:-1].replace("''", "'")
                items.append(Literal(text, STR, start=starts[at], end=ends[at]))
                self.at = at + 1
            else:
                items.append(self.number() if kind is NUMBER else self.literal())
            if kinds[self.at] != ",":
                break
            self.at += 1
        self.expect(")", "expected ',' or ')' in the list")
        return tuple(items)

    def signed_number(self) -> Literal:
        """Read a number with a sign."""
        first = self.at
        self.at += 1
        return self.number(-1 if self.kinds[first] == "-" else 1, first)

    def number(self, sign: int = 1, first: int | None = None) -> Literal:
        """Read a number; `first` is the token of its sign, if any."""
        at = self.at
        self.at = at + 1
        token = self.texts[at]
        start, end = self.starts[at if first is None else first], self.ends[at]
        if token.isdigit() and token.isascii():
            integer = sign * (int(token) if len(token) <= 18 else whole_number(token))
            if INT_MIN <= integer <= INT_MAX:
                return Literal(integer, INT, start=start, end=end)
            raise SelectorSyntaxError(
                "integer does not fit into 64 bits",
                self.text,
                start,
                end,
                "write it as a decimal: 1e20",
            )
        if token[-1] == "L" and is_whole(token[:-1]):
            self.texts[at] = token[:-1]
            self.at = at
            return self.number(sign, first)
        if not _DECIMAL.fullmatch(token):
            raise SelectorSyntaxError(
                f"malformed number {shorten(token, 40)!r}",
                self.text,
                start,
                end,
                "L is for whole numbers; put a name that begins with a digit into backticks",
            )
        decimal = sign * float(token.removesuffix("D"))
        if decimal in (float("inf"), float("-inf")):
            raise SelectorSyntaxError(
                "number is too large for a 64-bit float",
                self.text,
                start,
                end,
                "the largest is about 1.8e308",
            )
        return Literal(decimal, DBL, start=start, end=end)

    def string_literal(self) -> Literal:
        """Read a string."""
        at = self.at
        return Literal(self.string(""), STR, start=self.starts[at], end=self.ends[at])

    def constant(self) -> Literal:
        """Read TRUE, FALSE or NULL."""
        at = self.at
        self.at += 1
        kind = self.kinds[at]
        value = None if kind == "NULL" else kind == "TRUE"
        return Literal(
            value, None if value is None else BOOL, start=self.starts[at], end=self.ends[at]
        )

    def is_timestamp(self) -> bool:
        """Whether TIMESTAMP '…' or DATE '…' comes next."""
        return self.kinds[self.at + 1] is STRING and (
            self.word_is(self.at, "TIMESTAMP") or self.word_is(self.at, "DATE")
        )

    def timestamp(self) -> Literal:
        """Read TIMESTAMP '…' or DATE '…'."""
        at = self.at
        self.at += 1
        text = self.string("")
        read = Timestamp.parse_date if self.word_is(at, "DATE") else Timestamp.parse
        try:
            moment = read(text)
        except (ValueError, OverflowError) as error:
            word = self.texts[at].upper()
            raise self.error(
                f"not a {word.lower()}: {error}",
                at + 1,
                hint="e.g. TIMESTAMP '2024-05-01 10:00:00+02:00'",
            ) from None
        return Literal(moment, TIMESTAMP, start=self.starts[at], end=self.ends[at + 1])


LITERALS: dict[str, Callable[..., Literal]] = {
    NUMBER: LiteralReader.number,
    STRING: LiteralReader.string_literal,
    "TRUE": LiteralReader.constant,
    "FALSE": LiteralReader.constant,
    "NULL": LiteralReader.constant,
}


def is_whole(token: str) -> bool:
    """Whether a token consists of digits only."""
    return token.isascii() and token.isdigit()


def whole_number(digits: str) -> int:
    """Return the number that digits denote, or some number beyond 64 bits."""
    # 20 digits are enough to be out of range; Python refuses to convert thousands of them.
    digits = digits.lstrip("0")[:20]
    return int(digits) if digits else 0
