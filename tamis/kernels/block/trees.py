"""Evaluate a selector over rows, with a stack of masks for AND, OR, k-of-n and XOR."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.kernels.block.rows import EMPTY, FULL, MIXED
from tamis.kernels.block.words import AND, AT_LEAST, OR, XOR, Bytes, Ints, Longs, Words
from tamis.kernels.decorator import kernel
from tamis.kernels.vectors import WORDS, and_into, copy_into, or_into

# The planes (masks) of a frame: two rails, an operand that waits for its other rail, and from
# COUNTER on the bits of the counter.
HELD = 2
COUNTER = 3


class MaskStack(NamedTuple):
    """The operators whose operands are being evaluated, outermost first.

    Attributes:
        frames: Their masks: one frame of `stride` words for each depth.
        stride: The words of a frame.
        operators: By depth: the operator, where it ends, k, and how many operands it has seen.
    """

    frames: Words
    stride: int
    operators: Longs


@kernel
def tree_mask(
    tree: Ints, at: int, rows: Words, known: Bytes, masks: MaskStack, width: int, everyone: Words
) -> tuple[int, int, bool]:
    """Evaluate a selector for all events of a block.

    Args:
        tree: The selectors; see `WideSelectors`.
        at: Where the selector begins in it.
        rows: By leaf, the mask of the events that satisfy it.
        known: By leaf, EMPTY, MIXED or FULL.
        masks: The operators whose operands are being evaluated.
        width: The words of a mask.
        everyone: The mask of all events of the block.

    Returns:
        Where the mask of the events that satisfy the selector begins, whether it is EMPTY, MIXED or
        FULL, and whether it is in `masks.frames` rather than in `rows`.
    """
    frames, stride, stack = masks.frames, masks.stride, masks.operators
    n = width // WORDS
    depth, place, state, in_frame = 0, 0, MIXED, False
    while True:
        number = tree[at]
        if number < 0:
            operator = -1 - number
            stack[depth, 0] = operator
            stack[depth, 1] = at + tree[at + 2]
            stack[depth, 2] = tree[at + 1]
            stack[depth, 3] = 0
            if operator > OR - AND:
                _open(frames, depth * stride, stride, width, everyone)
            depth += 1
            at += 3
            continue
        place, in_frame = number * width, False
        state = int(known[number])
        at += 1
        while depth > 0:
            operator, stop, seen = stack[depth - 1, 0], stack[depth - 1, 1], stack[depth - 1, 3]
            stack[depth - 1, 3] = seen + 1
            top = (depth - 1) * stride
            if operator == 0:  # AND
                if state == EMPTY:
                    at = stop
                    depth -= 1
                    continue
                if seen == 0:
                    _copy(frames, top, rows, place, in_frame, n)
                    state = MIXED
                else:
                    left = np.uint64(0)
                    if in_frame:
                        left = and_into(frames, top, frames, place, n)
                    else:
                        left = and_into(frames, top, rows, place, n)
                    state = EMPTY if left == np.uint64(0) else MIXED
                if state != EMPTY and at < stop:
                    break
            elif operator == OR - AND:
                if state == FULL:
                    at = stop
                    depth -= 1
                    continue
                if seen == 0:
                    if state == EMPTY:
                        _clear(frames, top, width)
                    else:
                        _copy(frames, top, rows, place, in_frame, n)
                elif state != EMPTY:
                    missing = np.uint64(0)
                    if in_frame:
                        missing = or_into(frames, top, frames, place, everyone, n)
                    else:
                        missing = or_into(frames, top, rows, place, everyone, n)
                    state = FULL if missing == np.uint64(0) else MIXED
                else:
                    state = MIXED
                if state != FULL and at < stop:
                    break
            else:
                held = top + HELD * width
                _take(frames, held, rows, place, in_frame, state, width)
                if operator == AT_LEAST - AND:
                    _count(frames, top, stride, width)
                    if at < stop:
                        break
                    _reach(frames, top, stride, width, stack[depth - 1, 2])
                else:
                    if seen & 1 == 0:
                        _copy(frames, top + COUNTER * width, rows, held, True, n)
                        break
                    _toggle(frames, top, width)
                    if at < stop:
                        break
                    if operator != XOR - AND:
                        top += width
                state = MIXED
            place, in_frame = top, True
            at = stop
            depth -= 1
        if depth == 0:
            return place, state, in_frame


@kernel
def _copy(frames: Words, top: int, rows: Words, place: int, in_frame: bool, n: int) -> None:
    if in_frame:
        copy_into(frames, top, frames, place, n)
    else:
        copy_into(frames, top, rows, place, n)


@kernel
def _clear(frames: Words, top: int, width: int) -> None:
    for w in range(top, top + width):
        frames[w] = np.uint64(0)


@kernel
def _take(
    frames: Words, held: int, rows: Words, place: int, in_frame: bool, state: int, width: int
) -> None:
    """Copy the mask of an operand into the frame of its operator."""
    if state == EMPTY:
        _clear(frames, held, width)
    else:
        _copy(frames, held, rows, place, in_frame, width // WORDS)


@kernel
def _open(frames: Words, top: int, stride: int, width: int, everyone: Words) -> None:
    """Initialise a counter, or the rails of a parity: even for every event."""
    _clear(frames, top, stride)
    copy_into(frames, top + width, everyone, 0, width // WORDS)


@kernel
def _toggle(frames: Words, top: int, width: int) -> None:
    """Add an operand to a parity, given where it is true and (held) where it is false."""
    for w in range(top, top + width):
        odd, even = frames[w], frames[w + width]
        false, true = frames[w + HELD * width], frames[w + COUNTER * width]
        frames[w] = (odd & false) | (even & true)
        frames[w + width] = (odd & true) | (even & false)


@kernel
def _count(frames: Words, top: int, stride: int, width: int) -> None:
    """Add the held mask to the counters: one per event, each bit in a plane of its own."""
    for w in range(top, top + width):
        carry = frames[w + HELD * width]
        plane = w + COUNTER * width
        while carry != np.uint64(0) and plane < top + stride:
            following = frames[plane] & carry
            frames[plane] ^= carry
            carry = following
            plane += width


@kernel
def _reach(frames: Words, top: int, stride: int, width: int, k: int) -> None:
    """Compute where the counters are at least k, from the highest plane down."""
    planes = stride // width
    for w in range(top, top + width):
        greater, equal = np.uint64(0), ~np.uint64(0)
        for plane in range(planes - 1, COUNTER - 1, -1):
            bits = frames[w + plane * width]
            if (k >> (plane - COUNTER)) & 1:
                equal &= bits
            else:
                greater |= equal & bits
                equal &= ~bits
        frames[w] = greater | equal
