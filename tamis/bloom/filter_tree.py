"""What the bftree and the sbstree share: filters in a tree, addresses at the ends of branches."""

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
    """A node, as one looks at it from outside.

    Attributes:
        number: It is another's once this one is removed.
        parent: The number of the node above; None for the root.
        bits: The bits that stand there.
        addresses: The addresses that hang there.
    """

    number: int
    parent: int | None
    bits: tuple[int, ...]
    addresses: tuple[Hashable, ...]


class FilterTree(ABC):
    """A disjunction of conjunctions of bits: which filters does an event's filter have?

    One address may be inserted with many filters, and with one filter many times; it is then to be
    removed as many times. Several threads may publish at once, while none inserts or removes.

    Attributes:
        shape: The shape of all filters in it.
        visited: How many nodes all publishing has visited so far.
    """

    def __init__(self, shape: Shape) -> None:
        """Begin with a root alone."""
        self.shape = shape
        self.visited = 0
        self._addresses = Addresses()
        # By node and address: its entry, and how often it was inserted.
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
        """Store a subscription's filter, and where its events go.

        Raises:
            InputError: The filter is of another shape.
        """
        bits = self._bits(bloom)
        while (node := self._insert(bits)) < 0:
            self._make_room(len(bits))
        code = self._addresses.hold(address)
        found = self._entries.get((node, code))
        if found is None:
            self._entries[node, code] = [add_entry(self._trie, node, code), 1]
        else:
            found[1] += 1

    def remove(self, bloom: Bloom, address: Hashable) -> None:
        """Take back what was inserted, once.

        Raises:
            KeyError: It is not there.
            InputError: The filter is of another shape.
        """
        node = self._find(self._bits(bloom))
        code = self._addresses.find(address)
        found = None if node < 0 or code is None else self._entries.get((node, code))
        if found is None or code is None:
            raise KeyError((bloom, address))
        found[1] -= 1
        if not found[1]:
            del self._entries[node, code]
            drop_entry(self._trie, node, found[0])
        self._addresses.release(code)

    def publish(self, bloom: Bloom, source: Hashable = None) -> set[Hashable]:
        """The addresses of all filters that an event's filter has: its forward set.

        Args:
            bloom: The event's filter.
            source: An address that it came from, and so is not sent to.

        Raises:
            InputError: The filter is of another shape.
        """
        _, codes = self.publish_many(*self._flatten_filters([bloom]), [source])
        return {self._addresses[code] for code in codes.tolist()}

    def publish_each(
        self, filters: Sequence[Bloom], sources: Sequence[Hashable]
    ) -> list[set[Hashable]]:
        """The addresses of each of some filters, and not where it came from.

        Raises:
            InputError: A filter is of another shape.
        """
        begins, codes = self.publish_many(*self._flatten_filters(filters), sources)
        found = [self._addresses[code] for code in codes.tolist()]
        return [set(found[begin:end]) for begin, end in pairwise(begins.tolist())]

    # -- many at once -----------------------------------------------------------------------------

    def publish_many(
        self, offsets: Offsets, bits: Ints, sources: Sequence[Hashable] | None = None
    ) -> tuple[Offsets, Ints]:
        """The addresses of many events, by number.

        Args:
            offsets: Event e has the bits from offsets[e] up to offsets[e + 1], ascending.
            bits: See there.
            sources: The address that each event came from, and so is not sent to.

        Returns:
            Where each event's addresses begin, and the numbers of the addresses, each once.
        """
        words = np.zeros(self.shape.words, np.uint64)
        came = np.full(len(offsets) - 1, -1, np.int32)
        for event, source in enumerate(sources or ()):
            code = self._addresses.find(source)
            if code is not None:
                came[event] = code
        begins, codes, visited = self._publish(
            offsets, bits, words, self._addresses.capacity, len(self._addresses), came
        )
        self.visited += visited
        return begins, codes

    def address(self, code: int) -> Hashable:
        """The address of a number that `publish_many` gave, as long as nothing has changed."""
        return self._addresses[code]

    # -- introspection ----------------------------------------------------------------------------

    def __len__(self) -> int:
        """How many filters are in it, with their addresses; those inserted again count once."""
        return len(self._entries)

    @property
    def nodes(self) -> int:
        """How many nodes it has, the root among them."""
        return int(self._trie.header[LIVE])

    @property
    def nbytes(self) -> int:
        """The memory of its arrays, as far as they are used."""
        header = self._trie.header
        rows = FIELDS * int(header[NODES]) + ENTRY_FIELDS * int(header[ENTRIES])
        return 4 * (rows + 2 * int(header[POOL]))

    def walk(self) -> Iterator[TreeNode]:
        """All nodes, parents first, children ascending."""
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
        """The tree, as a Graphviz digraph."""
        return digraph(type(self).__name__.lower(), tree_lines(self))

    def _addresses_at(self, entry: int) -> Iterator[Hashable]:
        entries = self._trie.entries
        while entry >= 0:
            yield self._addresses[int(entries[entry, ADDRESS])]
            entry = int(entries[entry, NEXT])

    # -- parts ------------------------------------------------------------------------------------

    @abstractmethod
    def _insert(self, bits: Ints) -> int:
        """The node at the end of a branch, which is made; -1 if there is no room."""

    @abstractmethod
    def _find(self, bits: Ints) -> int:
        """The node at the end of a branch; -1 if there is none."""

    @abstractmethod
    def _publish(self, *asked: Any) -> tuple[Offsets, Ints, int]:
        """See the kernels."""

    def _bits(self, bloom: Bloom) -> Ints:
        return self._flatten_filters([bloom])[1]

    def _flatten_filters(self, filters: Sequence[Bloom]) -> tuple[Offsets, Ints]:
        """The bits of some filters, and where those of each begin."""
        for bloom in filters:
            if bloom.shape != self.shape:
                raise InputError(f"a filter of {bloom.shape} in a tree of {self.shape}")
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
