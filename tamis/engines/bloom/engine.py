"""The Bloom engine: bfposet and sbstree (DEBS 2008, §4), followed by an exact check.

An event gets a filter of all predicates that it satisfies. The sbstree finds the conjunctions whose
bits are all set in it; those are the candidates. A filter has no false negatives, and its false
positives are removed by evaluating the predicates of each candidate.

A selector is converted to disjunctive normal form, with one filter per conjunction.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from threading import Lock
from typing import ClassVar, NamedTuple

import numpy as np

from tamis.bloom.bfposet import BFPoset
from tamis.bloom.bit_sets import SparseBits
from tamis.bloom.chain import Bits
from tamis.bloom.filter import Bloom
from tamis.bloom.filter_codec import encoded_size
from tamis.bloom.hashing import Shape
from tamis.bloom.pictures import digraph, poset_lines, tree_lines
from tamis.bloom.poset_predicate import StoredPredicate
from tamis.bloom.sbstree import SbsTree
from tamis.engines.bloom.counters import BloomCounters
from tamis.engines.subscription import Subscription
from tamis.errors import InputError, UnsupportedExpression
from tamis.events.batch import EventBatch
from tamis.kernels.bloom.places import Offsets
from tamis.language.disjuncts import Conjunction, disjuncts
from tamis.language.evaluate import Event
from tamis.language.expr import Sequence
from tamis.matches import Id, Matches, ids_array


class BloomConjunction(NamedTuple):
    """A conjunction of a subscription.

    Attributes:
        id: The subscription.
        predicates: Its predicates.
        bloom: Its filter.
    """

    id: Id
    predicates: tuple[StoredPredicate, ...]
    bloom: Bloom


class BloomEngine:
    """Bloom filters of satisfied predicates.

    Attributes:
        poset: The predicates, for inspection.
        tree: The filters of conjunctions; an address is the number of a conjunction.
        conjunctions: How many conjunctions a selector may have.
    """

    name: ClassVar[str] = "bloom"

    def __init__(self, m: int = 1 << 14, k: int = 4, conjunctions: int = 64) -> None:
        """Create an engine without subscriptions.

        Args:
            m: The number of bits of a filter.
            k: The number of hash functions.
            conjunctions: How many conjunctions a selector may have in disjunctive normal form.

        Raises:
            InputError: One of them is out of range.
        """
        if isinstance(conjunctions, bool) or not isinstance(conjunctions, int) or conjunctions < 1:
            raise InputError(f"conjunctions must be a positive integer, not {conjunctions!r}")
        self.conjunctions = conjunctions
        self.poset = BFPoset(Shape(m, k))
        self.tree = SbsTree(self.poset.shape)
        self._subscriptions: dict[Id, Subscription] = {}
        self._numbers: dict[Id, list[int]] = {}
        self._rules: dict[int, BloomConjunction] = {}
        self._free: list[int] = []
        self._counters = BloomCounters()
        self._lock = Lock()

    def add(self, subscription: Subscription) -> None:
        """Add a subscription.

        Raises:
            UnsupportedExpression: It is a sequence, or it has too many conjunctions. The engine is
                unchanged.
        """
        numbers = []
        for conjunction in self._disjuncts(subscription):
            predicates = tuple(self.poset.hold(dict.fromkeys(conjunction)))
            rule = BloomConjunction(
                subscription.id, predicates, self.poset.filter_of_stored(predicates)
            )
            number = self._free.pop() if self._free else len(self._rules)
            self.tree.insert(rule.bloom, number)
            self._rules[number] = rule
            numbers.append(number)
        self._numbers[subscription.id] = numbers
        self._subscriptions[subscription.id] = subscription

    def _disjuncts(self, subscription: Subscription) -> list[Conjunction]:
        condition = subscription.condition
        if isinstance(condition, Sequence):
            raise UnsupportedExpression("a sequence (FIRST … THEN …)", self.name)
        conjunctions = disjuncts(condition, self.conjunctions)
        if conjunctions is None:
            raise UnsupportedExpression(
                f"a disjunctive normal form of more than {self.conjunctions:,} conjunctions",
                self.name,
                f"split it into several subscriptions, set the option conjunctions="
                f"{2 * self.conjunctions} or higher, or use the engine 'block'",
            )
        return conjunctions

    def remove(self, id: Id) -> None:
        """Remove a subscription."""
        del self._subscriptions[id]
        for number in self._numbers.pop(id):
            rule = self._rules.pop(number)
            self.tree.remove(rule.bloom, number)
            self.poset.release(rule.predicates)
            self._free.append(number)

    def __getstate__(self) -> tuple[dict[str, int], list[Subscription]]:
        """Pickle the options and the subscriptions, as texts; the rest is rebuilt from them."""
        shape = self.poset.shape
        options = {"m": shape.m, "k": shape.k, "conjunctions": self.conjunctions}
        return options, list(self._subscriptions.values())

    def __setstate__(self, state: tuple[dict[str, int], list[Subscription]]) -> None:
        """Add all subscriptions again."""
        options, subscriptions = state
        self.__init__(**options)  # type: ignore[misc]
        for subscription in subscriptions:
            self.add(subscription)

    # -- matching ---------------------------------------------------------------------------------

    def match(self, batch: EventBatch, limit: int | None = None) -> Matches:
        """Return all subscriptions that each event of the batch satisfies."""
        rows = batch.rows()
        offsets, bits = self.poset.match_bits(rows)
        begins, candidates = self.tree.publish_many(offsets, bits)
        ends, numbers = begins[1:].tolist(), [self.tree.address(c) for c in candidates.tolist()]
        codes: dict[Id, int] = {}
        pairs: list[tuple[int, int]] = []
        confirmed_count = start = 0
        for number, (row, end) in enumerate(zip(rows, ends, strict=True)):
            confirmed = self._verified_candidates(row, numbers[start:end])  # type: ignore[arg-type]
            confirmed_count += len(confirmed)
            ids = dict.fromkeys(rule.id for rule in confirmed)
            pairs += [(number, codes.setdefault(id, len(codes))) for id in ids]
            start = end
        self._count(offsets, bits, len(numbers), confirmed_count)
        event, code = np.array(pairs, np.int64).reshape(-1, 2).T
        priorities = [self._subscriptions[id].priority for id in codes]
        ids_and_priorities = ids_array(list(codes)), np.array(priorities, np.int64)
        return Matches(len(batch), event, code, *ids_and_priorities)

    def _verified_candidates(self, row: Event, numbers: list[int]) -> list[BloomConjunction]:
        """Return the candidates that match, evaluating each distinct predicate once per event."""
        truths: dict[StoredPredicate, bool] = {}
        confirmed = []
        for number in numbers:
            rule = self._rules[number]
            for stored in rule.predicates:
                truth = truths.get(stored)
                if truth is None:
                    truth = truths[stored] = stored.holds(row)
                if not truth:
                    break
            else:
                confirmed.append(rule)
        return confirmed

    def _count(
        self,
        offsets: Offsets,
        bits: Bits,
        candidates: int,
        confirmed: int,
    ) -> None:
        shape = self.poset.shape
        filters = [bits[begin:end] for begin, end in pairwise(offsets.tolist())]
        wire = sum(encoded_size(shape, SparseBits(shape, each)) for each in filters)
        with self._lock:
            self._counters.events += len(filters)
            self._counters.bits += len(bits)
            self._counters.wire_bytes += wire
            self._counters.candidates += candidates
            self._counters.false_positives += candidates - confirmed

    # -- introspection ----------------------------------------------------------------------------

    def stats(self) -> Mapping[str, object]:
        """Return sizes, and counters of the events matched so far.

        `false_positives` are candidates that the exact check rejected, `fill_ratio` is the average
        fraction of bits set in an event's filter, `wire_bytes_per_event` its average size between
        brokers, and `predicates_fill_ratio` the fraction that a filter with all predicates would
        have.
        """
        shape = self.poset.shape
        return {
            "subscriptions": len(self._subscriptions),
            "conjunctions": len(self._rules),
            "predicates": len(self.poset),
            "m": shape.m,
            "k": shape.k,
            "tree_nodes": self.tree.nodes,
            "tree_bytes": self.tree.nbytes,
            "predicates_fill_ratio": self.poset.universe.fill,
            **self._counters.stats(shape.m),
        }

    def to_dot(self) -> str:
        """Return the posets and the tree as a Graphviz digraph."""
        lines = [*poset_lines(self.poset), *tree_lines(self.tree)]
        return digraph("bloom", iter(lines))
