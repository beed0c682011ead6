"""The BDD engine (ICSE 2001): each predicate is a variable of one shared decision diagram.

Phase 1 finds the predicates that an event satisfies. Phase 2 computes the value of every node of
the diagram, from the terminals upwards, once for all subscriptions that share it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from threading import Lock
from typing import Any, ClassVar

from tamis.covering.domains import Domains
from tamis.engines.bdd.certainty import is_two_valued
from tamis.engines.bdd.cudd import cudd
from tamis.engines.bdd.dependencies import Dependencies
from tamis.engines.bdd.diagram import Diagram
from tamis.engines.bdd.draw import to_dot
from tamis.engines.bdd.formula import Formula
from tamis.engines.bdd.layout import Layout
from tamis.engines.bdd.match import match_block_by_block, match_one_by_one
from tamis.engines.bdd.paper_nodes import plain_nodes
from tamis.engines.bdd.roots import Roots, needs_of, presence
from tamis.engines.bdd.scratch import DiagramScratch
from tamis.engines.bdd.variables import Leaf, Variables, checked_order
from tamis.engines.scratch_pool import ScratchPool
from tamis.engines.subscription import Subscription
from tamis.errors import InputError, UnsupportedExpression
from tamis.events.batch import EventBatch
from tamis.kernels.bdd.eval import Needs
from tamis.language.expr import BoolExpr, Not, Sequence, attributes
from tamis.language.rewrite import rewrite
from tamis.language.rewrite.duplicates import drop_duplicates
from tamis.language.rewrite.equalities import merge_equalities
from tamis.language.rewrite.flatten import flatten
from tamis.language.rewrite.intervals import merge_ranges
from tamis.language.rewrite.order import sort_operands
from tamis.matches import Id, Matches
from tamis.predicates import PredicateIndex
from tamis.schema import Schema, SchemaLike

# Tests stay as they are written, so that subscriptions share variables. A diagram does not depend
# on repetition or on the order of operands.
_SKIPPED_RULES = (flatten, drop_duplicates, merge_equalities, merge_ranges, sort_operands)
# Up to this many events are matched one by one: a block costs as much as this many, however full.
_MAX_SINGLE_EVENTS = 12
_FIRST_ORDER_CHECK = 256  # subscriptions: with fewer, frequencies mean nothing


class BddEngine:
    """One shared binary decision diagram over predicates.

    Attributes:
        order: The order of variables; see `variables.py`.
        restrict: Whether diagrams are reduced by dependencies between predicates.
        index: The predicates.
    """

    name: ClassVar[str] = "bdd"

    def __init__(
        self,
        order: object = "attribute",
        restrict: bool = True,
        schema: SchemaLike | None = None,
        semantics: str = "sql",
    ) -> None:
        """Create an engine without subscriptions.

        Args:
            order: The order of variables: "attribute", "frequency", "random", or a list of
                predicates.
            restrict: Reduce diagrams by dependencies between predicates.
            schema: The schema that events are converted to before they reach the engine; set by a
                matcher.
            semantics: The same for the semantics; knowledge about events makes diagrams smaller.

        Raises:
            InputError: There is no such order, or CUDD is not installed.
        """
        if not isinstance(restrict, bool):
            raise InputError(f"restrict must be True or False, not {restrict!r}")
        self.order = checked_order(order)
        self.restrict = restrict
        self._schema = None if schema is None else Schema.of(schema)
        self._semantics = semantics
        self.index = PredicateIndex()
        self._roots = Roots(self.index)
        self._frequency: Counter[int] = Counter()
        self._order_checked_at = _FIRST_ORDER_CHECK
        cudd()
        self._begin()

    def _begin(self) -> None:
        """Create the parts that are not pickled: an empty diagram, and what depends on it."""
        self._domains = Domains(self._schema, self._semantics)
        self._diagram: Diagram | None = None  # CUDD's manager is created on first use
        self._layout = Layout()
        self._stale = True
        self._definedness: tuple[tuple[int, int], Needs] | None = None
        self._scratch = ScratchPool(DiagramScratch)
        self._lock = Lock()

    def _ensure_diagram(self) -> Diagram:
        if self._diagram is None:
            self._diagram = Diagram(self._release_variable)
            library = self._diagram.library
            self._variables = Variables(self.order, library)
            self._dependencies = Dependencies(library, cudd(), self._domains)
        return self._diagram

    # -- subscriptions ----------------------------------------------------------------------------

    def add(self, subscription: Subscription) -> None:
        """Add a subscription.

        Raises:
            UnsupportedExpression: It is a sequence, or its diagram is too large. The engine is
                unchanged.
        """
        selector = subscription.selector
        if isinstance(selector, Sequence):
            raise UnsupportedExpression("a sequence (FIRST … THEN …)", self.name)
        diagram = self._ensure_diagram()
        interned: dict[int, tuple[Leaf, bool]] = {}
        try:
            condition = rewrite(selector, without=_SKIPPED_RULES)
            edge = diagram.add_root(self._function(condition, subscription, interned))  # type: ignore[arg-type]
        finally:
            self._release_unused(interned)
        required = subscription.required
        loose = not attributes(selector) <= required
        self._roots.add(subscription.id, subscription.priority, edge, required, loose)
        self._frequency.update(number for number in interned if self._variables.has(number))
        self._stale = True
        if self.order == "frequency" and len(self._roots) >= 2 * self._order_checked_at:
            self._order_checked_at = len(self._roots)
            self._order_by_frequency()

    def _function(
        self,
        condition: BoolExpr,
        subscription: Subscription,
        interned: dict[int, tuple[Leaf, bool]],
    ) -> Any:
        """Return the CUDD function of a selector.

        `interned` receives its leaves by number, each with whether it is new.
        """
        diagram, variables = self._ensure_diagram(), self._variables
        required = subscription.required

        def variable(leaf: Leaf) -> Any:
            if isinstance(leaf, Not) and is_two_valued(self._domains, leaf.operand, required):  # type: ignore[arg-type]
                return ~variable(leaf.operand)  # type: ignore[arg-type]
            number = self.index.find(leaf)
            if number is None or number not in interned:
                number = self.index.intern(leaf)
                interned[number] = leaf, not variables.has(number)
            return variables.function(number, leaf)

        def simplify(function: Any) -> Any:
            if not self.restrict:
                return function
            leaves = [(n, leaf, variables.function(n, leaf)) for n, (leaf, _) in interned.items()]
            return self._dependencies.restrict(function, leaves, required)

        return simplify(Formula(diagram.library, variable, simplify).function(condition))

    def _release_unused(self, interned: dict[int, tuple[Leaf, bool]]) -> None:
        """Keep one reference to each predicate that a node uses; release all others."""
        assert self._diagram is not None
        for number, (leaf, new) in interned.items():
            if not new:
                self.index.release(number)
            elif not self._variables.has(number):
                # Interrupted by Ctrl-C before it got a variable, or after its nodes were freed,
                # which releases the predicate too.
                if self.index.find(leaf) == number:
                    self.index.release(number)
            elif not self._diagram.uses[self._variables.variable_of(number)]:
                self._release_variable(self._variables.variable_of(number))

    def _release_variable(self, variable: int) -> None:
        """Release the predicate of a variable that no node uses any more."""
        predicate = self._variables.release(variable)
        self._dependencies.forget(predicate)
        self._frequency.pop(predicate, None)
        self.index.release(predicate)

    def remove(self, id: Id) -> None:
        """Remove a subscription."""
        self._ensure_diagram().remove_root(self._roots.remove(id))
        self._stale = True

    # -- the order of variables -------------------------------------------------------------------

    def _order_by_frequency(self) -> None:
        """Rebuild the order if some variable is above one that is more than twice as frequent."""
        least = None
        for predicate in self._variables.predicates_top_down():
            frequency = self._frequency[predicate]
            if least is not None and frequency > 2 * least:
                break
            least = frequency if least is None else min(least, frequency)
        else:
            return
        frequent = sorted(self._frequency, key=lambda number: (-self._frequency[number], number))
        self._rebuild(self._diagram_data(), frequent)

    def _diagram_data(self) -> tuple[Any, ...]:
        """Return the diagram as plain data: slots, nodes, and predicates by variable."""
        if self._diagram is None:
            return ()
        return (*self._diagram.nodes(), list(self._variables.predicate))

    def _rebuild(self, parts: tuple[Any, ...], top_down: list[int]) -> None:
        """Rebuild the diagram with a given order of variables."""
        self._begin()
        if not parts:
            return
        slots, nodes, predicates = parts
        diagram, variables = self._ensure_diagram(), self._variables
        for number in top_down:
            variables.function(number, self.index.predicate(number), at_the_bottom=True)

        def function(variable: int) -> Any:
            number = predicates[variable]
            return variables.function(number, self.index.predicate(number))

        edges = self._roots.alive_edges()
        self._roots.set_edges(diagram.rebuild(slots, nodes, edges, function))

    def __getstate__(self) -> dict[str, object]:
        """Pickle the diagram as plain data."""
        state = dict(self.__dict__)
        for name in (
            "_diagram",
            "_variables",
            "_domains",
            "_dependencies",
            "_layout",
            "_scratch",
            "_definedness",
            "_lock",
        ):
            state.pop(name, None)
        top_down = [] if self._diagram is None else self._variables.predicates_top_down()
        return {**state, "parts": self._diagram_data(), "top_down": top_down}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Rebuild the diagram."""
        parts, top_down = state.pop("parts"), state.pop("top_down")
        self.__dict__.update(state)
        self._rebuild(parts, top_down)

    # -- matching ---------------------------------------------------------------------------------

    def match(self, batch: EventBatch, limit: int | None = None) -> Matches:
        """Return all subscriptions that each event of the batch satisfies.

        Raises:
            InputError: The events were not converted to the engine's schema.
        """
        if self._schema is not None and (
            batch.schema != self._schema or batch.semantics != self._semantics
        ):
            raise InputError(
                "the events do not have the engine's schema; "
                "match them with a Matcher, which converts events"
            )
        return self.evaluate(batch, one_by_one=len(batch) <= _MAX_SINGLE_EVENTS)

    def evaluate(self, batch: EventBatch, one_by_one: bool) -> Matches:
        """Match with the paper's algorithms for one event, or with blocks of events."""
        with self._lock:
            if self._stale:
                diagram = self._ensure_diagram()
                self._layout.update(diagram, self._variables, self._roots)
                self._stale = False
            needs = self._needs()
        with self._scratch.borrow() as scratch:
            match = match_one_by_one if one_by_one else match_block_by_block
            return match(scratch, self._layout, self._roots, self.index, batch, needs)

    def _needs(self) -> Needs | None:
        """Return, by predicate, the presence predicates of its attributes.

        Return None if some subscription may match without them: then every node matters.
        """
        if self._roots.loose:
            return None
        variables = self._variables
        version = variables.version, self._roots.version
        if self._definedness is None or self._definedness[0] != version:
            needs: list[list[int]] = [[] for _ in range(self.index.capacity)]
            for number in variables.predicates():
                presences = map(
                    self.index.find, map(presence, attributes(self.index.predicate(number)))
                )
                needs[number] = [one for one in presences if one is not None]
            self._definedness = version, needs_of(needs)
        return self._definedness[1]

    # -- introspection ----------------------------------------------------------------------------

    def stats(self) -> Mapping[str, object]:
        """Return sizes by name.

        `nodes` are counted as CUDD counts them: one for a function and its negation, no terminals.
        """
        diagram = self._ensure_diagram()
        return {
            "subscriptions": len(self._roots),
            "order": self.order if isinstance(self.order, str) else "list",
            "restrict": self.restrict,
            "nodes": len(diagram),
            "roots": diagram.roots,
            "variables": len(self._variables),
            "layouts": self._layout.times,
            **{f"index_{name}": size for name, size in self.index.stats().items()},
        }

    def to_dot(self) -> str:
        """Return the diagram as a Graphviz digraph, as in the paper's figures."""
        diagram = self._ensure_diagram()
        nodes = plain_nodes(diagram, self._variables.levels(), self._roots.ids_by_root())
        labels = {
            variable: str(self.index.predicate(number))
            for variable, number in enumerate(self._variables.predicate)
            if number >= 0
        }
        return to_dot(nodes, labels)
