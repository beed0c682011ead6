"""From events to matches: selects the kernels and their input.

Under `strict` an event that lacks an attribute cannot match a subscription that uses it, so all
nodes of that attribute are skipped: MVEvalBDD (Figure 5). In blocks this requires events that lack
the same attributes, so events are sorted by the attributes they have.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.engines.bdd.layout import Layout
from tamis.engines.bdd.roots import Roots
from tamis.engines.bdd.scratch import DiagramScratch
from tamis.events.batch import EventBatch
from tamis.kernels.bdd.block import (
    EVENTS,
    LINE,
    BddMatches,
    Words,
    eval_block,
    mark_defined,
    match_block,
    move_bits,
)
from tamis.kernels.bdd.eval import Needs
from tamis.kernels.bdd.outputs import match_events
from tamis.matches import Matches, Tiles
from tamis.predicates import PredicateIndex

Longs = NDArray[np.int64]

# Words of masks computed at a time, over all predicates: 32 MB.
_MAX_WORDS = 1 << 22
_MOST_EVENTS = 16 * EVENTS
# A mask takes 80 bytes, a pair 16: up to this many pairs take less memory.
_MAX_PAIRS = 4
_NO_NEEDS = Needs(np.zeros(1, np.int64), np.zeros(0, np.int32))


def match_one_by_one(
    scratch: DiagramScratch,
    layout: Layout,
    roots: Roots,
    index: PredicateIndex,
    batch: EventBatch,
    needs: Needs | None,
) -> Matches:
    """Run EvalBDD for each event; given the needs of variables, run MVEvalBDD."""
    value = scratch.bytes(len(layout.nodes.low))
    alpha = np.empty(index.capacity, np.uint8)
    satisfied = index.satisfied_predicates(batch)
    codes, ends = match_events(
        layout.nodes, layout.outputs, needs or _NO_NEEDS, *satisfied, alpha, value
    )
    event = np.repeat(np.arange(len(batch)), np.diff(ends, prepend=0))
    return _matches(roots, len(batch), [event], [codes], [])


def match_block_by_block(
    scratch: DiagramScratch,
    layout: Layout,
    roots: Roots,
    index: PredicateIndex,
    batch: EventBatch,
    needs: Needs | None,
) -> Matches:
    """Run the same algorithms for 512 events at a time."""
    nodes, outputs = layout.nodes, layout.outputs
    values = scratch.lines(len(nodes.low))
    defined = np.ones(index.capacity, np.uint8)
    size = max(
        EVENTS, min(_MOST_EVENTS, _MAX_WORDS // max(1, index.capacity) * 64 // EVENTS * EVENTS)
    )
    events: list[Longs] = []
    codes: list[NDArray[np.int32]] = []
    tiles: list[Tiles] = []
    for begin in range(0, len(batch), size):
        piece = batch.slice(begin, size)
        masks, order = index.masks(piece), None
        if needs is not None:
            masks, order = _sort_by_presence(masks, len(piece), roots.presence_predicates())
        for first in range(0, len(piece), EVENTS):
            block = _block(masks, first)
            if needs is not None:
                mark_defined(nodes, needs, block, defined)
            eval_block(nodes, block, defined, values)
            all_events = _first_events(min(EVENTS, len(piece) - first))
            max_pairs = _MAX_PAIRS if order is None else EVENTS
            matches = match_block(outputs, block, all_events, values, max_pairs)
            _collect(matches, begin, first, order, _BatchResults(events, codes, tiles))
    return _matches(roots, len(batch), events, codes, tiles)


class _BatchResults(NamedTuple):
    events: list[Longs]
    codes: list[NDArray[np.int32]]
    tiles: list[Tiles]


def _collect(
    matches: BddMatches, begin: int, first: int, order: Longs | None, results: _BatchResults
) -> None:
    if len(matches.code):
        event = first + matches.event.astype(np.int64)
        results.events.append(begin + (event if order is None else order[event]))
        results.codes.append(matches.code)
    if len(matches.tile_code):
        results.tiles.append(
            Tiles(
                np.full(len(matches.tile_code), begin + first, np.int64),
                matches.tile_code.astype(np.int64),
                matches.tile_masks.reshape(-1, LINE),
            )
        )


def _sort_by_presence(masks: Words, events: int, needed: list[int]) -> tuple[Words, Longs | None]:
    """Sort the events of masks by the attributes they have; return masks and the order."""
    if not needed:
        return masks, None
    bits = np.unpackbits(masks[needed].view(np.uint8), axis=1, bitorder="little")[:, :events]
    order = np.lexsort(np.packbits(bits, axis=0))
    if (order == np.arange(events)).all():
        return masks, None
    places = np.empty(events, np.int64)
    places[order] = np.arange(events)
    moved = np.zeros_like(masks)
    move_bits(masks, places, moved)
    return moved, order


def _block(masks: Words, first: int) -> Words:
    """Return the masks of one block, padded to its width."""
    word = first // 64
    block = masks[:, word : word + LINE]
    if block.shape[1] == LINE:
        return np.ascontiguousarray(block)
    filled = np.zeros((len(masks), LINE), np.uint64)
    filled[:, : block.shape[1]] = block
    return filled


def _first_events(count: int) -> Words:
    bits = np.zeros(EVENTS, np.uint8)
    bits[:count] = 1
    return np.packbits(bits, bitorder="little").view(np.uint64)


def _matches(
    roots: Roots,
    events: int,
    event: list[Longs],
    code: list[NDArray[np.int32]],
    tiles: list[Tiles],
) -> Matches:
    pairs = np.concatenate([*code, np.zeros(0, np.int32)])
    tiled = np.concatenate([*(tile.code for tile in tiles), np.zeros(0, np.int64)])
    seen = np.zeros(len(roots.edges), np.bool_)
    seen[pairs] = True
    seen[tiled] = True
    matched = np.flatnonzero(seen)
    places = np.cumsum(seen) - 1
    ids, priorities = roots.ids_and_priorities(matched)
    joined = None
    if tiles:
        first = np.concatenate([tile.first for tile in tiles])
        joined = Tiles(first, places[tiled], np.concatenate([tile.masks for tile in tiles]))
    where = np.concatenate([*event, np.zeros(0, np.int64)])
    return Matches(events, where, places[pairs], ids, priorities, joined)
