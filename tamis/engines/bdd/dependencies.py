"""Dependencies between the variables of one query, and diagrams restricted by them (§6, §7).

`n = 10` and `n > 8` are two variables, but no event makes the first true and the second false. The
*dependency function* of some predicates is true for the combinations of truth values that some
event can produce. A diagram needs to be correct only there, so it is restricted to it, after
Coudert and Madre. As in the paper, this is done for each query by itself, one attribute at a time.

The paper's dependency function consists of implications between pairs of predicates. Here it is
exact: the union of all cells into which the predicates divide the values of an attribute
(`regions`), where NULL, the wrong type and NaN are values like others. Where the cells are not
known exactly, there are too many, never too few.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from types import ModuleType
from typing import Any

from tamis.covering.domains import Domains
from tamis.covering.regions import regions, term_of
from tamis.engines.bdd.variables import Leaf
from tamis.language.expr import IsNull, Not, Predicate, ValueExpr
from tamis.paths import Path

Cell = tuple[bool | None, ...]

# Predicates of one attribute that are combined. The time grows with the square. Predicates in
# different groups are not related to each other, which is still correct.
_GROUP_SIZE = 128
_MAX_CACHED = 20_000


class Dependencies:
    """Restricts functions by the dependencies between their predicates."""

    def __init__(self, library: Any, cudd: ModuleType, domains: Domains) -> None:
        """Create a cache of dependency functions.

        Args:
            library: CUDD's manager.
            cudd: CUDD, for its `restrict`.
            domains: The possible values of terms.
        """
        self._library = library
        self._restrict = cudd.restrict
        self._domains = domains
        self._cache: dict[tuple[object, ...], Any] = {}
        self._mentioned: set[int] = set()
        self._terms: dict[int, ValueExpr | None] = {}

    def restrict(
        self, function: Any, leaves: Sequence[tuple[int, Leaf, Any]], required: Collection[Path]
    ) -> Any:
        """Return a function that equals the given one for all events and is usually smaller.

        Args:
            function: The function of a query.
            leaves: Its leaves: the number of each, the leaf, and the function of its variable.
            required: Attributes that every relevant event has.
        """
        by_term: dict[ValueExpr, list[tuple[int, Leaf, Any]]] = {}
        for each in leaves:
            number = each[0]
            if number not in self._terms:
                self._terms[number] = term_of(_predicate(each[1]))
            term = self._terms[number]
            if term is not None:
                by_term.setdefault(term, []).append(each)
        for term, same in by_term.items():
            if len(same) == 1 and not isinstance(_predicate(same[0][1]), IsNull):
                continue  # a single test can almost always be both true and false
            for i in range(0, len(same), _GROUP_SIZE):
                care = self._dependency(term, same[i : i + _GROUP_SIZE], required)
                if care != self._library.true:
                    function = self._restrict(function, care)
        return function

    def forget(self, predicate: int) -> None:
        """Drop everything known about a predicate, because its number will be reused."""
        self._terms.pop(predicate, None)
        if predicate in self._mentioned:
            self._cache.clear()
            self._mentioned.clear()

    def _dependency(
        self, term: ValueExpr, leaves: Sequence[tuple[int, Leaf, Any]], required: Collection[Path]
    ) -> Any:
        types, nullable = self._domains.of(term, required)
        key = (*sorted(number for number, _, _ in leaves), nullable)
        dependency = self._cache.get(key)
        if dependency is None:
            if len(self._cache) >= _MAX_CACHED:
                self._cache.clear()
                self._mentioned.clear()
            predicates = [_predicate(leaf) for _, leaf, _ in leaves]
            positive = [not isinstance(leaf, Not) for _, leaf, _ in leaves]
            cells = {
                tuple(
                    None if i in cell.free else truth is positive[i]
                    for i, truth in enumerate(cell.vector)
                )
                for cell in regions(predicates, types, nullable).cells
            }
            dependency = self._cache[key] = self._union_of_cells(
                cells, [function for _, _, function in leaves]
            )
            self._mentioned.update(number for number, _, _ in leaves)
        return dependency

    def _union_of_cells(self, cells: Collection[Cell], variables: Sequence[Any]) -> Any:
        """Return the function that is true in one of the cells; None in a cell is either truth."""
        order = sorted(range(len(variables)), key=lambda i: variables[i].level)

        cache: dict[tuple[int, frozenset[Cell]], Any] = {}

        def split(cells: frozenset[Cell], depth: int) -> Any:
            if not cells or depth == len(order):
                return self._library.true if cells else self._library.false
            key = depth, cells
            if key not in cache:
                at = order[depth]
                true = split(frozenset(c for c in cells if c[at] is not False), depth + 1)
                false = split(frozenset(c for c in cells if c[at] is not True), depth + 1)
                cache[key] = self._library.ite(variables[at], true, false)
            return cache[key]

        return split(frozenset(cells), 0)


def _predicate(leaf: Leaf) -> Predicate:
    return leaf.operand if isinstance(leaf, Not) else leaf  # type: ignore[return-value]
