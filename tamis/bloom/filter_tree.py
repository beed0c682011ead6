"""The common part of bftree and sbstree: filters in a tree, addresses at the ends of branches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.bloom.addresses import Addresses
from tamis.bloom.filter import Bloom
from tamis.bloom.hashing import Shape
from tamis.bloom.pictures import digraph, tree_lines
from tamis.errors import InputError
from tamis.kernels.bloom.trie import (
    ADDRESS,
    BITS,
    ENTRIES,
    ENTRY,
    ENTRY_FIELDS,
    FIELDS,
    HEADER,
    KEY,
    LENGTH,
    LIVE,
    NEXT,
    NODES,
    POOL,
    ROOT,
    SIZE,
    START,
    Ints,
    Trie,
    add_entry,
    begin,
    drop_entry,
)

Offsets = npt.NDArray[np.int64]
_NO_BITS = np.zeros(0, np.int32)


class TreeNode(NamedTuple):
    """A node, for inspection.

    Attributes:
        number: Its number, which is reused after the node is removed.
        parent: The number of the parent; None for the root.
        bits: The bits of the node.
        addresses: The addresses at the node.
    """

    number: int
    parent: int | None
    bits: tuple[int, ...]
    addresses: tuple[Hashable, ...]


class FilterTree(ABC):
    """A disjunction of conjunctions of bits: finds the filters that an event's filter contains.

    One address may be inserted with many filters, and several times with one filter; it must then
    be removed as many times. Several threads may publish at once, while none inserts or removes.

    Attributes:
        shape: The shape of all filters.
        visited: How many nodes all publish calls have visited so far.
    """

    def __init__(self, shape: Shape) -> None:
        """Create a tree with only a root."""
        self.shape = shape
        self.visited = 0
        self._addresses = Addresses()
        # By node and address: the entry, and how often it was inserted.
        self._entries: dict[tuple[int, int], list[int]] = {}
        self._trie = Trie(
            np.zeros(HEADER, np.int64),
            np.empty((64, FIELDS), np.int32),
            np.empty(256, np.int32),
            np.empty(256, np.int32),
            np.empty((16, ENTRY_FIELDS), np.int32),
        )
        begin(self._trie)

    # -- Listing 2 --------------------------------------------------------------------------------

    def insert(self, bloom: Bloom, address: Hashable) -> None:
        """Store a subscription's filter, and the address that its events go to.

        Raises:
            InputError: The filter has another shape.
        """
        bits = self._bits(bloom)
        while (node := self._insert(bits)) < 0:
            self._make_room(len(bits))
        code = self._addresses.hold(address)
        entry = self._entries.get((node, code))
        if entry is None:
            self._entries[node, code] = [add_entry(self._trie, node, code), 1]
        else:
            entry[1] += 1

    def remove(self, bloom: Bloom, address: Hashable) -> None:
        """Undo one insertion.

        Raises:
            KeyError: The filter was not inserted with this address.
            InputError: The filter has another shape.
        """
        node = self._find(self._bits(bloom))
        code = self._addresses.find(address)
        entry = None if node < 0 or code is None else self._entries.get((node, code))
        if entry is None or code is None:
            raise KeyError((bloom, address))
        entry[1] -= 1
        if not entry[1]:
            del self._entries[node, code]
            drop_entry(self._trie, node, entry[0])
        self._addresses.release(code)

    def publish(self, bloom: Bloom, source: Hashable = None) -> set[Hashable]:
        """Return the forward set: the addresses of all filters that an event's filter contains.

        Args:
            bloom: The event's filter.
            source: The address that the event came from, which is excluded.

        Raises:
            InputError: The filter has another shape.
        """
        _, codes = self.publish_many(*self._flatten_filters([bloom]), [source])
        return {self._addresses[code] for code in codes.tolist()}

    def publish_each(
        self, filters: Sequence[Bloom], sources: Sequence[Hashable]
    ) -> list[set[Hashable]]:
        """Return the forward set of each filter, without its source.

        Raises:
            InputError: A filter has another shape.
        """
        begins, codes = self.publish_many(*self._flatten_filters(filters), sources)
        addresses = [self._addresses[code] for code in codes.tolist()]
        return [set(addresses[begin:end]) for begin, end in pairwise(begins.tolist())]

    # -- batches ----------------------------------------------------------------------------------

    def publish_many(
        self, offsets: Offsets, bits: Ints, sources: Sequence[Hashable] | None = None
    ) -> tuple[Offsets, Ints]:
        """Return the addresses of many events, by number.

        Args:
            offsets: Event e has the bits from offsets[e] up to offsets[e + 1], ascending.
            bits: The bits of all events.
            sources: The address that each event came from, which is excluded.

        Returns:
            The offsets of each event's addresses, and the numbers of the addresses, each once.
        """
        words = np.zeros(self.shape.words, np.uint64)
        excluded = np.full(len(offsets) - 1, -1, np.int32)
        for event, source in enumerate(sources or ()):
            code = self._addresses.find(source)
            if code is not None:
                excluded[event] = code
        begins, codes, visited = self._publish(
            offsets, bits, words, self._addresses.capacity, len(self._addresses), excluded
        )
        self.visited += visited
        return begins, codes

    def address(self, code: int) -> Hashable:
        """Return the address for a number from `publish_many`; valid until the tree changes."""
        return self._addresses[code]

    # -- introspection ----------------------------------------------------------------------------

    def __len__(self) -> int:
        """Return the number of filters with their addresses; repeated insertions count once."""
        return len(self._entries)

    @property
    def nodes(self) -> int:
        """The number of nodes, including the root."""
        return int(self._trie.header[LIVE])

    @property
    def nbytes(self) -> int:
        """The memory of the used parts of its arrays."""
        header = self._trie.header
        rows = FIELDS * int(header[NODES]) + ENTRY_FIELDS * int(header[ENTRIES])
        return 4 * (rows + 2 * int(header[POOL]))

    def walk(self) -> Iterator[TreeNode]:
        """Iterate over all nodes, parents first, children ascending."""
        nodes, links, keys = self._trie.nodes, self._trie.links, self._trie.keys
        pending: list[tuple[int, int | None]] = [(ROOT, None)]
        while pending:
            number, parent = pending.pop()
            row = nodes[number].tolist()
            if row[BITS] >= 0:
                bits = tuple(keys[row[BITS] : row[BITS] + row[LENGTH]].tolist())
            else:
                bits = (row[KEY],) if row[KEY] >= 0 else ()
            yield TreeNode(number, parent, bits, tuple(self._addresses_at(row[ENTRY])))
            children = links[row[START] : row[START] + row[SIZE]].tolist() if row[SIZE] else []
            pending += [(child, number) for child in reversed(children)]

    def to_dot(self) -> str:
        """Return the tree as a Graphviz digraph."""
        return digraph(type(self).__name__.lower(), tree_lines(self))

    def _addresses_at(self, entry: int) -> Iterator[Hashable]:
        entries = self._trie.entries
        while entry >= 0:
            yield self._addresses[int(entries[entry, ADDRESS])]
            entry = int(entries[entry, NEXT])

    # -- internals --------------------------------------------------------------------------------

    @abstractmethod
    def _insert(self, bits: Ints) -> int:
        """Create a branch and return the node at its end; -1 if there is no room."""

    @abstractmethod
    def _find(self, bits: Ints) -> int:
        """Return the node at the end of a branch; -1 if there is none."""

    @abstractmethod
    def _publish(self, *arguments: Any) -> tuple[Offsets, Ints, int]:
        """Run the kernel; see there."""

    def _bits(self, bloom: Bloom) -> Ints:
        return self._flatten_filters([bloom])[1]

    def _flatten_filters(self, filters: Sequence[Bloom]) -> tuple[Offsets, Ints]:
        """Return the offsets of the bits of some filters, and the bits."""
        for bloom in filters:
            if bloom.shape != self.shape:
                raise InputError(f"the filter has {bloom.shape}, but the tree has {self.shape}")
        places = [bloom.places for bloom in filters]
        offsets = np.array([0, *accumulate(map(len, places))])
        return offsets, np.concatenate([_NO_BITS, *places], dtype=np.int32, casting="same_kind")

    def _make_room(self, bits: int) -> None:
        header, nodes, keys, links, entries = self._trie
        pool = 2 * len(keys) + 4 * bits + 64
        self._trie = Trie(
            header,
            _enlarge(nodes, 2 * len(nodes) + bits + 64),
            _enlarge(keys, pool),
            _enlarge(links, pool),
            _enlarge(entries, 2 * len(entries)),
        )


def _enlarge(array: Ints, size: int) -> Ints:
    longer = np.empty((size, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
