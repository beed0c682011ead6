"""Texts that a regular expression is likely to accept.

They are guesses, to be verified: unsupported syntax is skipped.
"""

from __future__ import annotations

from functools import lru_cache

_CLASSES = {"d": "0", "w": "a", "s": " ", "D": "a", "W": " ", "S": "a", "n": "\n", "t": "\t"}
_EMPTY = "AzbBGQEPpCUu"  # anchors, and escapes that are not supported
_LONGEST = 500
_DEEPEST = 40
_MOST = 20  # maximum number of repetitions in a sample


@lru_cache(maxsize=1_000)
def samples(pattern: str) -> list[str]:
    """Return a few texts, shortest first: with the first alternatives, and with the last ones."""
    if len(pattern) > _LONGEST:
        return []
    texts = []
    for last, more in ((False, 0), (True, 0), (False, 1), (True, 1)):
        text = _RegexSampler(pattern, last, more).alternatives(0)
        if text not in texts:
            texts.append(text)
    return texts


class _RegexSampler:
    """A pass over the pattern; `at` is the position of the next character."""

    def __init__(self, pattern: str, last: bool, more: int) -> None:
        self.pattern = pattern
        self.at = 0
        self.last = last
        self.more = more

    def peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def take(self) -> str:
        self.at += 1
        return self.pattern[self.at - 1 : self.at]

    def alternatives(self, depth: int) -> str:
        chosen = self.concatenation(depth)
        while self.peek() == "|":
            self.at += 1
            other = self.concatenation(depth)
            chosen = other if self.last else chosen
        return chosen

    def concatenation(self, depth: int) -> str:
        parts: list[str] = []
        while self.peek() and self.peek() not in "|)":
            parts.append(self.repeat(self.atom(depth)))
        return "".join(parts)

    def atom(self, depth: int) -> str:
        character = self.take()
        if character == "(" and depth < _DEEPEST:
            return self.group(depth + 1)
        if character == "[":
            return self.choice()
        if character == "\\":
            escaped = self.take()
            return "" if escaped in _EMPTY else _CLASSES.get(escaped, escaped)
        if character == ".":
            return "a"
        return "" if character in "^$" else character

    def group(self, depth: int) -> str:
        if self.peek() == "?":
            while self.peek() and self.take() not in ":>)":  # (?:…), (?P<name>…), (?i)
                pass
            if self.pattern[self.at - 1 : self.at] == ")":
                return ""
        inner = self.alternatives(depth)
        if self.peek() == ")":
            self.at += 1
        return inner

    def choice(self) -> str:
        """Return a letter of a class in brackets."""
        negated = self.peek() == "^"
        self.at += negated
        inside: list[str] = []
        while self.peek() and (self.peek() != "]" or not inside):
            character = self.take()
            if character == "\\":
                escaped = self.take()
                character = _CLASSES.get(escaped, escaped)
            inside.append(character)
        self.at += 1
        if negated:
            return next((c for c in "a0 -zA~" if c not in inside), "\N{EURO SIGN}")
        return inside[-1 if self.last else 0] if inside else ""

    def repeat(self, atom: str) -> str:
        times = 1
        while (sign := self.peek()) and sign in "*+?{":
            if sign == "{":
                end = self.pattern.find("}", self.at)
                least = self.pattern[self.at + 1 : max(end, 0)].split(",")[0]
                if not least.isascii() or not least.isdigit():
                    break
                times = min(int(least), _MOST)
                self.at = end + 1
            else:
                self.at += 1
                times = max(times if sign == "+" else 0, self.more)
        return atom * times
