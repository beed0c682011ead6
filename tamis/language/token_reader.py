"""A selector's tokens, read one after the other, and the faults found on the way."""

from __future__ import annotations

from tamis.errors import SelectorSyntaxError, SelectorTooDeep, shorten
from tamis.language import lexer
from tamis.language.lexer import END, STRING
from tamis.paths import RESERVED

# How deep a selector may nest. Every walk over a tree may be a plain recursive function: at five
# Python frames per level, this leaves the caller half of Python's default limit of 1,000.
MAX_DEPTH = 100


class TokenReader:
    """One selector being read; `at` is the index of the next token."""

    __slots__ = ("at", "depth", "ends", "inner", "kinds", "starts", "text", "texts")

    def __init__(self, text: str) -> None:
        """Stand before the first token."""
        self.text = text
        self.kinds, self.texts, self.starts, self.ends = lexer.tokenize(text)
        self.at = 0
        self.depth = 0
        self.inner = 0  # how many nodes have others below them, at most

    def string(self, wanted: str) -> str:
        """The text in quotes that must come next."""
        at = self.at
        if self.kinds[at] is not STRING:
            raise self.unexpected_error(wanted)
        self.at += 1
        return self.texts[at][1:-1].replace("''", "'")

    def expect(self, kind: str, wanted: str) -> None:
        """Step over a token that must come next."""
        if self.kinds[self.at] != kind:
            raise self.unexpected_error(wanted)
        self.at += 1

    def word_is(self, at: int, word: str) -> bool:
        """Whether a token is this word, in any case."""
        # isascii: 'ﬁrst'.upper() is 'FIRST' too.
        token = self.texts[at]
        return len(token) == len(word) and token.isascii() and token.upper() == word

    def enter(self) -> None:
        """Go one level deeper."""
        self.inner += 1
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.too_deep_error()

    def error(
        self, reason: str, first: int, last: int | None = None, hint: str = ""
    ) -> SelectorSyntaxError:
        """A fault from one token to another."""
        end = self.ends[first if last is None else last]
        return SelectorSyntaxError(reason, self.text, self.starts[first], end, hint)

    def too_deep_error(self) -> SelectorTooDeep:
        """The fault of nesting beyond MAX_DEPTH."""
        at = min(self.at, len(self.starts) - 1)
        return SelectorTooDeep(
            f"the selector nests deeper than {MAX_DEPTH}",
            self.text,
            self.starts[at],
            self.ends[at],
            "split it into several subscriptions; a long sum is written SUM(a, b, …)",
        )

    def unexpected_error(self, wanted: str, hint: str = "") -> SelectorSyntaxError:
        """The fault of a token that does not belong here."""
        at = self.at
        kind, token = self.kinds[at], self.texts[at]
        shown = shorten(token, 40)
        if kind is END:
            return self.error(f"the selector ends too early: {wanted}", at, hint=hint)
        if not hint and kind in RESERVED and kind not in ("TRUE", "FALSE", "NULL"):
            hint = f"{kind} is a reserved word; an attribute of that name is written `{shown}`"
        if not hint and kind == "=" and at and self.kinds[at - 1] == "=":
            hint = "equality is written with one '='"
        if not hint and kind == ")":
            hint = "there is a ')' too many, or an operand is missing before it"
        return self.error(f"unexpected {shown!r}: {wanted}", at, hint=hint)
