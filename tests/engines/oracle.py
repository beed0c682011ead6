"""The expected answers, from the definition alone: no engine, no rewriting, no columns."""

from collections.abc import Mapping

from tamis.language import evaluate, parse
from tamis.language.evaluate import look_up
from tamis.language.expr import attributes
from tamis.schema import Schema

Event = Mapping[str, object]


def matching(
    subscriptions: Mapping[object, str],
    event: Event,
    semantics: str = "sql",
    schema: Schema | None = None,
) -> set[object]:
    """Return the ids whose selectors the event satisfies."""
    if semantics == "default":
        assert schema is not None
        event = _filled(event, schema)
    return {
        id
        for id, text in subscriptions.items()
        if evaluate(parse(text), event) is True
        and (semantics != "strict" or _adequate(text, event))
    }


def _adequate(text: str, event: Event) -> bool:
    return all(look_up(path, event) is not None for path in attributes(parse(text)))


def _filled(event: Event, schema: Schema) -> Event:
    filled: dict[str, object] = dict(event)
    for path, default in schema.defaults.items():
        if look_up(path, event) is None:
            _put(filled, path, default)
    return filled


def _put(event: dict[str, object], path: tuple[str, ...], value: object) -> None:
    *outer, name = path
    for step in outer:
        inner = event.get(step)
        event[step] = dict(inner) if isinstance(inner, Mapping) else {}
        event = event[step]  # type: ignore[assignment]
    event[name] = value
