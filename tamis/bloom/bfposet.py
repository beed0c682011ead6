"""The bfposet (DEBS 2008, §4.3): the predicates of all subscriptions, and a filter for each event.

By attribute name there is a poset of constraints. An event's filter has the bits of *all*
predicates that it satisfies; in a poset, those of all lowest ones, each of which has the bits of
all above it. (The paper says "the most general" one, and would then lose events.)

Beyond the paper a predicate may look at any term: one that is computed (`a + b > 3`) is computed
for every event, and so is one that compares two attributes; IS NULL is asked of those that lack it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

import numpy as np

from tamis.bloom.chain import Bits
from tamis.bloom.counting_filter import CountingBloom
from tamis.bloom.filter import Bloom, filters_of
from tamis.bloom.hashing import Shape
from tamis.bloom.hasse_diagram import HasseDiagram
from tamis.bloom.pictures import digraph, poset_lines
from tamis.bloom.poset import Poset
from tamis.bloom.poset_predicate import Leaf, StoredPredicate, canonical_text
from tamis.kernels.bloom.places import Offsets, sorted_group_places
from tamis.language.evaluate import Event, look_up, value_of
from tamis.language.expr import Attribute, ValueExpr
from tamis.language.printer import to_text
from tamis.paths import Path
from tamis.values import Value


class BFPoset:
    """Predicates by attribute, stored once each, with their filters.

    >>> from tamis.language import parse
    >>> poset = BFPoset(Shape(16384, 2), neighbours=["north", "south"])
    >>> sorted(poset.subscribe([parse("x > 15"), parse("y > 0")], "north"))
    ['south']
    >>> poset.filter_of([parse("x > 15")]) <= poset.match({"x": 20, "z": 1})
    True
    >>> poset.filter_of([parse("y > 0")]) <= poset.match({"x": 20, "z": 1})
    False

    Attributes:
        shape: The shape of all filters.
        neighbours: Where subscriptions are sent on to.
        universe: A filter of all predicates, which can forget.
    """

    def __init__(self, shape: Shape, neighbours: Iterable[Hashable] = ()) -> None:
        """Begin with no predicates."""
        self.shape = shape
        self.neighbours = frozenset(neighbours)
        self.universe = CountingBloom(shape)
        self._held: dict[str, StoredPredicate] = {}
        self._posets: dict[ValueExpr, Poset] = {}
        # By the first name of a path: the posets that an event with this name is to be shown to.
        self._named: dict[str, dict[Path, Poset]] = {}
        self._nullable: dict[ValueExpr, Poset] = {}
        self._computed: dict[ValueExpr, Poset] = {}
        self._residual: dict[StoredPredicate, None] = {}
        self._always: dict[StoredPredicate, None] = {}

    # -- Listing 2 --------------------------------------------------------------------------------

    def subscribe(self, predicates: Iterable[Leaf], address: Hashable) -> set[Hashable]:
        """Store a conjunction.

        Every broker needs all predicates for edge routing, so it goes to all neighbours but the one
        that it came from.

        Returns:
            Where to send it on.
        """
        self.hold(predicates)
        return set(self.neighbours - {address})

    def unsubscribe(self, predicates: Iterable[Leaf], address: Hashable) -> set[Hashable]:
        """Forget a conjunction that was stored, once.

        Returns:
            Where to tell it.

        Raises:
            KeyError: It is not there; nothing has changed.
        """
        self.release([self._held[canonical_text(predicate)] for predicate in predicates])
        return set(self.neighbours - {address})

    def match(self, event: Event) -> Bloom:
        """The filter of an event: of all predicates that it satisfies."""
        return self.match_many([event])[0]

    def match_many(self, events: Iterable[Event]) -> list[Bloom]:
        """The filters of some events."""
        return filters_of(self.shape, *self.match_bits(events))

    # -- for those who keep what they hold --------------------------------------------------------

    def hold(self, predicates: Iterable[Leaf]) -> list[StoredPredicate]:
        """Store predicates, or store them once more."""
        found = []
        for predicate in predicates:
            text = canonical_text(predicate)
            held = self._held.get(text)
            if held is None:
                held = self._held[text] = StoredPredicate(predicate, text, self.shape)
                self._place(held)
            held.count += 1
            found.append(held)
        return found

    def release(self, found: Iterable[StoredPredicate]) -> None:
        """Hold predicates once less; the last time, forget them."""
        for held in found:
            held.count -= 1
            if not held.count:
                del self._held[held.text]
                self._displace(held)

    def filter_of(self, predicates: Iterable[Leaf]) -> Bloom:
        """The filter of a conjunction, whether or not it is stored: the bits of its own alone."""
        texts = [(canonical_text(predicate), predicate) for predicate in predicates]
        return self.filter_of_stored(
            [
                self._held.get(text) or StoredPredicate(leaf, text, self.shape)
                for text, leaf in texts
            ]
        )

    def filter_of_stored(self, found: Iterable[StoredPredicate]) -> Bloom:
        """The same, of what is stored."""
        return Bloom.at(self.shape, {place for held in found for place in held.places})

    def match_bits(self, events: Iterable[Event]) -> tuple[Offsets, Bits]:
        """The bits of the filters of some events, ascending, and where those of each begin."""
        found: list[Bits] = [np.zeros(0, np.int32)]
        ends, size = [0], 0
        for event in events:
            begin = len(found)
            self._gather(event, found)
            size += sum(map(len, found[begin:]))
            ends.append(size)
        out = np.empty(size, np.int32)
        words = np.zeros(self.shape.words, np.uint64)
        begins = sorted_group_places(np.concatenate(found), np.array(ends), words, out)
        return begins, out[: begins[-1]]

    def satisfied_predicates(self, event: Event) -> Iterator[StoredPredicate]:
        """All predicates that an event satisfies, each once."""
        for poset, value in self._relevant_posets(event):
            yield from poset.satisfied_predicates(value, lambda held: held.holds(event))
        yield from self._satisfied_without_poset(event)

    # -- introspection ----------------------------------------------------------------------------

    def __len__(self) -> int:
        """How many different predicates there are."""
        return len(self._held)

    def __contains__(self, predicate: Leaf) -> bool:
        """Whether a predicate is stored."""
        return canonical_text(predicate) in self._held

    @property
    def attributes(self) -> list[str]:
        """What there is a poset for, sorted."""
        return sorted(map(to_text, self._posets))

    def filter_with_covers(self, predicate: Leaf) -> Bloom:
        """The filter of a stored predicate with all that cover it, as Figure 1 has it.

        Raises:
            KeyError: It is not stored.
        """
        held = self._held[canonical_text(predicate)]
        poset = None if held.place.term is None else self._posets[held.place.term]
        above = [held] if poset is None else [h for h in poset if h is held or h.covers(held)]
        return self.filter_of_stored(above)

    def diagrams(self) -> Iterator[tuple[str, HasseDiagram]]:
        """By attribute, its poset with all links; what looks at no or at several has none."""
        for text, poset in sorted((to_text(term), poset) for term, poset in self._posets.items()):
            yield text, poset.diagram()

    def to_dot(self) -> str:
        """The posets, as a Graphviz digraph."""
        return digraph("bfposet", poset_lines(self))

    # -- parts ------------------------------------------------------------------------------------

    def _relevant_posets(self, event: Event) -> Iterator[tuple[Poset, Value]]:
        """The posets that an event is to be shown to, with its value."""
        for name in event:
            for path, poset in self._named.get(name, {}).items():
                value = look_up(path, event)
                if value is not None:
                    yield poset, value
        for term, poset in self._nullable.items():
            if value_of(term, event) is None:
                yield poset, None
        for term, poset in self._computed.items():
            value = value_of(term, event)
            if value is not None:
                yield poset, value

    def _satisfied_without_poset(self, event: Event) -> Iterator[StoredPredicate]:
        yield from self._always
        for held in self._residual:
            if held.holds(event):
                yield held

    def _gather(self, event: Event, found: list[Bits]) -> None:
        """Add the bits of all predicates that an event satisfies, which may repeat."""
        for poset, value in self._relevant_posets(event):
            found += poset.bits(value, lambda held: held.holds(event))
        if self._always or self._residual:
            places = [
                place for held in self._satisfied_without_poset(event) for place in held.places
            ]
            found.append(np.array(places, np.int32))

    def _place(self, held: StoredPredicate) -> None:
        self.universe.add(held.key)
        term, tests, always, residual = held.place
        if always:
            self._always[held] = None
        elif residual:
            self._residual[held] = None
        elif term is not None and tests:  # else nothing satisfies it
            poset = self._posets.get(term)
            if poset is None:
                poset = self._posets[term] = Poset()
                if isinstance(term, Attribute):
                    self._named.setdefault(term.path[0], {})[term.path] = poset
                else:
                    self._computed[term] = poset
            poset.add(held)
            if poset.null:
                self._nullable[term] = poset

    def _displace(self, held: StoredPredicate) -> None:
        self.universe.remove(held.key)
        term, tests, always, residual = held.place
        if always:
            del self._always[held]
        elif residual:
            del self._residual[held]
        elif term is not None and tests:
            poset = self._posets[term]
            poset.remove(held)
            if not poset.null:
                self._nullable.pop(term, None)
            if len(poset):
                return
            del self._posets[term]
            if isinstance(term, Attribute):
                named = self._named[term.path[0]]
                del named[term.path]
                if not named:
                    del self._named[term.path[0]]
            else:
                del self._computed[term]
