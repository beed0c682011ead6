"""The three matching algorithms ("filters") of an A-Tree (thesis §3.4, §3.5).

All of them support every selector except sequences. They differ in what becomes a node and what is
rewritten:

| filter           | nodes                               | rewritten                              |
|------------------|-------------------------------------|----------------------------------------|
| general          | AND OR XOR NOT NAND NOR, k-of-n,    |                                        |
|                  | values and their comparisons        |                                        |
| zero-suppression | AND OR XOR, k-of-n                  | NOT moves to the predicates; terms are |
|                  |                                     | derived attributes of phase 1          |
| tvp              | AND OR, k-of-n                      | the same, and XOR becomes AND and OR   |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Filter(NamedTuple):
    """A matching algorithm, described by what it has nodes for.

    Attributes:
        name: The value of the option `filter=`.
        xor: XOR is a node.
        negation: NOT, NAND and NOR are nodes.
        values: Arithmetic and comparisons of its results are nodes.
        suppress: Unknown results, and false ones that no node needs, are not propagated.
        paths: There are no queues: truth is propagated upwards along paths from the predicates.
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
