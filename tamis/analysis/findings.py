"""The findings that `lint` reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tamis.matches import Id
from tamis.values import plain_value


class Rule(NamedTuple):
    """A kind of finding.

    Attributes:
        level: `error`, `warning` or `note`, as in SARIF.
        about: A sentence that describes it.
    """

    level: str
    about: str


RULES: dict[str, Rule] = {
    "bad-line": Rule("error", "A line of the file cannot be read."),
    "bad-selector": Rule("error", "The selector is invalid."),
    "duplicate-id": Rule("error", "Another subscription has this id."),
    "never-matches": Rule("error", "No event can match."),
    "always-matches": Rule("warning", "Every event matches."),
    "equivalent": Rule("warning", "Another subscription matches the same events."),
    "covered": Rule("warning", "Another subscription matches all of its events."),
    "redundant": Rule(
        "note", "A part of the selector can be dropped without changing its meaning."
    ),
    "undecided": Rule("note", "A question could not be decided."),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding about one subscription, with its evidence.

    Attributes:
        rule: One of `RULES`.
        id: The subscription; None for a line without one.
        message: The finding, in a sentence.
        text: The selector.
        spans: The parts of the selector that the finding is about, as offsets (start, end).
        others: The other subscriptions involved; for `covered` the chain of those that cover it,
            each covered by the next.
        event: An event that shows the finding, confirmed by `evaluate`: for `equivalent` it matches
            both, for `covered` only the other, for `redundant` it matches.
        proof: Why no event can show the contrary; empty if the event is the only evidence.
        suggestion: A selector to use instead; may be empty.
        line: The line of the file; 0 without a file.
    """

    rule: str
    id: Id | None
    message: str
    text: str = ""
    spans: tuple[tuple[int, int], ...] = ()
    others: tuple[Id, ...] = ()
    event: dict[str, object] | None = None
    proof: str = ""
    suggestion: str = ""
    line: int = 0

    @property
    def level(self) -> str:
        """The severity: `error`, `warning` or `note`."""
        return RULES[self.rule].level

    def to_dict(self) -> dict[str, object]:
        """Return the finding as JSON can hold it; empty fields are left out, except the ids."""
        ids = [id for id in (self.id, *self.others) if id is not None]
        fields: dict[str, object] = {"rule": self.rule, "level": self.level, "id": self.id}
        fields |= {"ids": ids, "message": self.message}
        more = {
            "selector": self.text,
            "spans": [list(span) for span in self.spans],
            "others": list(self.others),
            "event": None if self.event is None else plain_event(self.event),
            "proof": self.proof,
            "suggestion": self.suggestion,
            "line": self.line,
        }
        return fields | {
            name: value for name, value in more.items() if value not in ("", [], None, 0)
        }


def plain_event(event: dict[str, object]) -> dict[str, object]:
    """Return an event as JSON can hold it; see `plain_value`."""
    return {
        name: plain_event(value) if isinstance(value, dict) else plain_value(value)
        for name, value in event.items()
    }
