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
    """A subscription.

    Attributes:
        id: Its name, unique in a matcher.
        text: The selector as it was written.
        priority: The higher, the earlier in an answer.
        selector: The selector as it was written, as a tree.
        required: The attributes that an event must have (`strict`); else empty.
        functions: What the text may call besides the built-in functions.
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
            SelectorError: It is not a selector, or the schema refuses it.
            InputError: One of the functions could not be called in a selector.
        """
        functions = Functions.of(functions)
        selector = parse(text, functions)
        if schema is not None:
            check(selector, schema, text)
        required = attributes(selector) if semantics == "strict" else frozenset()
        return cls(id, text, priority, selector, required, functions)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as text: shorter than the tree, and a deep tree is too much for pickle."""
        return _restore, (self.id, self.text, self.priority, self.required, self.functions)

    @property
    def condition(self) -> Selector:
        """What engines match: the selector in its common form, and what `strict` adds to it.

        With the required attributes as tests, every engine has the four semantics for nothing:
        `default` and `total` are settled when a batch of events is made.
        """
        return rewrite(self.full_selector)

    @property
    def full_selector(self) -> Selector:
        """The selector as it was written, and what `strict` adds to it."""
        if not self.required or isinstance(self.selector, Sequence):
            return self.selector
        return And((self.selector, *self.presence))

    @property
    def presence(self) -> tuple[Not, ...]:
        """The tests that `strict` adds: every attribute that the text names is there."""
        return tuple(Not(IsNull(Attribute(path))) for path in sorted(self.required))


def satisfies(event: Event, subscription: Subscription) -> bool:
    """Whether an event matches a subscription, by the oracle."""
    if any(look_up(path, event) is None for path in subscription.required):
        return False
    return evaluate(subscription.selector, event) is True  # type: ignore[arg-type]


def _restore(
    id: Id, text: str, priority: int, required: frozenset[Path], functions: Functions
) -> Subscription:
    return Subscription(id, text, priority, parse(text, functions), required, functions)
