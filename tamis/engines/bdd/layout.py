"""The diagram and its outputs, laid out for the kernels (paper §5, "BDD data structure").

Nodes of one variable are adjacent, from the bottom of the order to its top. Nodes added later are
appended, children first, in short runs; removed nodes leave holes. When a quarter of the nodes is
appended or removed, everything is laid out again. So alternating additions and matches take
amortized time proportional to what is added. Nodes added together, without a match in between, are
sorted too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from tamis.engines.bdd.diagram import Diagram
from tamis.engines.bdd.growable_array import GrowableArray
from tamis.engines.bdd.roots import Roots
from tamis.engines.bdd.variables import Variables
from tamis.kernels.bdd.eval import NodeArrays
from tamis.kernels.bdd.outputs import Outputs

_MIN_CHANGES = 1024  # this many nodes and outputs may always be out of order
_SORT_ABOVE = 64


class Layout:
    """The arrays that kernels take.

    Attributes:
        nodes: The diagram.
        outputs: The roots of the subscriptions.
        times: How often everything was laid out.
    """

    def __init__(self) -> None:
        """Create an empty layout, which the first `update` replaces."""
        self.times = 0
        self._size = 0  # nodes and outputs at the last full layout
        self._clear()

    def _clear(self) -> None:
        self._place = GrowableArray([0])  # by slot
        self._low, self._high = GrowableArray([0]), GrowableArray([0])
        self._labels, self._begins = GrowableArray(), GrowableArray([1])
        self._edges, self._codes = GrowableArray(), GrowableArray()
        self._keys, self._output_begins = GrowableArray(), GrowableArray([0])
        self._where: dict[int, int] = {}  # by subscription, its output

    def update(self, diagram: Diagram, variables: Variables, roots: Roots) -> None:
        """Update the arrays to match the diagram and the subscriptions."""
        late = len(self._low) + len(self._edges) - self._size
        loose = late + len(diagram.fresh) + diagram.gone + len(roots.fresh) + roots.gone
        if not self.times or loose > max(_MIN_CHANGES, (len(diagram) + len(roots)) // 4):
            self._clear()
            self._lay_out(diagram, variables)
            self._append_outputs(roots, roots.codes_by_needs())
            self._size = len(self._low) + len(self._edges)
            self.times += 1
            diagram.gone = roots.gone = 0
        else:
            self._append(diagram, variables)
            self._withdraw(roots)
            self._append_outputs(roots, sorted(roots.fresh, key=roots.keys.__getitem__))
        diagram.fresh.clear()
        roots.clear_changes()
        self.nodes = NodeArrays(
            self._low.array, self._high.array, self._labels.array, self._begins.array
        )
        self.outputs = Outputs(
            self._edges.array,
            self._codes.array,
            self._keys.array,
            self._output_begins.array,
            roots.needs(),
        )

    # -- nodes ------------------------------------------------------------------------------------

    def _lay_out(self, diagram: Diagram, variables: Variables) -> None:
        slots = np.fromiter(diagram.alive_slots(), np.int64, len(diagram))
        label = np.array(diagram.label, np.int32)
        levels = np.array(variables.levels(), np.int32)
        slots = slots[np.argsort(-levels[label[slots]], kind="stable")] if len(slots) else slots
        place = np.zeros(diagram.slots, np.int32)
        place[slots] = np.arange(1, len(slots) + 1)
        self._place = GrowableArray(place)
        for edges, sorted_edges in ((diagram.low, self._low), (diagram.high, self._high)):
            edge = np.array(edges, np.int32)[slots]
            sorted_edges.extend(2 * place[edge >> 1] + (edge & 1))
        label = label[slots]
        last = np.flatnonzero(np.diff(label, append=-1))
        predicate = np.array(variables.predicate, np.int32)
        self._labels.extend(predicate[label[last]] if len(last) else [])
        self._begins.extend((last + 2).astype(np.int32))

    def _append(self, diagram: Diagram, variables: Variables) -> None:
        place = self._place
        low: list[int] = []
        high: list[int] = []
        labels = []
        begin = len(self._low)
        slots = list(diagram.fresh)
        if len(slots) > _SORT_ABOVE:  # nodes added together are sorted, for longer runs
            levels = variables.levels()
            slots.sort(key=lambda slot: -levels[diagram.label[slot]])
        for number, slot in enumerate(slots):
            place.put(slot, begin + number, 0)
            places = place.array
            for edges, target in ((diagram.low, low), (diagram.high, high)):
                edge = edges[slot]
                target.append(2 * int(places[edge >> 1]) + (edge & 1))
            labels.append(variables.predicate[diagram.label[slot]])
        self._low.extend(low)
        self._high.extend(high)
        for label, run in groupby(labels):
            begin += len(list(run))
            self._labels.extend([label])
            self._begins.extend([begin])

    # -- outputs ----------------------------------------------------------------------------------

    def _withdraw(self, roots: Roots) -> None:
        for code in roots.withdrawn:
            output = self._where.pop(code, None)
            if output is not None:
                self._edges.put(output, -1, -1)

    def _append_outputs(self, roots: Roots, codes: Sequence[int]) -> None:
        """Append outputs, in runs of those that need the same attributes."""
        first = len(self._edges)
        slot_edges = np.array([roots.edges[code] for code in codes], np.int32)
        self._edges.extend(2 * self._place.array[slot_edges >> 1] + (slot_edges & 1))
        self._codes.extend(codes)
        self._where.update(zip(codes, range(first, first + len(codes)), strict=True))
        end = first
        for key, run in groupby(codes, key=roots.keys.__getitem__):
            end += len(list(run))
            self._keys.extend([key])
            self._output_begins.extend([end])
