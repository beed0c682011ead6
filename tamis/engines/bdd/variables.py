"""The variable of each predicate, and the place of a new one in the order (paper §6, §7).

The variables stand for *leaves*: a predicate, or the NOT of one that is not a comparison. A leaf is
true where it is *certainly* true. So if a predicate is unknown, neither it nor its negation is
true, and a diagram over leaves expresses all of SQL's three-valued logic.

The order affects only the size of the diagram:

| order     | place of a new variable                                                         |
|-----------|---------------------------------------------------------------------------------|
| attribute | below the last one of the same attribute; a new attribute goes to the bottom    |
| frequency | at the bottom; each time the number of subscriptions has doubled, the order is  |
|           | checked, and rebuilt if it is no longer right                                   |
| random    | anywhere                                                                        |
| a list    | texts of predicates, the first at the top; others go to the bottom              |

CUDD never deletes a variable. One that no node uses is given to the next new predicate, preferably
one of the same attribute.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

from tamis.engines.bdd.diagram import variable_name
from tamis.errors import InputError
from tamis.language import parse
from tamis.language.expr import STRUCTURE, Not, Predicate, attributes
from tamis.language.rewrite import rewrite

ORDERS = ("attribute", "frequency", "random")
# CUDD inserts a variable in the middle by moving all those below, which is too slow among many.
_MOVABLE = 4096

Leaf = Predicate | Not
Order = str | Sequence[str]


def checked_order(order: object) -> Order:
    """Check and return an order.

    Raises:
        InputError: It is not an order.
        SelectorError: A text of a list is not a selector.
    """
    if isinstance(order, str):
        if order not in ORDERS:
            known = ", ".join(ORDERS)
            raise InputError(
                f"unknown order {order!r}; choose one of {known}, or a list of predicates"
            )
        return order
    if not isinstance(order, Sequence) or not all(isinstance(text, str) for text in order):
        raise InputError(f"order must be one of {', '.join(ORDERS)}, or a list of predicates")
    for text in order:
        _leaf(text)
    return tuple(order)


def _leaf(text: str) -> Leaf:
    leaf = rewrite(parse(text))
    inside = leaf.operand if isinstance(leaf, Not) else leaf
    if isinstance(inside, STRUCTURE):
        raise InputError(f"an order must list single predicates; {text!r} combines several")
    return leaf  # type: ignore[return-value]


class Variables:
    """CUDD's variables by predicate, and predicates by variable.

    Attributes:
        predicate: By variable, the number of its predicate; -1 if it is free.
        version: Changes when a variable gets or loses its predicate.
    """

    def __init__(self, order: Order, library: Any) -> None:
        """Start without variables, or with those of a list."""
        self._order = order if isinstance(order, str) else "list"
        self._library = library
        self._random = Random(2001)
        self.predicate: list[int] = []
        self._variable: dict[int, int] = {}
        self._functions: list[Any] = []
        self._attribute: list[object] = []
        self._free: dict[object, list[int]] = {}
        self._listed: dict[Leaf, int] = {}
        self._reserved = 0  # the first variables belong to the list; this many
        self.version = 0
        if not isinstance(order, str):
            for text in order:
                leaf = _leaf(text)
                if leaf not in self._listed:
                    self._listed[leaf] = self._new_variable(None, len(self._functions))
            self._reserved = len(self._listed)

    def __len__(self) -> int:
        """Return how many predicates have a variable."""
        return len(self._variable)

    def has(self, predicate: int) -> bool:
        """Return whether a predicate has a variable."""
        return predicate in self._variable

    def predicates(self) -> Iterable[int]:
        """Return all predicates that have a variable."""
        return self._variable.keys()

    def function(self, predicate: int, leaf: Leaf, at_the_bottom: bool = False) -> Any:
        """Return the function of a predicate's variable; assign a variable if it has none.

        Args:
            predicate: The number of the predicate.
            leaf: The predicate.
            at_the_bottom: Put a new variable at the bottom, whatever the order, unless a list has
                it.
        """
        variable = self._variable.get(predicate)
        if variable is None:
            if at_the_bottom and leaf not in self._listed:
                variable = self._new_variable(attributes(leaf), len(self._functions))
            else:
                variable = self._assign_variable(leaf)
            self._variable[predicate] = variable
            self.predicate[variable] = predicate
            self.version += 1
        return self._functions[variable]

    def variable_of(self, predicate: int) -> int:
        """Return the variable of a predicate."""
        return self._variable[predicate]

    def release(self, variable: int) -> int:
        """Free a variable and return the predicate that it had."""
        predicate = self.predicate[variable]
        del self._variable[predicate]
        self.predicate[variable] = -1
        self.version += 1
        if variable >= self._reserved:
            self._free.setdefault(self._attribute[variable], []).append(variable)
        return predicate

    def levels(self) -> list[int]:
        """Return the level of each variable, counted from the top of the order."""
        level = self._library.level_of_var
        return [level(variable_name(v)) for v in range(len(self._functions))]

    def predicates_top_down(self) -> list[int]:
        """Return the predicates that have a variable, from the top of the order."""
        levels = self.levels()
        return sorted(self._variable, key=lambda predicate: levels[self._variable[predicate]])

    def _assign_variable(self, leaf: Leaf) -> int:
        listed = self._listed.get(leaf)
        if listed is not None:
            return listed
        attribute = attributes(leaf)
        for owner in (attribute, *self._free):
            free = self._free.get(owner)
            if free:
                variable = free.pop()
                if not free:
                    del self._free[owner]
                self._attribute[variable] = attribute
                return variable
        return self._new_variable(attribute, self._level(attribute))

    def _level(self, attribute: object) -> int:
        bottom = len(self._functions)
        if bottom >= _MOVABLE:
            return bottom
        if self._order == "random":
            return self._random.randint(0, bottom)
        if self._order == "attribute":
            level = self._library.level_of_var
            same = [v for v, other in enumerate(self._attribute) if other == attribute]
            if same:
                return 1 + max(int(level(variable_name(v))) for v in same)
        return bottom

    def _new_variable(self, attribute: object, level: int) -> int:
        name = variable_name(len(self._functions))
        variable = int(self._library.insert_var(name, level))
        assert variable == len(self._functions)
        self._functions.append(self._library.var(name))
        self._attribute.append(attribute)
        self.predicate.append(-1)
        return variable
