"""The sbstree (DEBS 2008, §4.5): a branch is the bits of a filter, ascending, one bit per node.

An event matches all branches whose bits its filter has. From a node, the search continues to the
children whose bit the event has. Children are ascending, so all below the event's next bit and all
above its last are skipped at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.bloom.places import Words, words_of
from tamis.kernels.bloom.trie import (
    ADDRESS,
    ENTRY,
    KEY,
    NEXT,
    PARENT,
    ROOT,
    SIZE,
    START,
    Ints,
    Trie,
    add_child,
    has_room,
    lower_bound,
    make_node,
)
from tamis.kernels.decorator import kernel
from tamis.kernels.growth import grow_array

Offsets = NDArray[np.int64]


_SAMPLE = 16  # events that `sbstree_narrow` tries before it may give up


@kernel
def sbstree_insert(trie: Trie, bits: Ints) -> int:
    """Insert the branch of a filter; return its last node, or -1 if there is no room."""
    # New nodes form a chain, so each takes a block of one.
    if not has_room(trie, len(bits), len(bits)):
        return -1
    nodes, keys, links = trie.nodes, trie.keys, trie.links
    node = ROOT
    for i in range(len(bits)):
        bit = np.int64(bits[i])
        end = nodes[node, START] + nodes[node, SIZE]
        place = lower_bound(keys, nodes[node, START], end, bit)
        if nodes[node, SIZE] and place < end and keys[place] == bit:
            node = links[place]
        else:
            child = make_node(trie, node, bit)
            add_child(trie, node, place, child)
            node = child
    return node


@kernel
def sbstree_find(trie: Trie, bits: Ints) -> int:
    """Return the last node of the branch of a filter; -1 if there is none."""
    nodes, keys = trie.nodes, trie.keys
    node = ROOT
    for i in range(len(bits)):
        bit = np.int64(bits[i])
        end = nodes[node, START] + nodes[node, SIZE]
        place = lower_bound(keys, nodes[node, START], end, bit)
        if nodes[node, SIZE] == 0 or place == end or keys[place] != bit:
            return -1
        node = trie.links[place]
    return node


class KeptBits(NamedTuple):
    """The bits of all branches that an event's filter has.

    Attributes:
        words: Zeros, one bit for each of a filter; the bits of the branches found become ones.
        most: The number of visited nodes after which the search is given up.
    """

    words: Words
    most: int


@kernel
def sbstree_publish(
    trie: Trie,
    offsets: Offsets,
    bits: Ints,
    words: Words,
    addresses: int,
    live: int,
    sources: Ints,
    kept: KeptBits,
) -> tuple[Offsets, Ints, int]:
    """Find the addresses of the branches that each event's filter contains, each once.

    Args:
        trie: The tree.
        offsets: Event e has the bits from offsets[e] up to offsets[e + 1], ascending.
        bits: The bits of all events.
        words: Zeros, one bit for each of a filter.
        addresses: One more than the highest address.
        live: How many addresses are in the tree: once all are found, the search ends.
        sources: By event, the address that it is not sent to; -1 for none.
        kept: The bits of the branches found, for a call with one event; without words, they are
            not collected.

    Returns:
        By event where its addresses begin, the addresses, and how many nodes were visited.
    """
    nodes, keys, links, entries = trie.nodes, trie.keys, trie.links, trie.entries
    kept_words, most = kept.words, kept.most
    begins = np.zeros(len(offsets), np.int64)
    out, found = np.empty(64, np.int32), 0
    seen = np.full(addresses, -1, np.int32)
    # The path: per node, the next child to visit, the end of its children, the event's next bit.
    pending = np.empty(96, np.int32)
    visited = 0
    for event in range(len(offsets) - 1):
        first, last = offsets[event], offsets[event + 1]
        words_of(bits[first:last], words)
        highest = np.int64(bits[last - 1]) if last > first else np.int64(-1)
        source = sources[event]
        enough: Any = found + live
        if source >= 0:
            seen[source] = event
            enough -= 1
        if len(kept_words):
            enough = np.int64(1) << 40  # all branches, not only one of each address
        waiting = 0
        node, at = np.int64(ROOT), first
        while found < enough:
            if node >= 0:  # a new node: collect its addresses, and find its first child
                visited += 1
                if visited > most and len(kept_words):
                    break
                entry = nodes[node, ENTRY]
                while entry >= 0:
                    address = entries[entry, ADDRESS]
                    if seen[address] != event:
                        seen[address] = event
                        if found == len(out):
                            out = grow_array(out)
                        out[found] = address
                        found += 1
                    if len(kept_words) and address != source:
                        above = np.int64(node)
                        while above != ROOT:
                            key = np.int64(nodes[above, KEY])
                            kept_words[key >> 6] |= np.uint64(1) << np.uint64(key & 63)
                            above = np.int64(nodes[above, PARENT])
                    entry = entries[entry, NEXT]
                if at < last and nodes[node, SIZE]:
                    start = nodes[node, START]
                    end: Any = start + nodes[node, SIZE]
                    if waiting + 3 > len(pending):
                        pending = grow_array(pending)
                    pending[waiting] = lower_bound(keys, start, end, np.int64(bits[at]))
                    pending[waiting + 1] = end
                    pending[waiting + 2] = at - first
                    waiting += 3
                node = np.int64(-1)
                continue
            if not waiting:
                break
            place: Any = np.int64(pending[waiting - 3])
            end = np.int64(pending[waiting - 2])
            at = first + np.int64(pending[waiting - 1])
            bit = np.int64(-1)
            if end - place <= 8 * (last - at):
                # Few children: find the next one whose bit the event has.
                while place < end and keys[place] <= highest:
                    key = np.int64(keys[place])
                    if words[key >> 6] >> np.uint64(key & 63) & np.uint64(1):
                        bit = key
                        break
                    place += 1
                if bit >= 0:
                    while bits[at] < bit:
                        at += 1
            else:
                # Many children: find the event's next bit that is one of them.
                while at < last and place < end:
                    place = lower_bound(keys, place, end, np.int64(bits[at]))
                    if place < end and keys[place] == bits[at]:
                        bit = np.int64(bits[at])
                        break
                    at += 1
            if bit < 0:
                waiting -= 3
                continue
            # Descend at once: if all addresses are found there, its siblings are not visited.
            pending[waiting - 3] = place + 1
            pending[waiting - 1] = at + 1 - first
            node = np.int64(links[place])
            at += 1
        for i in range(first, last):
            words[np.int64(bits[i]) >> 6] = 0
        begins[event + 1] = found
    return begins, out[:found], visited


@kernel
def sbstree_narrow(
    trie: Trie, offsets: Offsets, bits: Ints, words: Words, addresses: int, without: int, most: int
) -> tuple[Offsets, Ints]:
    """Keep of each event's bits those of the branches that it contains.

    Args:
        trie: The tree.
        offsets: Event e has the bits from offsets[e] up to offsets[e + 1], ascending.
        bits: The bits of all events.
        words: Zeros, one bit for each of a filter.
        addresses: One more than the highest address.
        without: The address whose branches do not count; -1 for none.
        most: An event that visits more nodes than this keeps all of its bits. If most of the first
            events do, the others keep all of their bits too, without a search.

    Returns:
        By event where its bits begin, and the bits, ascending.
    """
    vain = 0
    begins = np.zeros(len(offsets), np.int64)
    out, count = np.empty(len(bits), np.int32), 0
    kept = np.zeros(len(words), np.uint64)
    sources = np.full(1, without, np.int32)
    for event in range(len(offsets) - 1):
        first, last = offsets[event], offsets[event + 1]
        whole = event >= _SAMPLE and 2 * vain > _SAMPLE
        if not whole:
            mine = np.array([0, last - first])
            _, _, visited = sbstree_publish(
                trie, mine, bits[first:last], words, addresses, 0, sources, KeptBits(kept, most)
            )
            whole = visited > most
            vain += whole and event < _SAMPLE
        for i in range(first, last):
            bit = np.int64(bits[i])
            if whole or kept[bit >> 6] >> np.uint64(bit & 63) & np.uint64(1):
                out[count] = bits[i]
                count += 1
        for i in range(first, last):
            kept[np.int64(bits[i]) >> 6] = 0
        begins[event + 1] = count
    return begins, out[:count]
