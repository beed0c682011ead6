"""What is wrong with a set of subscriptions: `tamis lint`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tamis.analysis.findings import Finding
from tamis.analysis.neighbours import LiveSelector, Neighbours, Progress, neighbours
from tamis.analysis.nested_events import Event
from tamis.analysis.reasoner import Reasoner
from tamis.analysis.rows import Row, checked_row
from tamis.analysis.slots import calls_functions
from tamis.analysis.verdicts import SelectorAnalysis, Verdict, analyse_selector
from tamis.engines.subscription import Subscription
from tamis.errors import SelectorError
from tamis.events.conform import checked_schema
from tamis.language.expr import BoolExpr, Selector, Sequence
from tamis.language.functions import Callables, Functions
from tamis.matches import Id
from tamis.schema import SchemaLike
from tamis.storage.index.subscription_rows import pause_gc

_UNSATISFIABLE = "the selector is false in all cells of its attributes' values"
_VALID = "the selector is true in all cells of its attributes' values"
_NO_CELL_APART = "no cell of the attributes' values matches one and not the other"
_NO_CELL_ALONE = "no cell of the attributes' values matches it and not the other"
_SAME_TEXT = "both have the same text"
_SAME_FORM = "both have the same common form"
_NO_DIFFERENCE = "without it the selector is true in the same cells of its attributes' values"
_NOT_WORTH_COMPARING = ("bad-selector", "never-matches", "always-matches")


@dataclass(frozen=True, slots=True)
class LintRow:
    """A subscription to look at, and the line of a file that it stands on."""

    id: Id
    selector: str
    line: int = 0


def lint(
    subscriptions: Iterable[LintRow | Row],
    schema: SchemaLike | None = None,
    semantics: str = "sql",
    functions: Callables | None = None,
    progress: Progress = lambda stage, done, part: None,
) -> list[Finding]:
    """Find subscriptions that are refused, dead, always true, doubled, covered or too long.

    >>> for found in lint([("a", "x < 5 AND x > 9"), ("b", "x > 1"), ("c", "x > 2 AND y = 1")]):
    ...     print(found.rule, found.id, found.others, found.event)
    never-matches a () None
    covered c ('b',) {'x': 2}

    Args:
        subscriptions: Rows, or (id, selector) or (id, selector, priority) tuples.
        schema: As `tamis.Matcher` takes it.
        semantics: As `tamis.Matcher` takes it.
        functions: What selectors may call; nothing of it is called.
        progress: Told what is being done, how many are done, and which part of all that is.

    Returns:
        In the order of the subscriptions; of one, the gravest first.

    Raises:
        SchemaError: No schema where the semantics need one.
        InputError: The library of diagrams is not installed; rows that are none.
    """
    declared = checked_schema(schema, semantics)
    linter = _Linter(Reasoner(declared, semantics), Functions.of(functions), progress)
    rows = [
        row if isinstance(row, LintRow) else LintRow(*checked_row(row)[:2]) for row in subscriptions
    ]
    with pause_gc():
        for number, row in enumerate(rows):
            if number % 1024 == 0:
                progress("reading", number, number / len(rows))
            linter.check_row(number, row)
        linter.compare()
    return [finding for number in range(len(rows)) for finding in linter.findings.get(number, ())]


class _Linter:
    """One run over a set."""

    def __init__(self, reasoner: Reasoner, functions: Functions, progress: Progress) -> None:
        self._reasoner = reasoner
        self._functions = functions
        self._progress = progress
        self._ids: set[Id] = set()
        self._texts: dict[str, int] = {}
        self._first: dict[Selector, int] = {}  # by common form
        self._events: dict[int, list[Event]] = {}  # that match
        self._rows: dict[int, LintRow] = {}
        self._lives: list[LiveSelector] = []
        self._places: list[int] = []  # of the live ones
        self.findings: dict[int, list[Finding]] = {}

    def _add_finding(self, number: int, finding: Finding) -> None:
        row = self._rows[number]
        told = replace(finding, text=row.selector, line=row.line)
        self.findings.setdefault(number, []).append(told)

    # -- one by one -------------------------------------------------------------------------------

    def check_row(self, number: int, row: LintRow) -> None:
        """Look at one subscription by itself."""
        self._rows[number] = row
        if row.id in self._ids:
            self._add_finding(number, Finding("duplicate-id", row.id, "this id is taken already"))
            return
        self._ids.add(row.id)
        same = self._texts.setdefault(row.selector, number)
        if same != number:
            self._copy_findings(number, row.id, same)
            return
        reasoner = self._reasoner
        semantics = reasoner.domains.semantics
        try:
            subscription = Subscription.of(
                row.id, row.selector, 0, reasoner.schema, semantics, self._functions
            )
        except SelectorError as error:
            hint = f"; {error.hint}" if error.hint else ""
            message = f"{error.reason} (line {error.line}, column {error.column}){hint}"
            span = (error.start, max(error.end, error.start + 1))
            self._add_finding(number, Finding("bad-selector", row.id, message, spans=(span,)))
            return
        selector = subscription.selector
        if isinstance(selector, Sequence):
            self._check_sequence(number, subscription, selector)
            return
        judgement = analyse_selector(selector, reasoner)
        if self._report_analysis(number, row.id, selector, judgement):
            condition = subscription.condition
            first = self._first.setdefault(condition, number)
            if first != number:
                self._report_equivalent(number, first, judgement.events, _SAME_FORM)
            elif judgement.events and not (self._functions and calls_functions(selector)):
                assert not isinstance(condition, Sequence)
                self._lives.append(LiveSelector(selector, condition, judgement.events))
                self._places.append(number)

    def _copy_findings(self, number: int, id: Id, first: int) -> None:
        """A text that was there before has the same findings by itself, and one more."""
        found = [f for f in self.findings.get(first, ()) if f.rule != "equivalent"]
        for finding in found:
            self._add_finding(number, replace(finding, id=id))
        if not any(f.rule in _NOT_WORTH_COMPARING for f in found):
            self._report_equivalent(number, first, self._events.get(first, []), _SAME_TEXT)

    def _check_sequence(self, number: int, subscription: Subscription, selector: Sequence) -> None:
        alive = True
        for step in selector.steps:
            judgement = analyse_selector(step, self._reasoner)
            if judgement.verdict is Verdict.ALWAYS:
                continue  # a step that any event is may well be meant
            alive &= self._report_analysis(number, subscription.id, step, judgement)
        if alive:
            first = self._first.setdefault(subscription.condition, number)
            if first != number:
                self._report_equivalent(number, first, [], _SAME_FORM)

    def _report_analysis(
        self, number: int, id: Id, selector: BoolExpr, analysis: SelectorAnalysis
    ) -> bool:
        """Say what a judgement says; whether the selector is worth comparing with others."""
        text = self._rows[number].selector
        whole = ((selector.start, selector.end),)
        if analysis.verdict is Verdict.NEVER:
            parts = [(part.start, part.end) for part in analysis.conflict]
            named = " and ".join(f"`{text[start:end]}`" for start, end in parts[:3])
            message = f"never matches: {named} " + (
                "cannot be true together" if len(parts) > 1 else "cannot be true"
            )
            found = Finding("never-matches", id, message, spans=tuple(parts), proof=_UNSATISFIABLE)
            self._add_finding(number, found)
            return False
        self._events[number] = analysis.events
        event = analysis.events[0] if analysis.events else None
        if analysis.verdict is Verdict.ALWAYS:
            message = "matches every event"
            self._add_finding(
                number,
                Finding("always-matches", id, message, spans=whole, event=event, proof=_VALID),
            )
            return False
        if analysis.verdict is Verdict.UNDECIDED:
            asked = "does not match" if analysis.events else "matches"
            message = f"no event was found that {asked}, nor a proof that there is none"
            self._add_finding(number, Finding("undecided", id, message, spans=whole, event=event))
        if analysis.simplification is not None:
            shorter, dropped = analysis.simplification
            spans = tuple((part.start, part.end) for part in dropped)
            named = ", ".join(f"`{text[start:end]}`" for start, end in spans[:3])
            self._add_finding(
                number,
                Finding(
                    "redundant",
                    id,
                    f"{named} can be dropped: the rest means the same",
                    spans=spans,
                    event=event,
                    proof=_NO_DIFFERENCE,
                    suggestion=str(shorter),
                ),
            )
        return True

    # -- among each other -------------------------------------------------------------------------

    def compare(self) -> None:
        """Look at those that are good by themselves."""
        if len(self._lives) < 2:
            return
        found = neighbours(self._lives, self._reasoner, self._progress)
        firsts = _first_equivalents(found)
        for inner, around in found.items():
            number = self._places[inner]
            id = self._rows[number].id
            first = firsts.get(inner, inner)
            if first != inner:
                events = self._lives[inner].events
                self._report_equivalent(number, self._places[first], events, _NO_CELL_APART)
            elif around.cover is not None:
                self._report_covered(number, inner, found, firsts)
            elif around.unsure is not None:
                other = self._id(around.unsure)
                message = f"whether {other!r} covers it could not be decided"
                self._add_finding(number, Finding("undecided", id, message, others=(other,)))

    def _id(self, live: int) -> Id:
        return self._rows[self._places[live]].id

    def _report_covered(
        self,
        number: int,
        inner: int,
        found: dict[int, Neighbours],
        firsts: dict[int, int],
    ) -> None:
        chain: list[int] = []
        at: int | None = inner
        while at is not None and at in found and found[at].cover is not None:
            cover = found[at].cover
            at = firsts.get(cover, cover)  # type: ignore[arg-type]
            if at in chain or at == inner:
                break  # two that were not known to be equal
            assert at is not None
            chain.append(at)
        ids = tuple(map(self._id, chain))
        row = self._rows[number]
        message = f"is covered by {ids[0]!r}: every event that matches it matches that too"
        if len(ids) > 1:
            message += f" ({' ⊂ '.join(str(id) for id in (row.id, *ids[:6]))})"
        self._add_finding(
            number,
            Finding(
                "covered",
                row.id,
                message,
                spans=((0, len(row.selector)),),
                others=ids,
                event=found[inner].event,
                proof=_NO_CELL_ALONE,
            ),
        )

    def _report_equivalent(self, number: int, first: int, events: list[Event], proof: str) -> None:
        row, other = self._rows[number], self._rows[first].id
        event = events[0] if events else None
        message = f"means the same as {other!r}"
        span = ((0, len(row.selector)),)
        found = Finding("equivalent", row.id, message, "", span, (other,), event, proof)
        self._add_finding(number, found)


def _first_equivalents(found: dict[int, Neighbours]) -> dict[int, int]:
    """For those that are equal to others, the first of them all."""
    firsts: dict[int, int] = {}

    def first(of: int) -> int:
        while of in firsts:
            of = firsts[of]
        return of

    for inner, around in found.items():
        for other in around.equal:
            low, high = sorted((first(inner), first(other)))
            if low != high:
                firsts[high] = low
    return {each: first(each) for each in firsts}
