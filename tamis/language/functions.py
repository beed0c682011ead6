"""The functions that a selector may call: the built-in ones, and those that the caller brings.

The A-Tree thesis (2004, §3.2.3) lets a node hold "any user defined complex function"; here such a
function stands among the values of a selector, and so below every predicate and in every engine.
"""

from __future__ import annotations

import inspect
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tamis.errors import InputError, shorten
from tamis.paths import RESERVED, path_text

VALUE_FUNCTIONS = {
    "abs": "abs", "least": "least", "min": "least", "greatest": "greatest", "max": "greatest",
    "sum": "sum", "avg": "avg",
}  # fmt: skip
STRING_TESTS = ("contains", "startswith", "endswith")
BUILT_IN = (*VALUE_FUNCTIONS, *STRING_TESTS, "array_contains")

# Free as names of attributes, but before a parenthesis or a string they open something.
_OPENING = frozenset("FIRST THEN WITHIN PER AT OF TIMESTAMP DATE".split())

# Case is that of ASCII, in names of functions as in keywords.
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)

Callables = Mapping[str, Callable[..., object]]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the caller's.

    Attributes:
        name: Its name, as the caller spells it.
        call: The function itself.
        least: How many arguments it takes, at least.
        most: How many at most; None if there is no limit, or if it cannot be known.
    """

    name: str
    call: Callable[..., object]
    least: int
    most: int | None

    def takes(self, count: int) -> bool:
        """Whether it can be called with so many arguments."""
        return self.least <= count and (self.most is None or count <= self.most)

    @property
    def arity(self) -> str:
        """How many arguments it takes, in words."""
        if self.most is None:
            return f"at least {self.least} argument{'s' * (self.least > 1)}"
        most = f"{self.most} argument{'s' * (self.most > 1)}"
        return most if self.least == self.most else f"{self.least} to {most}"


class Functions(Mapping[str, Callable[..., object]]):
    """The functions that the caller brings, by name; checked once, and never changed."""

    __slots__ = ("_found",)

    def __init__(self, functions: Callables) -> None:
        """Check and keep them.

        Raises:
            InputError: One that could not be called in a selector.
        """
        self._found: dict[str, Function] = {}
        for name, call in functions.items():
            _check_name(name)
            function = Function(name, call, *_arity(name, call))
            other = self._found.setdefault(_fold_case(name), function)
            if other is not function:
                raise _function_error(name, f"differs from {other.name!r} in case only")

    @classmethod
    def of(cls, functions: Callables | None) -> Functions:
        """The same, of a mapping; None is no functions.

        Raises:
            InputError: It is no mapping, or one of them could not be called in a selector.
        """
        if functions is None:
            return NO_FUNCTIONS
        if isinstance(functions, Functions):
            return functions
        if not isinstance(functions, Mapping):
            raise InputError(
                f"give a mapping of names to functions, not {type(functions).__name__}", "functions"
            )
        return cls(functions)

    def find(self, spelt: str) -> Function | None:
        """The function of a name, in any case."""
        return self._found.get(_fold_case(spelt))

    def __getitem__(self, name: str) -> Callable[..., object]:
        """The function of a name, in any case."""
        return self._found[_fold_case(name)].call

    def __iter__(self) -> Iterator[str]:
        """The names, as the caller spells them."""
        return (function.name for function in self._found.values())

    def __len__(self) -> int:
        """How many there are."""
        return len(self._found)

    def __hash__(self) -> int:
        """By content, as equality is."""
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the functions themselves: Python does that by reference, to module and name."""
        return Functions.of, (dict(self) or None,)


NO_FUNCTIONS = Functions({})


def _fold_case(name: str) -> str:
    return name.lower() if name.isascii() else name.translate(_LOWER)


def _check_name(name: object) -> None:
    if not isinstance(name, str):
        raise _function_error(name, "is no name: a name is text")
    upper = name.upper()
    if _fold_case(name) in BUILT_IN:
        raise _function_error(name, "is a built-in function; choose another name")
    if upper in RESERVED or upper in _OPENING:
        raise _function_error(name, "is a word of the language; choose another name")
    if path_text((name,)) != name:
        raise _function_error(name, "is no name: letters, digits, _ and $, and no digit first")


def _arity(name: str, call: object) -> tuple[int, int | None]:
    """The least and the greatest number of arguments."""
    if not callable(call):
        raise _function_error(name, f"is no function but {shorten(repr(call))}")
    try:
        hash(call)
    except TypeError:
        raise _function_error(name, "cannot be hashed; wrap it in a def or a lambda") from None
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):  # some of C's do not tell
        return 1, None
    needed = [p for p in parameters if p.default is p.empty]
    if any(p.kind is p.KEYWORD_ONLY for p in needed):
        raise _function_error(
            name, "needs an argument by keyword; a selector gives them by position"
        )
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    least = max(1, sum(p.kind in by_position for p in needed))
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return least, None
    most = sum(p.kind in by_position for p in parameters)
    if most == 0:
        raise _function_error(name, "takes no argument; in a selector a function has at least one")
    return least, most


def _function_error(name: object, reason: str) -> InputError:
    return InputError(f"{shorten(repr(name))} {reason}", "functions")
