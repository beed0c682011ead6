"""Predicates by number: `a1 = 1` is 0, and the values of an attribute lie side by side.

Four million subscriptions of 14 predicates are 224 MB as numbers, and do not fit as trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tamis.language.expr import Attribute, Comparison, Literal

Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class PredicateTable:
    """Every possible predicate: attributes from 0, values from 1.

    >>> table = PredicateTable(attributes=20, values=1000, relation=">")
    >>> str(table.predicate(6_041)), table.text(6_041)
    ('a7 > 42', 'a7 > 42')
    >>> table.split(np.array([0, 6_041]))
    (array([0, 6]), array([ 1, 42]))
    """

    attributes: int
    values: int
    relation: str

    def __len__(self) -> int:
        """How many predicates there are."""
        return self.attributes * self.values

    def split(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """The attribute and the value of each predicate."""
        attributes, values = np.divmod(numbers, self.values)
        return attributes, values + 1

    def predicate(self, number: int) -> Comparison:
        """The predicate as a tree."""
        attribute, value = divmod(number, self.values)
        return Comparison(self.relation, self._names[attribute], Literal.of(value + 1))

    def text(self, number: int) -> str:
        """The predicate as a selector."""
        attribute, value = divmod(number, self.values)
        return f"a{attribute + 1} {self.relation} {value + 1}"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the attributes."""
        return tuple(f"a{attribute + 1}" for attribute in range(self.attributes))

    @cached_property
    def _names(self) -> tuple[Attribute, ...]:
        return tuple(Attribute((name,)) for name in self.names)
