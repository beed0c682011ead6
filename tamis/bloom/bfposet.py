"""The bfposet (DEBS 2008, §4.3): the predicates of all subscriptions; computes event filters.

There is a poset of constraints per attribute name. An event's filter has the bits of *all*
predicates that it satisfies: in a poset, the bits of all lowest ones, each of which includes the
bits of all above it. (The paper says "the most general" one, which would lose events.)

Beyond the paper, a predicate may test any term. A computed term (`a + b > 3`) is computed for every
event, and a comparison of two attributes is evaluated for every event. IS NULL is evaluated for
events that lack the attribute.
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
    """Predicates by attribute, each stored once, with their filters.

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
        neighbours: The addresses that subscriptions are forwarded to.
        universe: A counting filter of all predicates.
    """

    def __init__(self, shape: Shape, neighbours: Iterable[Hashable] = ()) -> None:
        """Create an empty bfposet."""
        self.shape = shape
        self.neighbours = frozenset(neighbours)
        self.universe = CountingBloom(shape)
        self._stored: dict[str, StoredPredicate] = {}
        self._posets: dict[ValueExpr, Poset] = {}
        # By the first name of a path: the posets for events that have this name.
        self._named: dict[str, dict[Path, Poset]] = {}
        self._nullable: dict[ValueExpr, Poset] = {}
        self._computed: dict[ValueExpr, Poset] = {}
        self._residual: dict[StoredPredicate, None] = {}
        self._always: dict[StoredPredicate, None] = {}

    # -- Listing 2 --------------------------------------------------------------------------------

    def subscribe(self, predicates: Iterable[Leaf], address: Hashable) -> set[Hashable]:
        """Store a conjunction.

        Edge routing requires all predicates at every broker, so the conjunction goes to all
        neighbours except its source.

        Returns:
            The addresses to forward it to.
        """
        self.hold(predicates)
        return set(self.neighbours - {address})

    def unsubscribe(self, predicates: Iterable[Leaf], address: Hashable) -> set[Hashable]:
        """Remove a stored conjunction once.

        Returns:
            The addresses to forward the removal to.

        Raises:
            KeyError: It is not stored. Nothing has changed.
        """
        self.release([self._stored[canonical_text(predicate)] for predicate in predicates])
        return set(self.neighbours - {address})

    def match(self, event: Event) -> Bloom:
        """Return the filter of an event: of all predicates that it satisfies."""
        return self.match_many([event])[0]

    def match_many(self, events: Iterable[Event]) -> list[Bloom]:
        """Return the filters of some events."""
        return filters_of(self.shape, *self.match_bits(events))

    # -- for callers that keep references to stored predicates ------------------------------------

    def hold(self, predicates: Iterable[Leaf]) -> list[StoredPredicate]:
        """Store predicates; count one more reference to those already stored."""
        result = []
        for predicate in predicates:
            text = canonical_text(predicate)
            stored = self._stored.get(text)
            if stored is None:
                stored = self._stored[text] = StoredPredicate(predicate, text, self.shape)
                self._place(stored)
            stored.count += 1
            result.append(stored)
        return result

    def release(self, predicates: Iterable[StoredPredicate]) -> None:
        """Drop a reference to each predicate; after the last one, remove it."""
        for stored in predicates:
            stored.count -= 1
            if not stored.count:
                del self._stored[stored.text]
                self._displace(stored)

    def filter_of(self, predicates: Iterable[Leaf]) -> Bloom:
        """Return the filter of a conjunction, stored or not, without the bits of its covers."""
        texts = [(canonical_text(predicate), predicate) for predicate in predicates]
        return self.filter_of_stored(
            [
                self._stored.get(text) or StoredPredicate(leaf, text, self.shape)
                for text, leaf in texts
            ]
        )

    def filter_of_stored(self, predicates: Iterable[StoredPredicate]) -> Bloom:
        """Return the same for stored predicates."""
        return Bloom.at(self.shape, {place for stored in predicates for place in stored.places})

    def match_bits(self, events: Iterable[Event]) -> tuple[Offsets, Bits]:
        """Return the offsets of the bits of each event's filter, and the bits, ascending."""
        arrays: list[Bits] = [np.zeros(0, np.int32)]
        ends, size = [0], 0
        for event in events:
            begin = len(arrays)
            self._gather(event, arrays)
            size += sum(map(len, arrays[begin:]))
            ends.append(size)
        out = np.empty(size, np.int32)
        words = np.zeros(self.shape.words, np.uint64)
        begins = sorted_group_places(np.concatenate(arrays), np.array(ends), words, out)
        return begins, out[: begins[-1]]

    def satisfied_predicates(self, event: Event) -> Iterator[StoredPredicate]:
        """Iterate over all predicates that an event satisfies, each once."""
        for poset, value in self._relevant_posets(event):
            yield from poset.satisfied_predicates(value, lambda stored: stored.holds(event))
        yield from self._satisfied_without_poset(event)

    # -- introspection ----------------------------------------------------------------------------

    def __len__(self) -> int:
        """Return the number of distinct predicates."""
        return len(self._stored)

    def __contains__(self, predicate: Leaf) -> bool:
        """Return whether a predicate is stored."""
        return canonical_text(predicate) in self._stored

    @property
    def attributes(self) -> list[str]:
        """The terms that have a poset, as sorted texts."""
        return sorted(map(to_text, self._posets))

    def filter_with_covers(self, predicate: Leaf) -> Bloom:
        """Return the filter of a stored predicate and all its covers, as in Figure 1.

        Raises:
            KeyError: It is not stored.
        """
        stored = self._stored[canonical_text(predicate)]
        poset = None if stored.place.term is None else self._posets[stored.place.term]
        above = [stored] if poset is None else [h for h in poset if h is stored or h.covers(stored)]
        return self.filter_of_stored(above)

    def diagrams(self) -> Iterator[tuple[str, HasseDiagram]]:
        """Iterate over terms and their linked posets; predicates without one term have none."""
        for text, poset in sorted((to_text(term), poset) for term, poset in self._posets.items()):
            yield text, poset.diagram()

    def to_dot(self) -> str:
        """Return the posets as a Graphviz digraph."""
        return digraph("bfposet", poset_lines(self))

    # -- internals --------------------------------------------------------------------------------

    def _relevant_posets(self, event: Event) -> Iterator[tuple[Poset, Value]]:
        """Iterate over the posets that apply to an event, with its value."""
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
        for stored in self._residual:
            if stored.holds(event):
                yield stored

    def _gather(self, event: Event, arrays: list[Bits]) -> None:
        """Append the bits of all predicates that an event satisfies, with duplicates."""
        for poset, value in self._relevant_posets(event):
            arrays += poset.bits(value, lambda stored: stored.holds(event))
        if self._always or self._residual:
            places = [
                place for stored in self._satisfied_without_poset(event) for place in stored.places
            ]
            arrays.append(np.array(places, np.int32))

    def _place(self, stored: StoredPredicate) -> None:
        self.universe.add(stored.key)
        term, tests, always, residual = stored.place
        if always:
            self._always[stored] = None
        elif residual:
            self._residual[stored] = None
        elif term is not None and tests:  # otherwise nothing satisfies it
            poset = self._posets.get(term)
            if poset is None:
                poset = self._posets[term] = Poset()
                if isinstance(term, Attribute):
                    self._named.setdefault(term.path[0], {})[term.path] = poset
                else:
                    self._computed[term] = poset
            poset.add(stored)
            if poset.null:
                self._nullable[term] = poset

    def _displace(self, stored: StoredPredicate) -> None:
        self.universe.remove(stored.key)
        term, tests, always, residual = stored.place
        if always:
            del self._always[stored]
        elif residual:
            del self._residual[stored]
        elif term is not None and tests:
            poset = self._posets[term]
            poset.remove(stored)
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
