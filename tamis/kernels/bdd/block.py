"""Evaluate a shared diagram for a block of events at a time, one bit per event.

The value of a node is a row of eight words: one cache line. Computing it reads two such lines,
wherever they are, so 512 events cost little more than one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.bdd.eval import Bytes, Ints, Longs, Needs, NodeArrays
from tamis.kernels.bdd.outputs import Outputs
from tamis.kernels.bits import popcount, trailing_zeros
from tamis.kernels.decorator import kernel
from tamis.kernels.growth import grow_array

Words = NDArray[np.uint64]
LINE = 8  # words
EVENTS = 64 * LINE
_FLIP = np.array([0, 0xFFFFFFFFFFFFFFFF], np.uint64)  # what to XOR with, by negation


class BddMatches(NamedTuple):
    """The matches of a block: pairs for masks with few bits, and masks."""

    event: Ints
    code: Ints
    tile_code: Ints
    tile_masks: Words


@kernel
def eval_block(nodes: NodeArrays, masks: Words, wanted: Bytes, values: Words) -> None:
    """Run EvalBDD for all events of a block.

    Args:
        nodes: The diagram.
        masks: By predicate, the events of the block for which it is true.
        wanted: By predicate, whether its nodes are evaluated; the others keep their values.
        values: By node, its row, filled in.
    """
    values[0] = np.uint64(0xFFFFFFFFFFFFFFFF)
    for run in range(len(nodes.run_label)):
        label = nodes.run_label[run]
        if not wanted[label]:
            continue
        # Read all eight before writing one, or LLVM cannot vectorise.
        m0, m1, m2, m3 = masks[label, 0], masks[label, 1], masks[label, 2], masks[label, 3]
        m4, m5, m6, m7 = masks[label, 4], masks[label, 5], masks[label, 6], masks[label, 7]
        for v in range(nodes.run_begin[run], nodes.run_begin[run + 1]):
            edge = nodes.low[v]
            low, high = edge >> 1, nodes.high[v] >> 1
            flip = _FLIP[edge & 1]
            r0 = _select(m0, values[high, 0], values[low, 0] ^ flip)
            r1 = _select(m1, values[high, 1], values[low, 1] ^ flip)
            r2 = _select(m2, values[high, 2], values[low, 2] ^ flip)
            r3 = _select(m3, values[high, 3], values[low, 3] ^ flip)
            r4 = _select(m4, values[high, 4], values[low, 4] ^ flip)
            r5 = _select(m5, values[high, 5], values[low, 5] ^ flip)
            r6 = _select(m6, values[high, 6], values[low, 6] ^ flip)
            r7 = _select(m7, values[high, 7], values[low, 7] ^ flip)
            values[v, 0], values[v, 1], values[v, 2], values[v, 3] = r0, r1, r2, r3
            values[v, 4], values[v, 5], values[v, 6], values[v, 7] = r4, r5, r6, r7


@kernel
def _select(mask: np.uint64, high: np.uint64, low: np.uint64) -> np.uint64:
    return low ^ (mask & (low ^ high))


@kernel
def mark_defined(nodes: NodeArrays, needs: Needs, masks: Words, wanted: Bytes) -> None:
    """Mark the variables whose attributes are all present in some event of a block."""
    for run in range(len(nodes.run_label)):
        label = nodes.run_label[run]
        wanted[label] = 1
        for i in range(needs.offsets[label], needs.offsets[label + 1]):
            some = np.uint64(0)
            for w in range(LINE):
                some |= masks[needs.ids[i], w]
            if some == np.uint64(0):
                wanted[label] = 0
                break


@kernel
def match_block(
    outputs: Outputs, masks: Words, everyone: Words, values: Words, few: int
) -> BddMatches:
    """Find the subscriptions that the events of a block match.

    Args:
        outputs: The roots.
        masks: By predicate, the events for which it is true.
        everyone: The set of all events of the block.
        values: By node, its row.
        few: Up to this many events of a subscription are returned as pairs, more as a mask.
    """
    event, code = np.empty(1024, np.int32), np.empty(1024, np.int32)
    tile_code, tile_masks = np.empty(128, np.int32), np.empty(128 * LINE, np.uint64)
    pairs, tiles = 0, 0
    adequate = np.empty(LINE, np.uint64)
    row = np.empty(LINE, np.uint64)
    for run in range(len(outputs.run_needs)):
        needs, key = outputs.needs, outputs.run_needs[run]
        adequate[:] = everyone
        for i in range(needs.offsets[key], needs.offsets[key + 1]):
            adequate &= masks[needs.ids[i]]
        if not adequate.any():
            continue
        for i in range(outputs.run_begin[run], outputs.run_begin[run + 1]):
            edge = outputs.edge[i]
            if edge < 0:
                continue
            root, flip = edge >> 1, _FLIP[edge & 1]
            bits = 0
            for w in range(LINE):
                word = (values[root, w] ^ flip) & adequate[w]
                row[w] = word
                bits += popcount(word)
            if bits == 0:
                continue
            if bits > few:
                if tiles == len(tile_code):
                    tile_code, tile_masks = grow_array(tile_code), grow_array(tile_masks)
                tile_code[tiles] = outputs.code[i]
                tile_masks[LINE * tiles : LINE * (tiles + 1)] = row
                tiles += 1
                continue
            if pairs + bits > len(event):
                event, code = grow_array(event), grow_array(code)
            for w in range(LINE):
                word = row[w]
                while word != np.uint64(0):
                    event[pairs] = 64 * w + trailing_zeros(word)
                    code[pairs] = outputs.code[i]
                    pairs += 1
                    word &= word - np.uint64(1)
    return BddMatches(event[:pairs], code[:pairs], tile_code[:tiles], tile_masks[: LINE * tiles])


@kernel
def move_bits(masks: Words, places: Longs, moved: Words) -> None:
    """Move the bit of event e to places[e], in every row; `moved` must be zeros."""
    for row in range(len(masks)):
        for w in range(masks.shape[1]):
            word = masks[row, w]
            while word != np.uint64(0):
                place = places[64 * w + trailing_zeros(word)]
                moved[row, place >> 6] |= np.uint64(1) << np.uint64(place & 63)
                word &= word - np.uint64(1)
