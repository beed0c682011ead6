"""Creation of an engine by name, with checked options."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature

from tamis.engines import ENGINES, Engine
from tamis.errors import InputError
from tamis.schema import Schema


def make_engine(
    name: str, options: Mapping[str, object], schema: Schema | None, semantics: str
) -> Engine:
    """Create an engine without subscriptions.

    Args:
        name: The name of the engine.
        options: The options that the user passes.
        schema: The attributes of events.
        semantics: The meaning of a missing attribute.

    Raises:
        InputError: There is no engine with that name, or it has no such option.
    """
    if not isinstance(name, str) or name not in ENGINES:
        raise InputError(f"unknown engine {name!r}; choose one of {', '.join(sorted(ENGINES))}")
    make = ENGINES[name]
    parameters = dict.fromkeys(signature(make).parameters, True)
    # Some engines use what is certain about events. The matcher passes it; it is not an option.
    certain: dict[str, object] = {"schema": schema, "semantics": semantics}
    facts = {name: value for name, value in certain.items() if parameters.pop(name, False)}
    for option in options:
        if option not in parameters:
            takes = f"takes {', '.join(parameters)}" if parameters else "takes none"
            raise InputError(f"the engine {name} has no option {option!r}; it {takes}")
    return make(**options, **facts)
