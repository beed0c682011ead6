"""Questions about selectors, answered by a proof or by an event, or left undecided.

A question asks whether some event has a property, such as matching one selector and not another.
The answer is *no* if its BDD is false: that is a proof, because diagrams over-approximate what
events can do. It is *yes* only with an event that `evaluate` confirmed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from random import Random
from typing import Any, NamedTuple

from tamis.analysis.cell_diagrams import Diagrams, shared_diagrams
from tamis.analysis.invert import invert, invert_order, invert_test
from tamis.analysis.nested_events import Event, put
from tamis.analysis.slots import Slot, SlotKind, calls_functions
from tamis.analysis.space import DiagramTooLarge, Space
from tamis.covering.domains import Domains
from tamis.covering.regions import Cell
from tamis.language.evaluate import evaluate, look_up
from tamis.language.expr import And, Attribute, BoolExpr, IsNull, Not, attributes
from tamis.paths import Path
from tamis.schema import Schema, coerce
from tamis.values import OPAQUE, Timestamp, Type, Value

# How many assignments of a diagram are turned into events, and how many further events are guessed,
# before a question is left undecided.
_CHOICES = 24
_GUESSES = 150

_FILLERS: dict[Type, Value] = {
    Type.BOOL: False,
    Type.INT: 0,
    Type.DBL: 0.0,
    Type.STR: "",
    Type.TIMESTAMP: Timestamp.parse_date("2024-01-01"),
    Type.INT_LIST: [],
    Type.STR_LIST: [],
}


class Answer(NamedTuple):
    """Whether an event with some property exists.

    Attributes:
        found: True with an event, False if it is proved that there is none, None if undecided.
        event: The event, if found.
    """

    found: bool | None
    event: Event | None = None


NEVER = Answer(False)
UNDECIDED = Answer(None)


class Reasoner:
    """Answers questions about selectors under one schema and semantics."""

    def __init__(
        self,
        schema: Schema | None = None,
        semantics: str = "sql",
        diagrams: Diagrams | None = None,
    ) -> None:
        """Create a reasoner for the schema and semantics of a matcher.

        Raises:
            InputError: The BDD library is not installed.
        """
        self.domains = Domains(schema, semantics)
        self.schema = schema
        self.strict = semantics == "strict"
        # Attributes that every event has: with `total` any value, with `default` the default.
        self._always: dict[Path, Value] = {}
        if schema is not None and semantics == "total":
            self._always = {path: _FILLERS[kind] for path, kind in schema.types.items()}
        elif schema is not None and semantics == "default":
            self._always = schema.defaults
        self.diagrams = diagrams or shared_diagrams()

    # -- questions --------------------------------------------------------------------------------

    def matches(self, selector: BoolExpr, event: Event) -> bool:
        """Whether an event matches, as `evaluate` decides."""
        if self.strict and any(look_up(path, event) is None for path in attributes(selector)):
            return False
        return evaluate(selector, event) is True

    def study(self, selector: BoolExpr) -> Study:
        """Return a study of one selector, which answers several questions from one diagram.

        Raises:
            DiagramTooLarge: Its diagram is too large.
        """
        return Study(self, selector)

    def matching(self, selector: BoolExpr) -> Answer:
        """Find an event that matches."""
        return self._ask([selector], lambda f: f, lambda m: m[0])

    def missing(self, selector: BoolExpr) -> Answer:
        """Find an event that does not match."""
        return self._ask([selector], lambda f: ~f, lambda m: not m[0])

    def telling(self, first: BoolExpr, second: BoolExpr) -> Answer:
        """Find an event that matches only the first; if there is none, the second covers it."""
        return self._ask([first, second], lambda f, g: f & ~g, lambda m: m[0] and not m[1])

    def differing(self, first: BoolExpr, second: BoolExpr) -> Answer:
        """Find an event that matches exactly one; if there is none, they are equivalent."""
        return self._ask([first, second], lambda f, g: (f & ~g) | (g & ~f), _differ)

    def whole(self, selector: BoolExpr) -> BoolExpr:
        """Return the selector with the presence tests that `strict` adds to it."""
        if not self.strict:
            return selector
        paths = sorted(attributes(selector))
        return And((selector, *(Not(IsNull(Attribute(path))) for path in paths)))

    # -- answers ----------------------------------------------------------------------------------

    def space(self, selectors: list[BoolExpr]) -> tuple[Space, list[Any]]:
        """Return the space of some selectors, and the diagram of each in it.

        Raises:
            DiagramTooLarge: One of the diagrams is too large.
        """
        wholes = [self.whole(selector) for selector in selectors]
        space = Space(wholes, self.domains, self.diagrams)
        return space, [space.function(whole) for whole in wholes]

    def _ask(
        self,
        selectors: list[BoolExpr],
        question: Callable[..., Any],
        accept: Callable[[list[bool]], bool],
    ) -> Answer:
        try:
            space, functions = self.space(selectors)
        except DiagramTooLarge:
            return UNDECIDED
        return self.answer(space, question(*functions), selectors, accept)

    def answer(
        self,
        space: Space,
        function: Any,
        selectors: list[BoolExpr],
        accept: Callable[[list[bool]], bool],
    ) -> Answer:
        """Find an event that makes a diagram true and for which `accept` is true of the matches."""
        function = function & space.possible
        if function == self.diagrams.false:
            return NEVER
        # In a space that is sure, tests depend on attributes only, so functions do not matter.
        if not space.sure and any(calls_functions(selector) for selector in selectors):
            return UNDECIDED
        for event in self.events(space, function, selectors):
            if accept([self.matches(selector, event) for selector in selectors]):
                return Answer(True, event)
        return UNDECIDED

    def events(self, space: Space, function: Any, selectors: list[BoolExpr]) -> Iterator[Event]:
        """Yield events likely to make a diagram true; if the space is sure, the first one does."""
        choices = list(islice(space.choices(function), _CHOICES))
        paths = sorted(set().union(*(attributes(selector) for selector in selectors)))
        for cells in choices:
            event = self.event_of(_chosen_values(_cell_values(space, cells), paths))
            if event is not None:
                yield event
        if space.sure:
            return
        random = Random(0)
        options = _values(space, paths)
        for _ in range(_GUESSES):
            known = _cell_values(space, random.choice(choices), random)
            for path in random.sample(paths, random.randint(0, len(paths))):
                known[path] = random.choice(options[path])
            event = self.event_of(_chosen_values(known, paths))
            if event is not None:
                yield event

    def filler(self, path: Path) -> Value:
        """Return a value for an attribute: one of its declared type, or else an object."""
        declared = None if self.schema is None else self.schema.types.get(path)
        return OPAQUE if declared is None else _FILLERS[declared]

    def event_of(self, values: dict[Path, Value]) -> Event | None:
        """Return the event with these values; None if there cannot be one."""
        event: Event = {}
        for path, value in self._always.items():
            values.setdefault(path, value)
        for path, value in values.items():
            kind = None if self.schema is None else self.schema.types.get(path)
            if kind is not None:
                try:
                    value = coerce(value, kind)
                except ValueError:
                    return None
            if value is None:
                if path in self.domains.present:
                    return None
            elif not put(event, path, {} if value is OPAQUE else value):
                return None
        return event


def _chosen_values(known: dict[Path, Value], paths: list[Path]) -> dict[Path, Value]:
    """Return the values of attributes; an attribute that holds another one is an object."""
    chosen = {path: known.get(path) for path in paths}
    for path in paths:
        if len(path) > 1 and chosen[path] is not None:
            for length in range(1, len(path)):
                if path[:length] in chosen:
                    chosen[path[:length]] = OPAQUE
    return chosen


class Study:
    """Questions about one selector, whose diagram is built once."""

    def __init__(self, reasoner: Reasoner, selector: BoolExpr) -> None:
        """Build the diagram.

        Raises:
            DiagramTooLarge: It is too large.
        """
        self._reasoner = reasoner
        self._selector = selector
        self._space, (self._function,) = reasoner.space([selector])

    def matching(self) -> Answer:
        """Find an event that matches."""
        return self._ask(self._function, lambda m: m[0])

    def missing(self) -> Answer:
        """Find an event that does not match."""
        return self._ask(~self._function, lambda m: not m[0])

    def _ask(self, function: Any, accept: Callable[[list[bool]], bool]) -> Answer:
        return self._reasoner.answer(self._space, function, [self._selector], accept)

    def examples(self, count: int) -> list[Event]:
        """Return up to `count` different events that match."""
        function = self._function & self._space.possible
        events = self._reasoner.events(self._space, function, [self._selector])
        found: list[Event] = []
        for event in islice(events, 2 * count):
            if self._reasoner.matches(self._selector, event) and event not in found:
                found.append(event)
        return found[:count]

    def is_same(self, other: BoolExpr) -> bool:
        """Whether a selector of the same tests, or fewer, is proved to be equivalent.

        Raises:
            DiagramTooLarge: Its diagram is too large.
        """
        changed = self._space.function(self._reasoner.whole(other))
        differing = (self._function & ~changed) | (changed & ~self._function)
        return bool(differing & self._space.possible == self._reasoner.diagrams.false)

    def is_dead(self, other: BoolExpr) -> bool:
        """Whether a selector of the same tests, or fewer, is proved never to match.

        Raises:
            DiagramTooLarge: Its diagram is too large.
        """
        function = self._space.function(self._reasoner.whole(other))
        return bool(function & self._space.possible == self._reasoner.diagrams.false)


def _differ(matches: list[bool]) -> bool:
    return matches[0] is not matches[1]


def _cell_values(
    space: Space, cells: list[Cell], random: Random | None = None
) -> dict[Path, Value]:
    """Return attribute values for a choice of cells, including those that derived values need."""
    known: dict[Path, Value] = {}
    derived: list[tuple[Slot, Cell]] = []
    for slot, cell in zip(space.slots, cells, strict=True):
        if slot.kind is SlotKind.ATTRIBUTE and isinstance(slot.terms[0], Attribute):
            known[slot.terms[0].path] = cell.witness
        elif any(truth is not None for truth in cell.vector):
            derived.append((slot, cell))
    if random is not None:
        random.shuffle(derived)
    for slot, cell in derived:
        if slot.kind is SlotKind.DERIVED:
            invert(slot.terms[0], cell.witness, known)
        elif slot.kind is SlotKind.COMPARED:
            assert isinstance(cell.witness, int)
            left, right = slot.terms
            invert_order(left, right, cell.witness, known)
        elif cell.vector[0]:
            invert_test(slot.tests[0], known)
    return known


def _values(space: Space, paths: list[Path]) -> dict[Path, list[Value]]:
    """Return values to try for each attribute: witnesses of its own cells, and common ones."""
    common: list[Value] = [None, 0, 1, -1, 2, 10, 0.5, "", "a", True, False, []]
    found: dict[Path, list[Value]] = {path: [] for path in paths}
    for slot in space.slots:
        witnesses = [cell.witness for cell in slot.cells]
        if slot.kind is SlotKind.ATTRIBUTE and isinstance(slot.terms[0], Attribute):
            found[slot.terms[0].path] += witnesses
        else:
            common += witnesses
    return {path: values + common for path, values in found.items()}
