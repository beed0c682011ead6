"""Extract selectors from a segment, and move them to the axes of another one."""

from __future__ import annotations

import numpy as np

from tamis.kernels.block.masks import WideSelectors
from tamis.kernels.block.match import GeneralSelectors, NarrowSelectors
from tamis.kernels.block.words import (
    AND,
    AXES,
    PREDICATE,
    SET,
    TRUE,
    Bytes,
    Ints,
    Longs,
    Words,
    axis_of,
    high_of,
    low_of,
    word_of,
)
from tamis.kernels.decorator import kernel


@kernel
def narrow_lengths(narrow: NarrowSelectors, alive: Bytes, lengths: Longs) -> None:
    """Fill in how many words each conjunction takes; 0 if it has been removed."""
    for i in range(len(narrow.second)):
        if alive[narrow.record[i]]:
            leaves = 1 + narrow.rest_offsets[i + 1] - narrow.rest_offsets[i]
            if narrow.second[i] != np.uint64(TRUE):
                leaves += 1
            lengths[i] = leaves if leaves == 1 else leaves + 1


@kernel
def take_narrow(narrow: NarrowSelectors, bucket_leaf: Words, lengths: Longs, code: Words) -> None:
    """Write the conjunctions, of the given lengths, end to end."""
    filled = 0
    for bucket in range(len(bucket_leaf)):
        for i in range(narrow.offsets[bucket], narrow.offsets[bucket + 1]):
            if lengths[i] == 0:
                continue
            if lengths[i] > 1:
                code[filled] = word_of(AND, 0, lengths[i])
                filled += 1
            code[filled] = bucket_leaf[bucket]
            filled += 1
            if lengths[i] > 1:
                code[filled] = narrow.second[i]
                filled += 1
            for k in range(narrow.rest_offsets[i], narrow.rest_offsets[i + 1]):
                code[filled] = narrow.rest[k]
                filled += 1


@kernel
def general_lengths(general: GeneralSelectors, alive: Bytes, lengths: Longs) -> None:
    """Fill in how many words each selector takes; 0 if it has been removed."""
    for i in range(len(general.record)):
        if alive[general.record[i]]:
            lengths[i] = general.code_offsets[i + 1] - general.code_offsets[i]


@kernel
def take_general(general: GeneralSelectors, lengths: Longs, code: Words) -> None:
    """Write the selectors, of the given lengths, end to end."""
    filled = 0
    for i in range(len(general.record)):
        for k in range(lengths[i]):
            code[filled] = general.code[general.code_offsets[i] + k]
            filled += 1


@kernel
def flat_lengths(wide: WideSelectors, alive: Bytes, lengths: Longs) -> None:
    """Fill in how many words each conjunction over rows takes; 0 if it has been removed."""
    for i in range(len(wide.flat_record)):
        if alive[wide.flat_record[i]]:
            leaves = wide.flat_offsets[i + 1] - wide.flat_offsets[i]
            lengths[i] = leaves if leaves == 1 else leaves + 1


@kernel
def take_flat(wide: WideSelectors, lengths: Longs, code: Words) -> None:
    """Write the conjunctions, of the given lengths, end to end."""
    filled = 0
    for i in range(len(wide.flat_record)):
        if lengths[i] == 0:
            continue
        if lengths[i] > 1:
            code[filled] = word_of(AND, 0, lengths[i])
            filled += 1
        for k in range(wide.flat_offsets[i], wide.flat_offsets[i + 1]):
            code[filled] = wide.leaves.words[wide.flat[k]]
            filled += 1


@kernel
def tree_lengths(wide: WideSelectors, alive: Bytes, lengths: Longs) -> None:
    """Fill in how many words each tree over rows takes; 0 if it has been removed."""
    for i in range(len(wide.tree_record)):
        if alive[wide.tree_record[i]]:
            at = wide.tree_offsets[i]
            while at < wide.tree_offsets[i + 1]:
                lengths[i] += 1
                at += 3 if wide.tree[at] < 0 else 1


@kernel
def take_trees(wide: WideSelectors, lengths: Longs, code: Words) -> None:
    """Write the selectors, of the given lengths, end to end."""
    filled = 0
    for i in range(len(wide.tree_record)):
        if lengths[i] == 0:
            continue
        at, end = wide.tree_offsets[i], wide.tree_offsets[i + 1]
        while at < end:
            number = wide.tree[at]
            if number >= 0:
                code[filled] = wide.leaves.words[number]
                at += 1
            else:
                length = _words(wide.tree, at)
                code[filled] = word_of(AND + (-1 - number), wide.tree[at + 1], length)
                at += 3
            filled += 1


@kernel
def _words(tree: Ints, at: int) -> int:
    """Return how many words the operator at a place takes, with its operands."""
    end = at + tree[at + 2]
    count = 0
    while at < end:
        count += 1
        at += 3 if tree[at] < 0 else 1
    return count


@kernel
def remap(
    code: Words,
    axis_map: Longs,
    constant_at: Longs,
    constant_map: Longs,
    set_map: Longs,
    predicate_map: Longs,
) -> None:
    """Move words to other axes.

    Args:
        code: The words, changed in place.
        axis_map: By axis, its new number.
        constant_at: By axis, where its constants begin in `constant_map`.
        constant_map: By constant, its new number on its axis; one more for the end of each axis.
        set_map: By set, its new number.
        predicate_map: By predicate, its new number.
    """
    for i in range(len(code)):
        word = code[i]
        axis = axis_of(word)
        if axis < AXES:
            at = constant_at[axis]
            low = moved_end(low_of(word), constant_map, at)
            high = moved_end(high_of(word), constant_map, at)
            code[i] = word_of(axis_map[axis], low, high)
        elif axis == PREDICATE:
            code[i] = word_of(PREDICATE, predicate_map[low_of(word)], high_of(word))
        elif axis == SET:
            code[i] = word_of(SET, set_map[low_of(word)], high_of(word))


@kernel
def moved_end(rank: int, constant_map: Longs, at: int) -> int:
    """Return the end of an interval on another axis: at or right after the same constant."""
    if rank & 1:
        return 2 * constant_map[at + (rank >> 1)] + 1
    return 2 * constant_map[at + (rank >> 1) - 1] + 2 if rank > 0 else 0


@kernel
def move_ranks(ranks: Ints, axis: Ints, offsets: Longs, at: Longs, constant_map: Longs) -> None:
    """Move the ranks of sets to other axes, in place."""
    for number in range(len(axis)):
        for i in range(offsets[number], offsets[number + 1]):
            ranks[i] = moved_end(ranks[i], constant_map, at[axis[number]])


@kernel
def mark_used(code: Words, axes: Bytes, sets: Bytes, predicates: Bytes) -> None:
    """Mark the axes, sets and predicates that words refer to."""
    for i in range(len(code)):
        axis = axis_of(code[i])
        if axis < AXES:
            axes[axis] = 1
        elif axis == SET:
            sets[low_of(code[i])] = 1
        elif axis == PREDICATE:
            predicates[low_of(code[i])] = 1


@kernel
def draft_words(
    axis: Longs, low: Longs, high: Longs, flags: Longs, tops: Longs, constants: Longs, words: Words
) -> None:
    """Write the words of leaves whose constants have just been sorted.

    Args:
        axis: By leaf, its axis.
        low: By leaf, the place in `constants` of its lower bound; -1 if it is unbounded below.
        high: By leaf, the place in `constants` of its upper bound; -1 if it is unbounded above.
        flags: By leaf: 1 if the interval excludes `low`, 2 if it includes `high`, 4 if the leaf is
            everything outside of the interval.
        tops: By axis, the number of its constants.
        constants: By place, the number of the constant on its axis.
        words: The words, filled in.
    """
    for i in range(len(axis)):
        begin = 0
        if low[i] >= 0:
            begin = 2 * constants[low[i]] + (2 if flags[i] & 1 else 1)
        end = 2 * tops[axis[i]] + 1
        if high[i] >= 0:
            end = 2 * constants[high[i]] + (2 if flags[i] & 2 else 1)
        if flags[i] & 4:
            begin, end = end, begin
        words[i] = word_of(axis[i], begin, end)


@kernel
def merge_texts(
    bounds: Longs, data: Bytes, begin: Longs, middle: Longs, end: Longs, order: Longs, same: Bytes
) -> None:
    """Merge pairs of sorted runs of texts.

    Pair j is the run from begin[j] up to middle[j] and the run from there up to end[j]. `order`
    gets the texts in order, and `same` is 1 where a text equals the one before it.
    """
    for j in range(len(begin)):
        left, right, at = begin[j], middle[j], begin[j]
        while left < middle[j] or right < end[j]:
            order_ = -1
            if left == middle[j]:
                order_ = 1
            elif right < end[j]:
                order_ = _compare_texts(data, bounds, left, right)
            if order_ <= 0:
                order[at] = left
                same[at] = 0
                at += 1
                left += 1
                if order_ == 0:
                    order[at] = right
                    same[at] = 1
                    at += 1
                    right += 1
            else:
                order[at] = right
                same[at] = 0
                at += 1
                right += 1


@kernel
def _compare_texts(data: Bytes, bounds: Longs, left: int, right: int) -> int:
    size = min(bounds[left + 1] - bounds[left], bounds[right + 1] - bounds[right])
    for i in range(size):
        this, that = data[bounds[left] + i], data[bounds[right] + i]
        if this != that:
            return -1 if this < that else 1
    return (bounds[left + 1] - bounds[left]) - (bounds[right + 1] - bounds[right])


@kernel
def gather_texts(bounds: Longs, data: Bytes, chosen: Longs, new_bounds: Longs, out: Bytes) -> None:
    """Copy some texts end to end; `new_bounds` says where each goes."""
    for i in range(len(chosen)):
        source = data[bounds[chosen[i]] : bounds[chosen[i] + 1]]
        target = out[new_bounds[i] : new_bounds[i + 1]]
        for k in range(len(source)):
            target[k] = source[k]
