"""Predicates by number: `a1 = 1` is 0, and the values of an attribute are adjacent.

Where predicates have any of six relations, those of one relation are adjacent.

As numbers, four million subscriptions of 14 predicates take 224 MB; as trees they do not fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tamis.language.expr import Attribute, Comparison, Literal

Numbers = npt.NDArray[np.int32]

RELATIONS = ("=", "<=", "<", ">=", ">", "<>")
ANY = "any"


@dataclass(frozen=True)
class PredicateTable:
    """Every possible predicate: attributes from 0, values from 1.

    >>> table = PredicateTable(attributes=20, values=1000, relation=">")
    >>> str(table.predicate(6_041)), table.text(6_041)
    ('a7 > 42', 'a7 > 42')
    >>> table.split(np.array([0, 6_041]))
    (array([0, 6]), array([ 1, 42]))
    >>> PredicateTable(attributes=20, values=1000, relation="any").text(6_041)
    'a2 = 42'

    Attributes:
        attributes: Number of attributes.
        values: Number of values of each.
        relation: The relation of all predicates, or "any" for each of `RELATIONS`.
    """

    attributes: int
    values: int
    relation: str

    def __len__(self) -> int:
        """Return the number of predicates."""
        return self.attributes * self.choices

    @cached_property
    def relations(self) -> tuple[str, ...]:
        """The relations that occur."""
        return RELATIONS if self.relation == ANY else (self.relation,)

    @property
    def choices(self) -> int:
        """Number of predicates of an attribute."""
        return len(self.relations) * self.values

    def split(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """Return the attribute and the value of each predicate."""
        return numbers // self.choices, numbers % self.values + 1

    def places(self, numbers: Numbers) -> Numbers:
        """Return the place of each predicate's relation in `relations`."""
        return numbers % self.choices // self.values

    def predicate(self, number: int) -> Comparison:
        """Return the predicate as a tree."""
        attribute, relation, value = self.parts(number)
        return Comparison(relation, self._names[attribute], Literal.of(value))

    def text(self, number: int) -> str:
        """Return the predicate as a selector."""
        attribute, relation, value = self.parts(number)
        return f"a{attribute + 1} {relation} {value}"

    def parts(self, number: int) -> tuple[int, str, int]:
        """Return the attribute, the relation and the value of a predicate."""
        attribute, choice = divmod(number, self.choices)
        place, value = divmod(choice, self.values)
        return attribute, self.relations[place], value + 1

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the attributes."""
        return tuple(f"a{attribute + 1}" for attribute in range(self.attributes))

    @cached_property
    def _names(self) -> tuple[Attribute, ...]:
        return tuple(Attribute((name,)) for name in self.names)
