"""An explanation of what an event would do to a sequence."""

from __future__ import annotations

from dataclasses import dataclass

from tamis.engines.subscription import Subscription
from tamis.explain.explanation import Explanation, ExplanationNode, explain, tree_lines
from tamis.language.evaluate import Event
from tamis.language.expr import Sequence
from tamis.language.printer import duration_text
from tamis.paths import path_text
from tamis.sequences.key_states import KeyedSequence
from tamis.sequences.key_values import Key
from tamis.sequences.steps import conditions


@dataclass(frozen=True, slots=True)
class SequenceExplanation(Explanation):
    """Why an event would or would not complete a sequence; prints as a tree.

    Its `tree` has a part for each step; `missing` is empty.

    Attributes:
        satisfied: The steps that the event satisfies, counted from 1.
        verdict: What the event would do, as a sentence.
    """

    satisfied: tuple[int, ...]
    verdict: str

    def __str__(self) -> str:
        """Return the verdict, the steps, and the progress so far."""
        verb = "matches" if self.matches else "does not match"
        lines = [f"{self.id}: {verb}", *tree_lines(self.tree), self._steps(), self.verdict]
        return "\n".join(lines)

    def _steps(self) -> str:
        of = f"of {len(self.tree.parts)}"
        if not self.satisfied:
            return f"it satisfies no step {of}"
        *others, last = map(str, self.satisfied)
        named = f"steps {', '.join(others)} and {last}" if others else f"step {last}"
        return f"it satisfies {named} {of}"

    def to_dict(self) -> dict[str, object]:
        """Return the explanation as plain data for JSON."""
        added = {"satisfied": list(self.satisfied), "verdict": self.verdict}
        return {**Explanation.to_dict(self), **added}


def explain_sequence(
    keyed: KeyedSequence, event: Event, key: Key | None, time: int | None, clock: str | None
) -> SequenceExplanation:
    """Explain what an event would do if it arrived now.

    Args:
        keyed: The sequence with its states.
        event: A row of a batch.
        key: Its key; None if it has none.
        time: Its time; None if it has none.
        clock: The attribute that holds the time, if any.
    """
    subscription = keyed.subscription
    steps = [explain(step, event) for _, step in conditions(subscription)]
    satisfied = [number for number, step in enumerate(steps) if step.matches]
    completes = False
    if key is None:
        verdict = f"it has no {path_text(keyed.per or ())}, so it takes no part"
    elif time is None:
        verdict = f"it has no time: {clock} is not an instant or a number, so it takes no part"
    elif keyed.is_late(key, time):
        verdict = "it is too late, after events that happened later, so it takes no part"
    else:
        completes = keyed.machine.step(keyed.state(key), satisfied, time).began is not None
        verdict = _verdict(keyed, satisfied, key, time, completes)
    parts = tuple(step.tree for step in steps)
    tree = ExplanationNode(_heading(subscription), completes, {}, parts)
    return SequenceExplanation(
        subscription.id,
        subscription.text,
        completes,
        tree,
        (),
        True if completes else None,
        tuple(number + 1 for number in satisfied),
        verdict,
    )


def _verdict(
    keyed: KeyedSequence, satisfied: list[int], key: Key, time: int, completes: bool
) -> str:
    state, within = keyed.state(key), keyed.machine.within
    starts = () if state is None else state.starts
    reached = sum(
        start is not None and (within is None or time - start <= within) for start in starts
    )
    same = "" if keyed.per is None else f" with the same {path_text(keyed.per)}"
    past = (
        f"earlier events{same} came as far as step {reached}"
        if reached
        else (f"no earlier event{same} satisfies step 1, or not in time")
    )
    if completes:
        return f"{past}: it completes the sequence"
    if any(number <= reached for number in satisfied):
        return f"{past}: it begins the sequence or carries it on, and does not complete it"
    return f"{past}: it changes nothing"


def _heading(subscription: Subscription) -> str:
    sequence = subscription.selector
    assert isinstance(sequence, Sequence)
    within = "" if sequence.within is None else f" WITHIN {duration_text(sequence.within)}"
    return f"FIRST … THEN …{within}{f' PER {sequence.per}' if sequence.per else ''}"
