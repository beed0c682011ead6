"""The functions that a selector may call: the built-in ones, and those of the caller.

The A-Tree thesis (2004, §3.2.3) lets a node hold "any user defined complex function". Here such a
function is a value expression, so it works in every predicate and with every engine.
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

# Not reserved as attribute names, but followed by a parenthesis or a string they begin a construct.
_OPENING = frozenset("FIRST THEN WITHIN PER AT OF TIMESTAMP DATE".split())

# Function names, like keywords, ignore the case of ASCII letters only.
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)

Callables = Mapping[str, Callable[..., object]]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the caller.

    Attributes:
        name: The name, as the caller spells it.
        call: The function itself.
        least: The smallest number of arguments.
        most: The largest number of arguments; None if unlimited or unknown.
    """

    name: str
    call: Callable[..., object]
    least: int
    most: int | None

    def takes(self, count: int) -> bool:
        """Whether the function accepts this number of arguments."""
        return self.least <= count and (self.most is None or count <= self.most)

    @property
    def arity(self) -> str:
        """The number of arguments, in words."""
        if self.most is None:
            return f"at least {self.least} argument{'s' * (self.least > 1)}"
        most = f"{self.most} argument{'s' * (self.most > 1)}"
        return most if self.least == self.most else f"{self.least} to {most}"


class Functions(Mapping[str, Callable[..., object]]):
    """The caller's functions by name; checked once, then immutable."""

    __slots__ = ("_by_name",)

    def __init__(self, functions: Callables) -> None:
        """Check and store the functions.

        Raises:
            InputError: A selector could not call one of them.
        """
        self._by_name: dict[str, Function] = {}
        for name, call in functions.items():
            _check_name(name)
            function = Function(name, call, *_arity(name, call))
            other = self._by_name.setdefault(_fold_case(name), function)
            if other is not function:
                raise _function_error(name, f"differs from {other.name!r} in case only")

    @classmethod
    def of(cls, functions: Callables | None) -> Functions:
        """Return the functions of a mapping; None stands for no functions.

        Raises:
            InputError: It is not a mapping, or a selector could not call one of the functions.
        """
        if functions is None:
            return NO_FUNCTIONS
        if isinstance(functions, Functions):
            return functions
        if not isinstance(functions, Mapping):
            raise InputError(
                f"expected a mapping of names to functions, not {type(functions).__name__}",
                "functions",
            )
        return cls(functions)

    def find(self, spelt: str) -> Function | None:
        """Return the function of a name, ignoring case."""
        return self._by_name.get(_fold_case(spelt))

    def __getitem__(self, name: str) -> Callable[..., object]:
        """Return the function of a name, ignoring case."""
        return self._by_name[_fold_case(name)].call

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names, as the caller spells them."""
        return (function.name for function in self._by_name.values())

    def __len__(self) -> int:
        """Return the number of functions."""
        return len(self._by_name)

    def __hash__(self) -> int:
        """Hash by content, consistent with equality."""
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the functions; Python pickles each by reference, as module and name."""
        return Functions.of, (dict(self) or None,)


NO_FUNCTIONS = Functions({})


def _fold_case(name: str) -> str:
    return name.lower() if name.isascii() else name.translate(_LOWER)


def _check_name(name: object) -> None:
    if not isinstance(name, str):
        raise _function_error(name, "is not a valid name: a name is a str")
    upper = name.upper()
    if _fold_case(name) in BUILT_IN:
        raise _function_error(name, "is a built-in function; choose another name")
    if upper in RESERVED or upper in _OPENING:
        raise _function_error(name, "is a keyword of the language; choose another name")
    if path_text((name,)) != name:
        raise _function_error(
            name, "is not a valid name: use letters, digits, _ and $, and no digit first"
        )


def _arity(name: str, call: object) -> tuple[int, int | None]:
    """Return the smallest and the largest number of arguments."""
    if not callable(call):
        raise _function_error(name, f"is not callable: {shorten(repr(call))}")
    try:
        hash(call)
    except TypeError:
        raise _function_error(name, "cannot be hashed; wrap it in a def or a lambda") from None
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):  # some functions written in C have no signature
        return 1, None
    needed = [p for p in parameters if p.default is p.empty]
    if any(p.kind is p.KEYWORD_ONLY for p in needed):
        raise _function_error(
            name, "has a required keyword-only argument; selectors pass arguments by position"
        )
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    least = max(1, sum(p.kind in by_position for p in needed))
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return least, None
    most = sum(p.kind in by_position for p in parameters)
    if most == 0:
        raise _function_error(
            name, "takes no arguments; a function in a selector needs at least one"
        )
    return least, most


def _function_error(name: object, reason: str) -> InputError:
    return InputError(f"{shorten(repr(name))} {reason}", "functions")
