"""The workload generator of the A-Tree thesis, §5.2: its parameters, subscriptions and events.

A subscription is two expressions and an operator between them. The left one uses the first
attributes, the right one the others, so no two predicates conflict; conjunctions are in the order
of the attributes, as §5.4 requires. Either comes from pool A, whose expressions recur, or from pool
B, whose expressions do not:

    unique                          B and B
    not unique, the first way       A and A
    not unique, the second way      A and B
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice

import numpy as np

from tamis.events.batch import EventBatch
from tamis.language.expr import And, BoolExpr
from tamis_lab.workloads.atree2004.parts import ExpressionRows, ExpressionSide
from tamis_lab.workloads.atree2004.predicates import ANY, Numbers, PredicateTable
from tamis_lab.workloads.atree2004.subscriptions import Mixture, SubscriptionBlock, TreeForm
from tamis_lab.workloads.atree2004.thesis_events import EventMaker, Targets
from tamis_lab.workloads.atree2004.trees import build_tree, join_trees
from tamis_lab.workloads.random_draws import (
    POOLS,
    SUBSCRIPTIONS,
    Arrays,
    batch_of,
    check,
    events_in_blocks,
    generator,
    part_of,
)

# Table 5.2: how often AND, OR and XOR occur.
FREQUENCIES = {
    "conjunctive": (1.0, 0.0, 0.0),  # OS_A
    "disjunctive": (0.8, 0.2, 0.0),  # OS_B
    "mixed": (0.6, 0.3, 0.1),  # OS_C
}

# Subscriptions and events are drawn in whole blocks, each with its own seed, and the rest of the
# last block is discarded: so the first n items do not depend on how many are drawn.
_BLOCK = 1 << 14
_EVENT_BLOCK = 1 << 10


@dataclass(frozen=True, kw_only=True)
class Workload:
    """The parameters of Table 5.1; everything else follows from them.

    SNPS, the fraction of the internal nodes of a subscription that it shares with others, is about

        overlap * (repeated + (1 - repeated) * (shared_predicates - 1) / (predicates - 1))

    and a little more where `values` is small, because expressions of pool B then coincide by
    chance. SMPE, the fraction of subscriptions that an event matches, depends on the arguments of
    `events`. To give all subscriptions the same attributes, as §5.4 does for Gryphon, set
    `attributes` to L.

    Attributes:
        subscriptions: Number of subscriptions (N_subs).
        predicates: Number of predicates of a subscription (L).
        shared_predicates: How many of them make up the left expression, which a subscription that
            is not unique takes from pool A.
        attributes: Number of attributes: a1, a2, … (L_max).
        values: The constants of predicates lie between 1 and this.
        operators: "conjunctive", "disjunctive" or "mixed": the operator sets of Table 5.2.
        relation: "=" or ">" in all predicates, or "any": one of six, equally often (§5.2.2).
        pool: Number of expressions of pool A for the left, and for the right (|A|).
        overlap: The fraction of subscriptions that are not unique (f_overlap).
        repeated: The fraction of those that are made in the first way, so that others are equal.
        seed: The same seed gives the same workload.
    """

    subscriptions: int
    predicates: int
    shared_predicates: int
    attributes: int = 20
    values: int = 1000
    operators: str = "conjunctive"
    relation: str = "="
    pool: int = 10
    overlap: float = 0.95
    repeated: float = 0.2
    seed: int = 2004

    def __post_init__(self) -> None:
        """Check the parameters.

        Raises:
            InputError: A parameter is out of range.
        """
        check(self.subscriptions >= 1, "subscriptions", "1 or more")
        check(2 <= self.predicates <= self.attributes, "predicates", "2 to `attributes`")
        check(1 <= self.shared_predicates < self.predicates, "shared_predicates",
              "1 or more, and fewer than `predicates`")  # fmt: skip
        check(self.values >= 2, "values", "2 or more")
        check(len(self.table) < 2**31, "values", "so few that 32 bits can number all predicates")
        check(self.relation in ("=", ">", ANY), "relation", "=, > or any")
        check(self.operators in FREQUENCIES, "operators", ", ".join(FREQUENCIES))
        check(self.pool >= 1, "pool", "1 or more")
        check(0 <= self.overlap <= 1, "overlap", "0 to 1")
        check(0 <= self.repeated <= 1, "repeated", "0 to 1")
        check(self.seed >= 0, "seed", "0 or more")

    @cached_property
    def table(self) -> PredicateTable:
        """What the numbers of predicates stand for."""
        return PredicateTable(self.attributes, self.values, self.relation)

    # -- subscriptions ----------------------------------------------------------------------------

    def conjunctions(self) -> Numbers:
        """Return the predicates of all subscriptions by number, one subscription in each row.

        Raises:
            InputError: The operators are not conjunctive.
        """
        return next(self.conjunction_chunks(self.subscriptions))

    def conjunction_chunks(self, rows: int = 100_000) -> Iterator[Numbers]:
        """Yield the same in chunks of rows."""
        check(self.operators == "conjunctive", "operators", "conjunctive; else use `expressions`")
        check(rows >= 1, "rows", "1 or more")
        return self._conjunction_chunks(rows)

    def _conjunction_chunks(self, rows: int) -> Iterator[Numbers]:
        blocks = self._blocks()
        block, at = next(blocks).numbers(), 0
        for start in range(0, self.subscriptions, rows):
            chunk = np.empty((min(rows, self.subscriptions - start), self.predicates), np.int32)
            filled = 0
            while filled < len(chunk):
                if at == len(block):
                    block, at = next(blocks).numbers(), 0
                taken = min(len(chunk) - filled, len(block) - at)
                chunk[filled : filled + taken] = block[at : at + taken]
                filled, at = filled + taken, at + taken
            yield chunk

    def expressions(self, start: int = 0, count: int | None = None) -> Iterator[BoolExpr]:
        """Yield the subscriptions as trees: flat conjunctions, or else binary trees."""
        predicate = self.table.predicate
        for numbers, left, right, root in self.rows(start, count):
            leaves = list(map(predicate, numbers))
            if self.operators == "conjunctive":
                yield And(tuple(leaves))
            else:
                cut = self.shared_predicates
                parts = build_tree(leaves[:cut], *left), build_tree(leaves[cut:], *right)
                yield join_trees(root, *parts)

    def selectors(self, start: int = 0, count: int | None = None) -> Iterator[str]:
        """Yield the subscriptions as text; parsing it gives the expressions.

        Args:
            start: The first subscription to yield; the blocks before it are not drawn.
            count: How many; None for all that follow.
        """
        if self.operators == "conjunctive":
            text = self.table.text
            return (" AND ".join(map(text, numbers)) for numbers, *_ in self.rows(start, count))
        return map(str, self.expressions(start, count))

    # -- events -----------------------------------------------------------------------------------

    def events(
        self,
        count: int,
        start: int = 0,
        *,
        matching: float = 0.0,
        scale: float = 1.0,
        least: int | None = None,
    ) -> EventBatch:
        """Return events of random attributes and values.

        With "=", a random event matches next to nothing, and SMPE is about
        `matching * overlap * repeated / pool**2`. With ">", a predicate whose attribute is present
        holds with probability `scale / 2` up to a scale of 1, and `1 - 1 / (2 * scale)` beyond. But
        an event has an attribute only sometimes, which bounds SMPE. `calibration` finds the
        arguments for a given SMPE.

        Args:
            count: How many.
            start: The first event; the blocks before it are not drawn.
            matching: The fraction of events that are made for a random pair of expressions of pool
                A: they satisfy both, and so every subscription that ANDs or ORs these two.
            scale: The values of the others lie between 1 and `scale * values`.
            least: The least number of attributes of an event (A_E); by default L for conjunctions,
                else 1.
        """
        values, present = self.event_arrays(
            count, start, matching=matching, scale=scale, least=least
        )
        return batch_of(self.table.names, values.T, present)

    def event_arrays(
        self,
        count: int,
        start: int = 0,
        *,
        matching: float = 0.0,
        scale: float = 1.0,
        least: int | None = None,
    ) -> Arrays:
        """Return the same events as arrays, a row each: the values, and which are present."""
        check(0 <= matching <= 1, "matching", "0 to 1")
        # Beyond 2**53 a random number between 0 and 1 no longer reaches every value.
        check(0 < scale * self.values < 2**53, "scale", "more than 0, and not huge")
        if least is None:
            least = self.predicates if self.operators == "conjunctive" else 1
        check(1 <= least <= self.attributes, "least", "1 to `attributes`")
        left, right = self._pools
        maker = EventMaker(self.table, (Targets.of(left), Targets.of(right)), least)
        return events_in_blocks(
            self.seed,
            count,
            lambda rng, rows: maker.draw(rng, rows, matching, scale),
            _EVENT_BLOCK,
            start,
        )

    # -- how it is drawn --------------------------------------------------------------------------

    def _rng(self, *key: int) -> np.random.Generator:
        return generator(self.seed, *key)

    @cached_property
    def _sides(self) -> tuple[ExpressionSide, ExpressionSide]:
        cut = self.shared_predicates
        # Rounded down, this is at least `cut`, and leaves enough attributes for the right side.
        first = self.attributes * cut // self.predicates
        choices = self.table.choices
        frequencies = None if self.operators == "conjunctive" else FREQUENCIES[self.operators]
        return (
            ExpressionSide(0, first, cut, choices, frequencies),
            ExpressionSide(
                first, self.attributes - first, self.predicates - cut, choices, frequencies
            ),
        )

    @cached_property
    def _pools(self) -> tuple[ExpressionRows, ExpressionRows]:
        left, right = (
            side.deal(self._rng(POOLS, place), self.pool) for place, side in enumerate(self._sides)
        )
        return left, right

    def _blocks(self, first: int = 0, end: int | None = None) -> Iterator[SubscriptionBlock]:
        end = -(-self.subscriptions // _BLOCK) if end is None else end
        frequencies = FREQUENCIES[self.operators]
        mixture = Mixture(self._sides, self._pools, frequencies, self.overlap, self.repeated)
        for index in range(first, end):
            yield mixture.draw(self._rng(SUBSCRIPTIONS, index), _BLOCK)

    def rows(
        self, start: int = 0, count: int | None = None
    ) -> Iterator[tuple[list[int], TreeForm, TreeForm, int]]:
        """Yield `count` subscriptions from `start` on: predicates, two forms, root."""
        start, end = part_of(self.subscriptions, start, count)
        first = start // _BLOCK
        blocks = self._blocks(first, -(-end // _BLOCK))
        rows = chain.from_iterable(block.rows() for block in blocks)
        return islice(rows, start - first * _BLOCK, end - first * _BLOCK)
