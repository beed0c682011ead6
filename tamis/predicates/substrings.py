"""The search for many strings in one text: equal to it, its prefixes, suffixes and substrings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import ahocorasick

from tamis.predicates.text_guards import GuardPosition

# With fewer than this, searching for each one is as fast.
_MIN_FOR_AUTOMATON = 5


class Substrings:
    """Slots (any integers) by the string that a text must have, and by its position."""

    def __init__(self, parts: Iterable[tuple[GuardPosition, str, int]]) -> None:
        """Index (position, string, slot) triples."""
        by_position: dict[GuardPosition, dict[str, list[int]]] = {
            place: {} for place in GuardPosition
        }
        for place, part, slot in parts:
            # The empty string is a substring of every text, and an automaton cannot contain it.
            place = GuardPosition.START if place is not GuardPosition.WHOLE and not part else place
            by_position[place].setdefault(part, []).append(slot)
        self._whole = by_position[GuardPosition.WHOLE]
        self._starts, self._ends = by_position[GuardPosition.START], by_position[GuardPosition.END]
        self._start_lengths = sorted({len(part) for part in self._starts})
        self._end_lengths = sorted({len(part) for part in self._ends})
        self._anywhere = by_position[GuardPosition.ANYWHERE]
        self._automaton = (
            _automaton(self._anywhere) if len(self._anywhere) >= _MIN_FOR_AUTOMATON else None
        )

    def slots(self, text: str) -> Iterator[int]:
        """Iterate over the slots of all strings that the text has, each once."""
        yield from self._whole.get(text, ())
        size = len(text)
        for length in self._start_lengths:
            if length > size:
                break
            yield from self._starts.get(text[:length], ())
        for length in self._end_lengths:
            if length > size:
                break
            yield from self._ends.get(text[size - length :], ())
        for part in self._needles(text):
            yield from self._anywhere[part]

    def _needles(self, text: str) -> Iterable[str]:
        if self._automaton is None:
            return [part for part in self._anywhere if part in text]
        return {part for _, part in self._automaton.iter(text)}


def _automaton(needles: Iterable[str]) -> ahocorasick.Automaton:
    """Build an automaton (Aho and Corasick: Efficient String Matching, CACM 18(6), 1975)."""
    automaton = ahocorasick.Automaton()
    for needle in needles:
        automaton.add_word(needle, needle)
    automaton.make_automaton()
    return automaton
