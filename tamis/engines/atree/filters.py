"""The three ways to match with an A-Tree, and what each of them takes (thesis §3.4, §3.5).

All of them take every selector but sequences. They differ in what becomes a node and what has to
be said in other words:

| filter           | nodes                               | in other words                         |
|------------------|-------------------------------------|----------------------------------------|
| general          | AND OR XOR NOT NAND NOR, k-of-n,    |                                        |
|                  | values and their comparisons        |                                        |
| zero-suppression | AND OR XOR, k-of-n                  | NOT moves to the predicates; terms are |
|                  |                                     | derived attributes of phase 1          |
| tvp              | AND OR, k-of-n                      | the same; XOR becomes AND and OR       |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Filter(NamedTuple):
    """A way to match, by what it has nodes for.

    Attributes:
        name: As in `filter=`.
        xor: XOR is a node.
        negation: NOT, NAND and NOR are nodes.
        values: Arithmetic, and comparisons of it, are nodes.
        suppress: What is unknown, or false where nobody asks, is not handed on.
        paths: There are no queues: truth is followed from the predicates upwards.
    """

    name: str
    xor: bool
    negation: bool
    values: bool
    suppress: bool
    paths: bool


GENERAL = Filter("general", xor=True, negation=True, values=True, suppress=False, paths=False)
ZERO_SUPPRESSION = Filter(
    "zero-suppression", xor=True, negation=False, values=False, suppress=True, paths=False
)
TVP = Filter("tvp", xor=False, negation=False, values=False, suppress=True, paths=True)

FILTERS: Mapping[str, Filter] = {f.name: f for f in (GENERAL, ZERO_SUPPRESSION, TVP)}
