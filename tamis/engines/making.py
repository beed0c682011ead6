"""Engines by name."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature

from tamis.engines import ENGINES, Engine
from tamis.errors import InputError


def made(name: str, options: Mapping[str, object]) -> Engine:
    """An engine without subscriptions.

    Raises:
        InputError: There is none of that name, or it has no such option.
    """
    if not isinstance(name, str) or name not in ENGINES:
        raise InputError(f"unknown engine {name!r}; one of {', '.join(sorted(ENGINES))}")
    make = ENGINES[name]
    known = signature(make).parameters
    for option in options:
        if option not in known:
            takes = f"takes {', '.join(known)}" if known else "takes none"
            raise InputError(f"the engine {name} has no option {option!r}; it {takes}")
    return make(**options)
