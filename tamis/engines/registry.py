"""Engines by name."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature

from tamis.engines import ENGINES, Engine
from tamis.errors import InputError
from tamis.schema import Schema


def make_engine(
    name: str, options: Mapping[str, object], schema: Schema | None, semantics: str
) -> Engine:
    """An engine without subscriptions.

    Args:
        name: Which one.
        options: What people tell it.
        schema: The attributes of events.
        semantics: What a missing attribute means.

    Raises:
        InputError: There is none of that name, or it has no such option.
    """
    if not isinstance(name, str) or name not in ENGINES:
        raise InputError(f"unknown engine {name!r}; one of {', '.join(sorted(ENGINES))}")
    make = ENGINES[name]
    known = dict.fromkeys(signature(make).parameters, True)
    # Some engines use what is certain about events. It is the matcher's to say, and no option.
    certain: dict[str, object] = {"schema": schema, "semantics": semantics}
    told = {option: value for option, value in certain.items() if known.pop(option, False)}
    for option in options:
        if option not in known:
            takes = f"takes {', '.join(known)}" if known else "takes none"
            raise InputError(f"the engine {name} has no option {option!r}; it {takes}")
    return make(**options, **told)
