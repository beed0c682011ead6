"""The analysis of one selector by itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from tamis.analysis.nested_events import Event
from tamis.analysis.reasoner import Reasoner
from tamis.analysis.redundancy import Simplification, conflict, simplify
from tamis.analysis.simple_selectors import plain_edges
from tamis.analysis.slots import calls_functions
from tamis.analysis.space import DiagramTooLarge
from tamis.language.expr import BoolExpr


class Verdict(Enum):
    """When a selector matches."""

    NEVER = "never"
    SOMETIMES = "sometimes"
    ALWAYS = "always"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class SelectorAnalysis:
    """The analysis of one selector.

    Attributes:
        verdict: When it matches.
        events: Up to two events that match, as different as possible.
        conflict: If it never matches: parts that cannot be true together.
        simplification: The selector without redundant parts, if it has any.
    """

    verdict: Verdict
    events: list[Event] = field(default_factory=list)
    conflict: list[BoolExpr] = field(default_factory=list)
    simplification: Simplification | None = None


def analyse_selector(selector: BoolExpr, reasoner: Reasoner) -> SelectorAnalysis:
    """Decide when a selector matches, and which of its parts are redundant."""
    quick = _plain_events(selector, reasoner)
    if quick:
        return SelectorAnalysis(Verdict.SOMETIMES, quick)
    try:
        study = reasoner.study(selector)
    except DiagramTooLarge:
        return SelectorAnalysis(Verdict.UNDECIDED)
    matching = study.matching()
    if matching.found is False:
        return SelectorAnalysis(Verdict.NEVER, conflict=conflict(selector, study))
    missing = study.missing()
    shorter = simplify(selector, study) if missing.found is not False else None
    events = [] if calls_functions(selector) else study.examples(2)
    if matching.event is not None and not events:
        events = [matching.event]
    if missing.found is False:
        # It is proved that every event matches, and events exist.
        return SelectorAnalysis(Verdict.ALWAYS, events)
    decided = matching.found and missing.found
    verdict = Verdict.SOMETIMES if decided else Verdict.UNDECIDED
    return SelectorAnalysis(verdict, events, simplification=shorter)


def _plain_events(selector: BoolExpr, reasoner: Reasoner) -> list[Event]:
    edges = plain_edges(selector, reasoner.domains)
    if edges is None:
        return []
    found: list[Event] = []
    for side in (0, 1):
        event = reasoner.event_of({path: values[side] for path, values in edges.items()})
        if event is None or not reasoner.matches(selector, event):
            return []
        found.append(event)
    return found
