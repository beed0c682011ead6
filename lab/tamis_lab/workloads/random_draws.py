"""How workloads draw: everything from a seed of its own, and in whole blocks.

The rest of the last block is thrown away: so the first n are the same however many are asked for.
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

# What is drawn, each from a seed of its own: the one does not change with the other.
POOLS, SUBSCRIPTIONS, EVENTS = range(3)

_BLOCK = 1 << 14


def check(holds: bool, parameter: str, wanted: str) -> None:
    """Refuse a parameter that is not what is wanted.

    Raises:
        InputError: It does not hold.
    """
    if not holds:
        raise InputError(f"must be {wanted}", parameter)


def check_counts(subscriptions: int, seed: int) -> None:
    """Refuse numbers that no workload can have."""
    check(subscriptions >= 1, "subscriptions", "1 or more")
    check(seed >= 0, "seed", "0 or more")


def generator(seed: int, *key: int) -> np.random.Generator:
    """Random numbers of their own for each key; as SeedSequence.spawn, but by number."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def part_of(total: int, start: int, count: int | None) -> tuple[int, int]:
    """Where so many from `start` begin and end; None is all that are left.

    Raises:
        InputError: There are not so many.
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
    """Subscriptions of all that `draw` makes, which is told how many at a time.

    Args:
        seed: Of the workload.
        total: How many subscriptions it has.
        draw: Makes a block of them.
        start: The first that is wanted; those before it are not drawn, but for some in its own
            block: so a part of a workload costs what it holds, wherever it lies.
        count: How many; None for all from there.
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
    """So many rows of all arrays that `draw` makes, which have a row for each event.

    Those before `start` are not drawn, but for some in its own block: so a part of a workload costs
    what it holds, wherever it lies.
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
    """In each row, so many different numbers below `choices`, in random order."""
    # Stable: two may be equal, and then other ways of sorting differ between processors.
    order = rng.random((rows, choices), np.float32).argsort(axis=1, kind="stable")
    return order[:, :taken]


def places(shares: Iterable[float], spread: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """Numbers from 0 to 1 as places in a list of shares, each as frequent as its share."""
    # Without the last bound, which may be a little less than 1.
    return np.cumsum(list(shares))[:-1].searchsorted(spread, "right")


def batch_of(
    names: Iterable[str], columns: Iterable[npt.NDArray[Any]], present: npt.NDArray[np.bool_]
) -> EventBatch:
    """Events of these columns; where one is not present it is NULL."""
    arrays = [pa.array(c, mask=~there) for c, there in zip(columns, present.T, strict=True)]
    return EventBatch.from_arrow(pa.RecordBatch.from_arrays(arrays, list(names)))
