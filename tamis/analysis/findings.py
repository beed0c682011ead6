"""What there is to say about a subscription."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tamis.matches import Id
from tamis.values import plain_value


class Rule(NamedTuple):
    """A kind of finding.

    Attributes:
        level: `error`, `warning` or `note`, as SARIF has them.
        about: What it says, in a sentence.
    """

    level: str
    about: str


RULES: dict[str, Rule] = {
    "bad-line": Rule("error", "A line of the file that cannot be read."),
    "bad-selector": Rule("error", "The selector is refused."),
    "duplicate-id": Rule("error", "Another subscription has this id."),
    "never-matches": Rule("error", "No event can match."),
    "always-matches": Rule("warning", "Every event matches."),
    "equivalent": Rule("warning", "It means the same as another subscription."),
    "covered": Rule("warning", "Whatever matches it matches another subscription as well."),
    "redundant": Rule("note", "A part of the selector can be dropped without changing it."),
    "undecided": Rule("note", "A question that could not be settled."),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about one subscription, and why it is so.

    Attributes:
        rule: One of `RULES`.
        id: The subscription; None for a line without one.
        message: What is found, in a sentence.
        text: The selector.
        spans: The parts of the text that it is about, as offsets (start, end).
        others: Other subscriptions that it names; for `covered` the chain of those that cover it,
            each covered by the next.
        event: An event that shows it, tried on the meaning: for `equivalent` it matches both, for
            `covered` only the other, for `redundant` it matches.
        proof: Why no event can show the contrary; empty where the event is all there is to show.
        suggestion: A selector that would do; may be empty.
        line: The line of the file; 0 if there is no file.
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
        """How bad it is."""
        return RULES[self.rule].level

    def to_dict(self) -> dict[str, object]:
        """As JSON has it; what is empty is left out, but the ids are always there."""
        ids = [id for id in (self.id, *self.others) if id is not None]
        told: dict[str, object] = {"rule": self.rule, "level": self.level, "id": self.id}
        told |= {"ids": ids, "message": self.message}
        more = {
            "selector": self.text,
            "spans": [list(span) for span in self.spans],
            "others": list(self.others),
            "event": None if self.event is None else plain_event(self.event),
            "proof": self.proof,
            "suggestion": self.suggestion,
            "line": self.line,
        }
        return told | {
            name: value for name, value in more.items() if value not in ("", [], None, 0)
        }


def plain_event(event: dict[str, object]) -> dict[str, object]:
    """Return an event as JSON can hold it; see `plain_value`."""
    return {
        name: plain_event(value) if isinstance(value, dict) else plain_value(value)
        for name, value in event.items()
    }
