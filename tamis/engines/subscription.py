"""A selector with an id and a priority, ready for an engine."""

from __future__ import annotations

from dataclasses import dataclass, field

from tamis.language import parse
from tamis.language.evaluate import Event, evaluate, look_up
from tamis.language.expr import And, Attribute, IsNull, Not, Selector, Sequence, attributes
from tamis.language.functions import NO_FUNCTIONS, Callables, Functions
from tamis.language.rewrite import rewrite
from tamis.language.typecheck import check
from tamis.matches import Id
from tamis.paths import Path
from tamis.schema import Schema


@dataclass(frozen=True, slots=True)
class Subscription:
    """A selector with an id and a priority.

    Attributes:
        id: The id, unique in a matcher.
        text: The selector as it was written.
        priority: Matches with a higher priority come first in an answer.
        selector: The parsed selector, not rewritten.
        required: The attributes that an event must have (`strict`); empty for other semantics.
        functions: The functions that the text may call besides the built-in ones.
    """

    id: Id
    text: str
    priority: int
    selector: Selector
    required: frozenset[Path] = frozenset()
    functions: Functions = field(default=NO_FUNCTIONS, compare=False, repr=False)

    @classmethod
    def of(
        cls,
        id: Id,
        text: str,
        priority: int = 0,
        schema: Schema | None = None,
        semantics: str = "sql",
        functions: Callables | None = None,
    ) -> Subscription:
        """Parse and check a selector.

        Raises:
            SelectorError: The text is not a selector, or it does not fit the schema.
            InputError: One of the functions cannot be called in a selector.
        """
        functions = Functions.of(functions)
        selector = parse(text, functions)
        if schema is not None:
            check(selector, schema, text)
        required = attributes(selector) if semantics == "strict" else frozenset()
        return cls(id, text, priority, selector, required, functions)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as text, which is shorter than the tree; pickle also cannot handle deep trees."""
        return _restore, (self.id, self.text, self.priority, self.required, self.functions)

    @property
    def condition(self) -> Selector:
        """The condition that engines match: the rewritten selector and the tests of `strict`.

        Because required attributes are ordinary tests, every engine supports all four semantics:
        `default` and `total` are applied when a batch of events is built.
        """
        return rewrite(self.full_selector)

    @property
    def full_selector(self) -> Selector:
        """The selector as it was written, with the tests that `strict` adds."""
        if not self.required or isinstance(self.selector, Sequence):
            return self.selector
        return And((self.selector, *self.presence))

    @property
    def presence(self) -> tuple[Not, ...]:
        """The tests that `strict` adds: every attribute that the text names is present."""
        return tuple(Not(IsNull(Attribute(path))) for path in sorted(self.required))


def satisfies(event: Event, subscription: Subscription) -> bool:
    """Return whether an event matches a subscription, according to the oracle."""
    if any(look_up(path, event) is None for path in subscription.required):
        return False
    return evaluate(subscription.selector, event) is True  # type: ignore[arg-type]


def _restore(
    id: Id, text: str, priority: int, required: frozenset[Path], functions: Functions
) -> Subscription:
    return Subscription(id, text, priority, parse(text, functions), required, functions)
