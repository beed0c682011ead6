"""Sequential reading of a selector's tokens, and syntax errors with their position."""

from __future__ import annotations

from tamis.errors import SelectorSyntaxError, SelectorTooDeep, shorten
from tamis.language import lexer
from tamis.language.lexer import END, STRING
from tamis.paths import RESERVED

# The deepest nesting of a selector, so that functions over trees can be recursive: at five Python
# frames per level, half of Python's default limit of 1,000 is left to the caller.
MAX_DEPTH = 100


class TokenReader:
    """A cursor over the tokens of one selector; `at` is the index of the next token."""

    __slots__ = ("at", "depth", "ends", "inner", "kinds", "starts", "text", "texts")

    def __init__(self, text: str) -> None:
        """Start before the first token."""
        self.text = text
        self.kinds, self.texts, self.starts, self.ends = lexer.tokenize(text)
        self.at = 0
        self.depth = 0
        self.inner = 0  # an upper bound on the number of inner nodes

    def string(self, expectation: str) -> str:
        """Read a string, which must come next."""
        at = self.at
        if self.kinds[at] is not STRING:
            raise self.unexpected_error(expectation)
        self.at += 1
        return self.texts[at][1:-1].replace("''", "'")

    def expect(self, kind: str, expectation: str) -> None:
        """Skip a token, which must come next."""
        if self.kinds[self.at] != kind:
            raise self.unexpected_error(expectation)
        self.at += 1

    def word_is(self, at: int, word: str) -> bool:
        """Whether a token is this word, ignoring case."""
        # isascii: the upper case of 'ﬁrst', with a ligature, is 'FIRST' too.
        token = self.texts[at]
        return len(token) == len(word) and token.isascii() and token.upper() == word

    def enter(self) -> None:
        """Enter a level of nesting; the caller decrements `depth` when it leaves."""
        self.inner += 1
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.too_deep_error()

    def error(
        self, reason: str, first: int, last: int | None = None, hint: str = ""
    ) -> SelectorSyntaxError:
        """Return a syntax error that spans tokens, from `first` to `last`."""
        end = self.ends[first if last is None else last]
        return SelectorSyntaxError(reason, self.text, self.starts[first], end, hint)

    def too_deep_error(self) -> SelectorTooDeep:
        """Return the error of nesting deeper than MAX_DEPTH."""
        at = min(self.at, len(self.starts) - 1)
        return SelectorTooDeep(
            f"the selector nests deeper than {MAX_DEPTH}",
            self.text,
            self.starts[at],
            self.ends[at],
            "split it into several subscriptions; write a long sum as SUM(a, b, …)",
        )

    def unexpected_error(self, expectation: str, hint: str = "") -> SelectorSyntaxError:
        """Return the error of an unexpected token."""
        at = self.at
        kind, token = self.kinds[at], self.texts[at]
        shown = shorten(token, 40)
        if kind is END:
            return self.error(f"the selector ends too early: {expectation}", at, hint=hint)
        if not hint and kind in RESERVED and kind not in ("TRUE", "FALSE", "NULL"):
            hint = f"{kind} is a reserved word; write an attribute of that name as `{shown}`"
        if not hint and kind == "=" and at and self.kinds[at - 1] == "=":
            hint = "write equality with one '='"
        if not hint and kind == ")":
            hint = "remove this ')', or add the operand before it"
        return self.error(f"unexpected {shown!r}: {expectation}", at, hint=hint)
