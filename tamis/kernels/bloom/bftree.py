"""The bftree (DEBS 2008, §4.4): a branch is a filter in h parts, one part per node.

Children are sorted by the lowest bit of their part, which is their key. A part without bits has the
key -1 and is contained in every event. So all children whose lowest bit the event lacks are skipped
at once, and only the others are compared.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.bloom.places import Words, words_of
from tamis.kernels.bloom.trie import (
    ADDRESS,
    BITS,
    BITS_CLASS,
    ENTRY,
    LENGTH,
    NEXT,
    ROOT,
    SIZE,
    START,
    Ints,
    Trie,
    add_child,
    class_of,
    has_room,
    lower_bound,
    make_node,
    take_block,
)
from tamis.kernels.decorator import kernel
from tamis.kernels.growth import grow_array

Offsets = NDArray[np.int64]


@kernel
def child_with(trie: Trie, node: Any, part: Ints) -> tuple[int, int]:
    """Return the child with exactly these bits, or -1; and where its key belongs in the pool."""
    nodes, keys, links = trie.nodes, trie.keys, trie.links
    key = np.int64(part[0]) if len(part) else np.int64(-1)
    start = nodes[node, START]
    end = start + nodes[node, SIZE]
    first = lower_bound(keys, start, end, key)
    place = first
    while place < end and keys[place] == key:
        child = links[place]
        if nodes[child, LENGTH] == len(part):
            same, begin = True, nodes[child, BITS]
            for i in range(len(part)):
                same = same and keys[begin + i] == part[i]
            if same:
                return child, first
        place += 1
    return -1, first


@kernel
def bftree_insert(trie: Trie, bits: Ints, bounds: Offsets) -> int:
    """Insert the branch of a filter; return its last node, or -1 if there is no room.

    `bounds` has h + 1 places in `bits`: where each part begins, and the end.
    """
    parts = len(bounds) - 1
    # The block of a part is shorter than twice its length, or one.
    if not has_room(trie, parts, 2 * len(bits) + 2 * parts):
        return -1
    nodes, keys = trie.nodes, trie.keys
    node = ROOT
    for i in range(parts):
        part = bits[bounds[i] : bounds[i + 1]]
        child, place = child_with(trie, node, part)
        if child < 0:
            child = make_node(trie, node, np.int64(part[0]) if len(part) else np.int64(-1))
            if len(part):
                size_class = class_of(len(part))
                begin = take_block(trie, size_class)
                for j in range(len(part)):
                    keys[begin + j] = part[j]
                nodes[child, BITS] = begin
                nodes[child, LENGTH] = len(part)
                nodes[child, BITS_CLASS] = size_class
            add_child(trie, node, place, child)
        node = child
    return node


@kernel
def bftree_find(trie: Trie, bits: Ints, bounds: Offsets) -> int:
    """Return the last node of the branch of a filter; -1 if there is none."""
    node: Any = np.int64(ROOT)
    for i in range(len(bounds) - 1):
        child, _ = child_with(trie, node, bits[bounds[i] : bounds[i + 1]])
        if child < 0:
            return -1
        node = np.int64(child)
    return node


@kernel
def has_part(trie: Trie, node: int, words: Words) -> bool:
    """Return whether an event has all bits of the part of a node (Equation 6)."""
    begin = trie.nodes[node, BITS]
    for i in range(begin, begin + trie.nodes[node, LENGTH]):
        bit = np.int64(trie.keys[i])
        if not words[bit >> 6] >> np.uint64(bit & 63) & np.uint64(1):
            return False
    return True


@kernel
def bftree_publish(
    trie: Trie,
    offsets: Offsets,
    bits: Ints,
    words: Words,
    addresses: int,
    live: int,
    sources: Ints,
) -> tuple[Offsets, Ints, int]:
    """Find the addresses of the branches that each event's filter contains, each once.

    The arguments are those of `sbstree_publish`. The filter of an event need not be split into
    parts, as those of the nodes are.
    """
    nodes, keys, links, entries = trie.nodes, trie.keys, trie.links, trie.entries
    begins = np.zeros(len(offsets), np.int64)
    out, found = np.empty(64, np.int32), 0
    seen = np.full(addresses, -1, np.int32)
    pending = np.empty(64, np.int32)
    visited = 0
    for event in range(len(offsets) - 1):
        first, last = offsets[event], offsets[event + 1]
        words_of(bits[first:last], words)
        pending[0] = ROOT
        waiting = 1
        enough = found + live
        if sources[event] >= 0:
            seen[sources[event]] = event
            enough -= 1
        while waiting and found < enough:
            waiting -= 1
            node = pending[waiting]
            visited += 1
            entry = nodes[node, ENTRY]
            while entry >= 0:
                address = entries[entry, ADDRESS]
                if seen[address] != event:
                    seen[address] = event
                    if found == len(out):
                        out = grow_array(out)
                    out[found] = address
                    found += 1
                entry = entries[entry, NEXT]
            place = nodes[node, START]
            end = place + nodes[node, SIZE]
            at = first
            while place < end:
                key = np.int64(keys[place])
                if key >= 0:
                    # The event's next bit from here on; children below it are skipped.
                    at = lower_bound(bits, at, last, key)
                    if at == last:
                        break
                    if bits[at] != key:
                        place = lower_bound(keys, place, end, np.int64(bits[at]))
                        continue
                if has_part(trie, links[place], words):
                    if waiting == len(pending):
                        pending = grow_array(pending)
                    pending[waiting] = links[place]
                    waiting += 1
                place += 1
        for i in range(first, last):
            words[np.int64(bits[i]) >> 6] = 0
        begins[event + 1] = found
    return begins, out[:found], visited
