"""How workloads draw random numbers: from a seed for each purpose, and in whole blocks.

The rest of the last block is discarded: so the first n items do not depend on how many are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.errors import InputError
from tamis.events.batch import EventBatch

Arrays = tuple[npt.NDArray[Any], ...]
T = TypeVar("T")

# Purposes; each has its own seed, so that one does not change with another.
POOLS, SUBSCRIPTIONS, EVENTS = range(3)

_BLOCK = 1 << 14


def check(holds: bool, parameter: str, wanted: str) -> None:
    """Check a parameter.

    Raises:
        InputError: The condition does not hold.
    """
    if not holds:
        raise InputError(f"must be {wanted}", parameter)


def check_counts(subscriptions: int, seed: int) -> None:
    """Check the parameters that every workload has."""
    check(subscriptions >= 1, "subscriptions", "1 or more")
    check(seed >= 0, "seed", "0 or more")


def generator(seed: int, *key: int) -> np.random.Generator:
    """Return a generator for a key; like `SeedSequence.spawn`, but by number."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def part_of(total: int, start: int, count: int | None) -> tuple[int, int]:
    """Return the start and end of `count` items from `start` on; None means all that follow.

    Raises:
        InputError: There are fewer items.
    """
    check(0 <= start <= total, "start", f"0 to {total:,}")
    left = total - start
    check(count is None or 0 <= count <= left, "count", f"0 to {left:,}")
    return start, total if count is None else start + count


def draw_in_blocks(
    seed: int,
    total: int,
    draw: Callable[[np.random.Generator, int], Iterable[T]],
    start: int = 0,
    count: int | None = None,
) -> Iterator[T]:
    """Yield subscriptions that `draw` makes, block by block.

    Args:
        seed: The seed of the workload.
        total: Number of subscriptions of the workload.
        draw: Makes a block of the given size.
        start: The first subscription to yield. Blocks before it are not drawn: a part of a
            workload costs as much as it contains, wherever it starts.
        count: How many; None for all that follow.
    """
    start, end = part_of(total, start, count)
    first = start // _BLOCK
    blocks = (
        draw(generator(seed, SUBSCRIPTIONS, index), _BLOCK)
        for index in range(first, -(-end // _BLOCK))
    )
    return islice(chain.from_iterable(blocks), start - first * _BLOCK, end - first * _BLOCK)


def events_in_blocks(
    seed: int,
    count: int,
    draw: Callable[[np.random.Generator, int], Arrays],
    block: int = _BLOCK,
    start: int = 0,
) -> Arrays:
    """Return `count` rows of the arrays that `draw` makes, which have a row for each event.

    Blocks before `start` are not drawn: a part of a workload costs as much as it contains,
    wherever it starts.
    """
    check(count >= 0, "count", "0 or more")
    check(start >= 0, "start", "0 or more")
    first, end = start // block, -(-(start + count) // block)
    blocks = [
        draw(generator(seed, EVENTS, index), block) for index in range(first, max(end, first + 1))
    ]
    start -= first * block
    return tuple(
        np.concatenate(arrays)[start : start + count] for arrays in zip(*blocks, strict=True)
    )


def distinct_numbers(
    rng: np.random.Generator, rows: int, choices: int, taken: int
) -> npt.NDArray[np.intp]:
    """Return rows of different numbers below `choices`, in random order."""
    # A stable sort: keys may be equal, and other sorts then differ between processors.
    order = rng.random((rows, choices), np.float32).argsort(axis=1, kind="stable")
    return order[:, :taken]


def places(shares: Iterable[float], spread: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """Map numbers from 0 to 1 to places in a list of shares, each as frequent as its share."""
    # Without the last bound, which rounding may put a little below 1.
    return np.cumsum(list(shares))[:-1].searchsorted(spread, "right")


def batch_of(
    names: Iterable[str], columns: Iterable[npt.NDArray[Any]], present: npt.NDArray[np.bool_]
) -> EventBatch:
    """Return events with these columns; values that are not present are NULL."""
    arrays = [pa.array(c, mask=~there) for c, there in zip(columns, present.T, strict=True)]
    return EventBatch.from_arrow(pa.RecordBatch.from_arrays(arrays, list(names)))
