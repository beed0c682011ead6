"""Find problems in a set of subscriptions: `tamis lint`."""

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
    """A subscription to check, with its line in the file."""

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
    """Find subscriptions that are invalid, never or always match, or that others make redundant.

    >>> for found in lint([("a", "x < 5 AND x > 9"), ("b", "x > 1"), ("c", "x > 2 AND y = 1")]):
    ...     print(found.rule, found.id, found.others, found.event)
    never-matches a () None
    covered c ('b',) {'x': 2}

    Args:
        subscriptions: Rows, or (id, selector) or (id, selector, priority) tuples.
        schema: As for `tamis.Matcher`.
        semantics: As for `tamis.Matcher`.
        functions: The functions that selectors may call; none of them is called.
        progress: Called with the current stage, the number done, and the fraction done.

    Returns:
        The findings in the order of the subscriptions; of one subscription, the gravest first.

    Raises:
        SchemaError: The semantics need a schema.
        InputError: The BDD library is not installed, or a row is not valid.
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
    """One run over a set of subscriptions."""

    def __init__(self, reasoner: Reasoner, functions: Functions, progress: Progress) -> None:
        self._reasoner = reasoner
        self._functions = functions
        self._progress = progress
        self._ids: set[Id] = set()
        self._texts: dict[str, int] = {}
        self._first: dict[Selector, int] = {}  # by common form
        self._events: dict[int, list[Event]] = {}  # that match the subscription
        self._rows: dict[int, LintRow] = {}
        self._lives: list[LiveSelector] = []
        self._places: list[int] = []  # of the live selectors
        self.findings: dict[int, list[Finding]] = {}

    def _add_finding(self, number: int, finding: Finding) -> None:
        row = self._rows[number]
        located = replace(finding, text=row.selector, line=row.line)
        self.findings.setdefault(number, []).append(located)

    # -- one by one -------------------------------------------------------------------------------

    def check_row(self, number: int, row: LintRow) -> None:
        """Check one subscription by itself."""
        self._rows[number] = row
        if row.id in self._ids:
            self._add_finding(
                number, Finding("duplicate-id", row.id, "another subscription has this id")
            )
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
        analysis = analyse_selector(selector, reasoner)
        if self._report_analysis(number, row.id, selector, analysis):
            condition = subscription.condition
            first = self._first.setdefault(condition, number)
            if first != number:
                self._report_equivalent(number, first, analysis.events, _SAME_FORM)
            elif analysis.events and not (self._functions and calls_functions(selector)):
                assert not isinstance(condition, Sequence)
                self._lives.append(LiveSelector(selector, condition, analysis.events))
                self._places.append(number)

    def _copy_findings(self, number: int, id: Id, first: int) -> None:
        """Copy the findings of an earlier subscription with the same text, and report the pair."""
        found = [f for f in self.findings.get(first, ()) if f.rule != "equivalent"]
        for finding in found:
            self._add_finding(number, replace(finding, id=id))
        if not any(f.rule in _NOT_WORTH_COMPARING for f in found):
            self._report_equivalent(number, first, self._events.get(first, []), _SAME_TEXT)

    def _check_sequence(self, number: int, subscription: Subscription, selector: Sequence) -> None:
        alive = True
        for step in selector.steps:
            analysis = analyse_selector(step, self._reasoner)
            if analysis.verdict is Verdict.ALWAYS:
                continue  # a step that every event matches may be intended
            alive &= self._report_analysis(number, subscription.id, step, analysis)
        if alive:
            first = self._first.setdefault(subscription.condition, number)
            if first != number:
                self._report_equivalent(number, first, [], _SAME_FORM)

    def _report_analysis(
        self, number: int, id: Id, selector: BoolExpr, analysis: SelectorAnalysis
    ) -> bool:
        """Report the analysis of one selector.

        Returns:
            Whether the selector is worth comparing with others.
        """
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
            missing = "does not match" if analysis.events else "matches"
            message = f"found neither an event that {missing}, nor a proof that there is none"
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
                    f"{named} can be dropped without changing the meaning",
                    spans=spans,
                    event=event,
                    proof=_NO_DIFFERENCE,
                    suggestion=str(shorter),
                ),
            )
        return True

    # -- in pairs ---------------------------------------------------------------------------------

    def compare(self) -> None:
        """Compare the subscriptions that are sound by themselves."""
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
                message = f"could not decide whether {other!r} covers it"
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
                break  # a cycle: two that were not known to be equal
            assert at is not None
            chain.append(at)
        ids = tuple(map(self._id, chain))
        row = self._rows[number]
        message = f"is covered by {ids[0]!r}, which matches all of its events"
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
        message = f"matches the same events as {other!r}"
        span = ((0, len(row.selector)),)
        found = Finding("equivalent", row.id, message, "", span, (other,), event, proof)
        self._add_finding(number, found)


def _first_equivalents(found: dict[int, Neighbours]) -> dict[int, int]:
    """Map each subscription that is equal to earlier ones to the first of them."""
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
