"""Queries (§8, "Query Characteristics"): 7.6 atoms and 7.7 operators on average.

The paper gives no more detail, so this is our own: a query has 1 + Poisson(6.6) atoms; neighbours
are joined at random by AND or OR until one tree is left, and any node may be negated. That makes
6.6 joins, and leaves 1.1 NOTs to make up the 7.7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tamis_lab.workloads.bdd2001.atoms import ATOMS

MEAN_ATOMS = 7.6
MEAN_NOTS = 1.1
# A tree of n atoms has 2n - 1 nodes.
NEGATED = MEAN_NOTS / (2 * MEAN_ATOMS - 1)

_LEAVES = (*ATOMS, *(f"NOT {atom}" for atom in ATOMS))
_JOINS = (" AND ", " OR ")


def drawn_queries(rng: np.random.Generator, count: int, conjunctive: float) -> Iterator[str]:
    """Yield queries; `conjunctive` is the fraction of joins that are AND."""
    sizes = 1 + rng.poisson(MEAN_ATOMS - 1, count)
    ends = np.cumsum(sizes)
    total = int(ends[-1])
    negated = rng.random(total) < NEGATED
    leaves = rng.integers(len(ATOMS), size=total) + negated * len(ATOMS)
    # There is one join less than atoms: the last one of each query is not used.
    left = np.repeat(ends, sizes) - np.arange(total) - 1
    joined = (rng.random(total) * left).astype(np.int64)
    kinds = (rng.random(total) >= conjunctive) + 2 * (rng.random(total) < NEGATED)
    columns = leaves.tolist(), joined.tolist(), kinds.tolist()
    start = 0
    for end in ends.tolist():
        yield _query(*(column[start:end] for column in columns))
        start = end


def _query(leaves: Sequence[int], joined: Sequence[int], kinds: Sequence[int]) -> str:
    """Return a query, given its leaves, where they are joined, and by AND, OR, NAND or NOR."""
    parts = [_LEAVES[leaf] for leaf in leaves]
    last = len(parts) - 2
    for step, (at, kind) in enumerate(zip(joined[:-1], kinds[:-1], strict=True)):
        both = parts[at] + _JOINS[kind & 1] + parts[at + 1]
        parts[at : at + 2] = [f"NOT ({both})" if kind > 1 else f"({both})" if step < last else both]
    return parts[0]
