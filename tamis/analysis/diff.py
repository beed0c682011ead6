"""Compare what two versions of a set of subscriptions match: `tamis diff`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tamis.analysis.findings import plain_event
from tamis.analysis.neighbours import Progress
from tamis.analysis.nested_events import Event
from tamis.analysis.reasoner import Answer, Reasoner
from tamis.analysis.rows import Row, checked_row
from tamis.analysis.witness_stream import distinguishing_stream
from tamis.engines.subscription import Subscription
from tamis.errors import DuplicateSubscription, SelectorError
from tamis.events.conform import checked_schema
from tamis.language.expr import Sequence
from tamis.language.functions import Callables, Functions
from tamis.matches import Id
from tamis.schema import SchemaLike

KINDS: dict[str, str] = {
    "bad": "A selector is invalid.",
    "added": "Only the new set has it.",
    "removed": "Only the old set has it.",
    "changed": "Some events no longer match, and others now do.",
    "widened": "All events that matched still match, and others now do.",
    "narrowed": "Some events no longer match, and no others do.",
    "undecided": "Whether it matches the same events could not be decided.",
    "reworded": "The text changed; it matches the same events.",
    "reprioritized": "The priority changed, the text did not.",
}


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one subscription.

    Attributes:
        kind: One of `KINDS`.
        id: The subscription.
        old: The old selector; empty if it was added.
        new: The new selector; empty if it was removed.
        lost: An event that only the old selector matches.
        gained: An event that only the new selector matches.
        stream: For sequences: events in order, the last of which only one of the two matches.
        priorities: The old and the new priority if they differ; else None.
        message: An explanation for people.
    """

    kind: str
    id: Id
    old: str = ""
    new: str = ""
    lost: Event | None = None
    gained: Event | None = None
    stream: tuple[Event, ...] = ()
    priorities: tuple[int, int] | None = None
    message: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return the change as JSON can hold it; empty fields are left out."""
        details: dict[str, object] = {
            "old": self.old,
            "new": self.new,
            "lost": None if self.lost is None else plain_event(self.lost),
            "gained": None if self.gained is None else plain_event(self.gained),
            "stream": [plain_event(event) for event in self.stream],
            "priorities": None if self.priorities is None else list(self.priorities),
            "message": self.message,
        }
        kept = {name: value for name, value in details.items() if value not in ("", [], None)}
        return {"change": self.kind, "id": self.id, **kept}


def diff(
    old: Iterable[Row],
    new: Iterable[Row],
    schema: SchemaLike | None = None,
    semantics: str = "sql",
    functions: Callables | None = None,
    progress: Progress = lambda stage, done, part: None,
) -> list[Change]:
    """Compare two versions of a set of subscriptions; unchanged ones are left out.

    >>> for change in diff([("a", "x > 5"), ("b", "NOT x > 1")], [("a", "x > 7"), ("b", "x <= 1")]):
    ...     print(change.id, change.kind, change.lost, change.gained)
    a narrowed {'x': 7} None
    b reworded None None

    Args:
        old: The old version, as (id, selector) or (id, selector, priority) tuples.
        new: The new version, likewise.
        schema: As for `tamis.Matcher`.
        semantics: As for `tamis.Matcher`.
        functions: The functions that selectors may call; none of them is called.
        progress: Called with the current stage, the number done, and the fraction done.

    Returns:
        The changes, in the order of the new version, then the removed subscriptions.

    Raises:
        SchemaError: The semantics need a schema.
        InputError: The BDD library is not installed, or a row is not valid.
        DuplicateSubscription: An id occurs twice in one version.
    """
    declared = checked_schema(schema, semantics)
    comparer = _Comparer(Reasoner(declared, semantics), Functions.of(functions))
    before, after = _rows_by_id(old), _rows_by_id(new)
    changes: list[Change] = []
    for done, (id, (text, priority)) in enumerate(after.items()):
        if done % 256 == 0:
            progress("comparing", done, done / len(after))
        changes += comparer.compare(id, before.get(id), (text, priority))
    for id, (text, _) in before.items():
        if id not in after:
            changes.append(Change("removed", id, old=text))
    return changes


def _rows_by_id(rows: Iterable[Row]) -> dict[Id, tuple[str, int]]:
    found: dict[Id, tuple[str, int]] = {}
    for row in rows:
        id, selector, priority = checked_row(row)
        if id in found:
            raise DuplicateSubscription(id)
        found[id] = selector, priority
    return found


class _Comparer:
    """Compares the two versions of a subscription."""

    def __init__(self, reasoner: Reasoner, functions: Functions) -> None:
        self._reasoner = reasoner
        self._functions = functions

    def compare(
        self, id: Id, before: tuple[str, int] | None, after: tuple[str, int]
    ) -> list[Change]:
        """Return the change of a subscription, or an empty list if there is none."""
        if before is None:
            return [self._added_change(id, after[0])]
        old, new = before[0], after[0]
        moved = None if before[1] == after[1] else (before[1], after[1])
        if old == new:
            if moved is None:
                return []
            message = f"priority {moved[0]} became {moved[1]}"
            return [Change("reprioritized", id, old, new, priorities=moved, message=message)]
        try:
            first = self._read(id, old, "old")
            second = self._read(id, new, "new")
        except _RefusedSelector as refused:
            return [Change("bad", id, old, new, priorities=moved, message=str(refused))]
        change = self._classify_change(
            Change("reworded", id, old, new, priorities=moved), first, second
        )
        return [_with_priorities(change)]

    def _added_change(self, id: Id, text: str) -> Change:
        try:
            self._read(id, text, "new")
        except _RefusedSelector as refused:
            return Change("bad", id, new=text, message=str(refused))
        return Change("added", id, new=text)

    def _read(self, id: Id, text: str, which: str) -> Subscription:
        reasoner = self._reasoner
        try:
            return Subscription.of(
                id, text, 0, reasoner.schema, reasoner.domains.semantics, self._functions
            )
        except SelectorError as error:
            raise _RefusedSelector(f"the {which} selector is invalid: {error}") from None

    def _classify_change(self, change: Change, old: Subscription, new: Subscription) -> Change:
        """Return the change with its kind and events that show it."""
        before, after = old.selector, new.selector
        if old.required == new.required and old.condition == new.condition:
            return replace(change, message="both have the same common form")
        if isinstance(before, Sequence) or isinstance(after, Sequence):
            return self._classify_sequences(change, old, new)
        lost = self._reasoner.telling(before, after)
        gained = self._reasoner.telling(after, before)
        kind = _KIND.get((lost.found, gained.found), "undecided")
        return replace(
            change,
            kind=kind,
            lost=lost.event,
            gained=gained.event,
            message=_difference_message(lost, gained),
        )

    def _classify_sequences(self, change: Change, old: Subscription, new: Subscription) -> Change:
        before, after = old.selector, new.selector
        if (
            isinstance(before, Sequence)
            and isinstance(after, Sequence)
            and len(before.steps) == len(after.steps)
            and (before.within, before.per) == (after.within, after.per)
            and all(
                self._reasoner.differing(first, second).found is False
                for first, second in zip(before.steps, after.steps, strict=True)
            )
        ):
            return replace(change, message="each step matches the same events")
        stream = distinguishing_stream(before, after, self._reasoner)
        if stream is None:
            return replace(
                change, kind="undecided", message="found no events that only one of them matches"
            )
        events, gap = stream
        message = f"only one of them matches the last of these events, which are {gap} µs apart"
        return replace(change, kind="changed", stream=tuple(events), message=message)


def _with_priorities(change: Change) -> Change:
    """Return the change with a message about priorities if they differ."""
    if change.priorities is None:
        return change
    old, new = change.priorities
    parts = [change.message] if change.message else []
    return replace(change, message="; ".join([*parts, f"priority {old} became {new}"]))


class _RefusedSelector(Exception):
    """A selector is invalid; the message says which."""


_KIND: dict[tuple[bool | None, bool | None], str] = {
    (False, False): "reworded",
    (False, True): "widened",
    (True, False): "narrowed",
    (True, True): "changed",
}


def _difference_message(lost: Answer, gained: Answer) -> str:
    if lost.found is False and gained.found is False:
        return "proved: no event matches only one of them"
    open_questions = [
        what for what, answer in (("loses", lost), ("gains", gained)) if answer.found is None
    ]
    if open_questions:
        return f"could not decide whether it {' or '.join(open_questions)} events"
    return ""
