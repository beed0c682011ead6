"""Send events through networks of brokers, in batches, with all strategies and filter shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.bloom.hashing import Shape
from tamis.matches import Matches
from tamis_lab.kernels.false_claims import EventLists, Marks, false_claims
from tamis_lab.kernels.overlay_tables import Demand
from tamis_lab.kernels.overlay_walk import BrokerTree as Links
from tamis_lab.kernels.overlay_walk import EventPath
from tamis_lab.kernels.strategy_counts import (
    COUNTED,
    COVERING,
    EDGE,
    FLOODING,
    MISSED,
    SIENA,
    BrokerNetwork,
    CoveringTables,
    RoutedEvents,
    Workspace,
    count_events,
)
from tamis_lab.simulation.job import link_tables
from tamis_lab.simulation.job.filter_layout import layout_of
from tamis_lab.simulation.job.interests import Interests
from tamis_lab.simulation.topology import OverlayTree

Ints = npt.NDArray[np.int32]

# The numbers by which kernels know the strategies.
STRATEGIES = {"flooding": FLOODING, "siena": SIENA, "covering": COVERING, "edge": EDGE}
FILTERED = ("covering", "edge")  # strategies that depend on the filter shape

# Capacity for conjunctions with false positives; at least enough for one event.
_CLAIMS = 1 << 20


class PublishedEvents(NamedTuple):
    """Events to send.

    Attributes:
        source: The broker at which each was published.
        bytes: The size of each.
        matches: The interests and, numbered after them, the predicates that each satisfies.
    """

    source: Ints
    bytes: Ints
    matches: Matches


class Walker:
    """Networks with one set of interests, and counters of everything that happens in them.

    Attributes:
        counted: By network and shape: arrays by strategy, counter and place.
    """

    def __init__(
        self,
        interests: Interests,
        wants: Demand,
        networks: Mapping[str, tuple[OverlayTree, link_tables.NetworkTables]],
        shapes: Sequence[Shape],
        strategies: Sequence[str],
    ) -> None:
        """Start with no events sent.

        Args:
            interests: The interests.
            wants: The brokers that want them.
            networks: The brokers and their tables, by name.
            shapes: Filter shapes; strategies without filters use the first one only.
            strategies: Some of `STRATEGIES`.
        """
        self._interests, self._wants, self._networks = interests, wants, networks
        self._layouts = [(shape, layout_of(interests.keys, shape)) for shape in shapes]
        self._strategies = strategies
        self._rooms = {
            (name, shape): _workspace(interests, wants, tree, known, shape)
            for name, (tree, known) in networks.items()
            for shape in shapes
        }
        self._claims = np.empty(max(_CLAIMS, len(interests.parts.interest)), np.int32)
        self._marks = {shape: _marks(interests, shape) for shape in shapes}
        self.counted = {
            (name, shape): np.zeros((len(STRATEGIES), COUNTED, tree.brokers), np.int64)
            for name, (tree, _) in networks.items()
            for shape in shapes
        }

    def send(self, published: PublishedEvents) -> None:
        """Send events through all networks."""
        events = len(published.source)
        matched, satisfied = _match_lists(published.matches, len(self._interests.texts), events)
        for number, (shape, layout) in enumerate(self._layouts):
            asked = [s for s in self._strategies if not number or s in FILTERED]
            wanted = np.zeros(len(STRATEGIES), np.bool_)
            wanted[[STRATEGIES[strategy] for strategy in asked]] = True
            claimed = EventLists(np.zeros(events + 1, np.int64), self._claims)
            sizes = np.zeros(events, np.int32)
            going = RoutedEvents(
                published.source, published.bytes, sizes, satisfied, matched, claimed
            )  # fmt: skip
            begin = 0
            while begin < events:
                end = false_claims(
                    layout,
                    self._interests.parts,
                    satisfied,
                    matched,
                    begin,
                    self._marks[shape],
                    claimed,
                    sizes,
                )
                for name, (tree, known) in self._networks.items():
                    overlay = BrokerNetwork(
                        Links(*tree),
                        self._wants,
                        self._interests.parts,
                        CoveringTables(*known[:3], layout.places, shape.m),
                    )
                    count_events(
                        overlay,
                        going,
                        begin,
                        end,
                        self._workspace_for(name, shape, satisfied),
                        wanted,
                        self.counted[name, shape],
                    )
                begin = end
            for name in self._networks:
                counted = self.counted[name, shape]
                for strategy in set(asked) & set(FILTERED):
                    counted[STRATEGIES[strategy], MISSED, 0] = self._marks[shape].missed[0]

    def _workspace_for(self, name: str, shape: Shape, satisfied: EventLists) -> Workspace:
        """Return a workspace that is large enough for the event with most bits."""
        room = self._rooms[name, shape]
        most = int(np.diff(satisfied.start).max(initial=0)) * shape.k
        if len(room.next) < most:
            room = self._rooms[name, shape] = room._replace(next=np.empty(most, np.int32))
        return room


def _match_lists(matches: Matches, interests: int, events: int) -> tuple[EventLists, EventLists]:
    """Return, by event, the interests and the predicates that it satisfies."""
    event, number = matches.event, np.asarray(matches.subscription, np.int64)
    is_interest = number < interests
    return tuple(  # type: ignore[return-value]
        EventLists(
            np.concatenate([[0], np.cumsum(np.bincount(event[mine], minlength=events))]),
            (number[mine] - first).astype(np.int32),
        )
        for mine, first in ((is_interest, 0), (~is_interest, interests))
    )


def _marks(interests: Interests, shape: Shape) -> Marks:
    parts, predicates = len(interests.parts.interest), len(interests.predicates)
    return Marks(
        np.zeros(shape.words, np.uint64),
        np.zeros(predicates, np.int64),
        np.zeros(len(interests.texts), np.int64),
        np.empty(predicates, np.int32),
        np.zeros(parts, np.int64),
        np.ones(1, np.int64),
        np.zeros(1, np.int64),
    )


def _workspace(
    interests: Interests,
    wants: Demand,
    tree: OverlayTree,
    known: link_tables.NetworkTables,
    shape: Shape,
) -> Workspace:
    brokers = tree.brokers
    flags = [np.zeros(brokers, np.bool_) for _ in range(11)]
    loose, here, subscribed, up, down, never, exact_up, exact_down, *wide = flags
    subscribed[wants.broker] = True
    wide_up, wide_down, wide_here = wide
    for interest in np.unique(interests.parts.interest[interests.parts.always]).tolist():
        # An event goes up where the broker below has sent the interest, and vice versa.
        wide_up |= _flags(known.down[interest], brokers)
        wide_down |= _flags(known.up[interest], brokers)
        wide_here[wants.broker[wants.start[interest] : wants.start[interest + 1]]] = True
    return Workspace(
        np.zeros(brokers, np.int32),
        loose,
        here,
        subscribed,
        np.zeros(brokers + 1, np.int64),
        np.zeros(brokers + 1, np.int64),
        up,
        down,
        never,
        wide_up,
        wide_down,
        wide_here,
        exact_up,
        exact_down,
        np.full(shape.m, -1, np.int32),
        np.empty(0, np.int32),
        EventPath(
            np.empty(brokers, np.int32),
            np.empty(brokers, np.int32),
            np.full(brokers, -1, np.int32),
        ),
    )


def _flags(words: npt.NDArray[np.uint64], brokers: int) -> npt.NDArray[np.bool_]:
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")
    return bits[:brokers].astype(np.bool_)
