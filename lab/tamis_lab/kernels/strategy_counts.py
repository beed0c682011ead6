"""Events through a tree of brokers by each of the four strategies, and what is counted on the way.

*siena* sends an event over a link if somebody beyond it wants it, and so do the others. (Also if
somebody beyond has a selector that is too large to be taken apart.) *flooding* does so always.
*edge* does so also if a filter of all predicates claims that somebody beyond wants it; *covering*
if the filter of the broker at this end does, which has the predicates that stand in this broker's
tables, and claims it of an interest that stands in the table of this link.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.decorator import kernel
from tamis_lab.kernels.false_claims import Conjunctions, EventLists
from tamis_lab.kernels.overlay_tables import Demand
from tamis_lab.kernels.overlay_walk import BrokerTree, EventPath, ForwardingRule, clear_path, walk

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Words = NDArray[np.uint64]
Flags = NDArray[np.bool_]

FLOODING, SIENA, COVERING, EDGE = range(4)

# What is counted, by broker, by the lower end of a link, by number of hops or of messages.
UP, DOWN, WASTED_UP, WASTED_DOWN = range(4)
ARRIVED, DELIVERED, SENT = 4, 5, 6  # by hop; by hop; events by how many links they went over
EVALUATED, CHECKED, IN_VAIN, RECEIVED = 7, 8, 9, 10  # by broker
BYTES, FILTER_BYTES, EVENTS, MISSED = 11, 12, 13, 14  # in all, at place 0
COUNTED = 15


class RoutedEvents(NamedTuple):
    """Events.

    Attributes:
        source: Where each was published.
        bytes: How long it is.
        filter_bytes: How long its filter is.
        satisfied: By event, the predicates that hold.
        matched: By event, the interests that it satisfies.
        claimed: By event, the conjunctions that are claimed in vain.
    """

    source: Ints
    bytes: Ints
    filter_bytes: Ints
    satisfied: EventLists
    matched: EventLists
    claimed: EventLists


class CoveringTables(NamedTuple):
    """What the brokers' tables say, where covering keeps interests back: a bit per broker.

    Attributes:
        up: By interest, the links over which the parent was told it.
        down: By interest, the links over which the broker below was told it.
        predicates: By predicate, the brokers that have it.
        places: By predicate, its bits.
        bits: How many bits a filter has.
    """

    up: Words
    down: Words
    predicates: Words
    places: Ints
    bits: int


class BrokerNetwork(NamedTuple):
    """A network of brokers.

    Attributes:
        tree: The brokers.
        wants: Who wants what.
        parts: The conjunctions of interests.
        tables: What the tables say.
    """

    tree: BrokerTree
    wants: Demand
    parts: Conjunctions
    tables: CoveringTables


class Workspace(NamedTuple):
    """Room to work in.

    Attributes:
        wanted: By broker, how many subscribers get the event; zero.
        loose: By broker, whether a filter of all predicates claims that one does; False.
        here: By broker, whether its own filter claims that one does; False.
        subscribed: By broker, whether it has subscribers at all.
        exact_sums: By broker, how many of those before it want the event; zero at first.
        loose_sums: The same, of those that a filter of all predicates claims.
        up: Links that an event goes up in vain, by the filter of the broker below; False.
        down: The same, down; False.
        never: By link, False.
        wide_up: Links that siena sends every event up, as the broker below cannot tell.
        wide_down: The same, down.
        wide_here: Brokers that cannot tell what their own subscribers want.
        exact_up: Links that siena sends the event up; False.
        exact_down: The same, down; False.
        first: By bit of a filter, the first entry of a list of predicates that set it; -1.
        next: By entry, the next one.
        path: A way.
    """

    wanted: Ints
    loose: Flags
    here: Flags
    subscribed: Flags
    exact_sums: Longs
    loose_sums: Longs
    up: Flags
    down: Flags
    never: Flags
    wide_up: Flags
    wide_down: Flags
    wide_here: Flags
    exact_up: Flags
    exact_down: Flags
    first: Ints
    next: Ints
    path: EventPath


@kernel
def count_events(
    network: BrokerNetwork,
    events: RoutedEvents,
    begin: int,
    end: int,
    workspace: Workspace,
    strategies: Flags,
    out: Longs,
) -> None:
    """Send events through a network, and count.

    Args:
        network: The network.
        events: The events.
        begin: The first event to send.
        end: The one after the last.
        workspace: Room to work in.
        strategies: Which ones are wanted.
        out: By strategy, by what is counted, by place.
    """
    tree, wants, parts = network.tree, network.wants, network.parts
    matched, claimed = events.matched, events.claimed
    brokers = len(tree.parent)
    wanted, loose, way = workspace.wanted, workspace.loose, workspace.path
    for event in range(begin, end):
        source = events.source[event]
        for at in range(matched.start[event], matched.start[event + 1]):
            interest = matched.number[at]
            for place in range(wants.start[interest], wants.start[interest + 1]):
                wanted[wants.broker[place]] += wants.subscribers[place]
        vain = claimed.number[claimed.start[event] : claimed.start[event + 1]]
        for part in vain:
            interest = parts.interest[part]
            for place in range(wants.start[interest], wants.start[interest + 1]):
                loose[wants.broker[place]] = True
        for broker in range(brokers):
            is_wanted = wanted[broker] > 0
            workspace.exact_sums[broker + 1] = workspace.exact_sums[broker] + is_wanted
            workspace.loose_sums[broker + 1] = workspace.loose_sums[broker] + (
                is_wanted or loose[broker]
            )
        exact = ForwardingRule(workspace.exact_sums, workspace.never, workspace.never)
        # First what nobody can do without, as the others are held against it.
        count = walk(tree, exact, False, source, way)
        for link in way.link[1:count]:
            if link >= 0:
                workspace.exact_up[link] = True
            else:
                workspace.exact_down[-1 - link] = True
        if strategies[SIENA]:
            if workspace.wide_here.any():
                clear_path(way, count)
                wide = ForwardingRule(workspace.exact_sums, workspace.wide_up, workspace.wide_down)
                count = walk(tree, wide, False, source, way)
            _count_path(SIENA, events, event, count, workspace, out)
        clear_path(way, count)
        if strategies[FLOODING]:
            count = walk(tree, exact, True, source, way)
            _count_path(FLOODING, events, event, count, workspace, out)
            clear_path(way, count)
        if strategies[EDGE]:
            count = walk(
                tree,
                ForwardingRule(workspace.loose_sums, workspace.never, workspace.never),
                False,
                source,
                way,
            )
            _count_path(EDGE, events, event, count, workspace, out)
            clear_path(way, count)
        if strategies[COVERING]:
            if len(vain):
                _mark_false_claims(network, events.satisfied, event, vain, workspace)
            count = walk(
                tree,
                ForwardingRule(workspace.exact_sums, workspace.up, workspace.down),
                False,
                source,
                way,
            )
            _count_path(COVERING, events, event, count, workspace, out)
            clear_path(way, count)
            if len(vain):
                workspace.up[:] = False
                workspace.down[:] = False
                workspace.here[:] = False
        wanted[:] = 0
        loose[:] = False
        workspace.exact_up[:] = False
        workspace.exact_down[:] = False


@kernel
def _mark_false_claims(
    network: BrokerNetwork, satisfied: EventLists, event: Any, vain: Ints, workspace: Workspace
) -> None:
    """By link and broker, whether the filter that is made there claims something in vain."""
    tree, wants, parts, known = network
    entries = 0
    hashes = known.places.shape[1]
    begin, end = satisfied.start[event], satisfied.start[event + 1]
    for at in range(begin, end):
        for place in known.places[satisfied.number[at]]:
            workspace.next[entries] = workspace.first[place]
            workspace.first[place] = entries
            entries += 1
    words = known.up.shape[1]
    claims = np.empty(words, np.uint64)
    has_bit = np.empty(words, np.uint64)
    for part in vain:
        # The brokers whose own predicates, as far as they hold, have all bits of the conjunction.
        claims[:] = ~np.uint64(0)
        for predicate in parts.predicate[parts.start[part] : parts.start[part + 1]]:
            for place in known.places[predicate]:
                has_bit[:] = 0
                entry = workspace.first[place]
                while entry >= 0:
                    holder = known.predicates[satisfied.number[begin + entry // hashes]]
                    for word in range(words):
                        has_bit[word] |= holder[word]
                    entry = workspace.next[entry]
                for word in range(words):
                    claims[word] &= has_bit[word]
        interest = parts.interest[part]
        for broker in range(1, len(tree.parent)):
            # Over a link an event is sent by the other end than the one that told the interest.
            if _has_bit(known.up[interest], broker) and _has_bit(claims, tree.parent[broker]):
                workspace.down[broker] = True
            if _has_bit(known.down[interest], broker) and _has_bit(claims, broker):
                workspace.up[broker] = True
        for place in range(wants.start[interest], wants.start[interest + 1]):
            if _has_bit(claims, wants.broker[place]):
                workspace.here[wants.broker[place]] = True
    for at in range(begin, end):
        for place in known.places[satisfied.number[at]]:
            workspace.first[place] = -1


@kernel
def _count_path(
    strategy: int, events: RoutedEvents, event: Any, count: int, workspace: Workspace, out: Longs
) -> None:
    """Count what a way was like."""
    told = out[strategy]
    way = workspace.path
    told[EVENTS, 0] += 1
    told[SENT, count - 1] += 1
    told[BYTES, 0] += (count - 1) * np.int64(events.bytes[event])
    if strategy == EDGE:
        told[FILTER_BYTES, 0] += (count - 1) * np.int64(events.filter_bytes[event])
    for at in range(1, count):
        link = way.link[at]
        if link >= 0:
            told[UP, link] += 1
            told[WASTED_UP, link] += not workspace.exact_up[link]
        else:
            told[DOWN, -1 - link] += 1
            told[WASTED_DOWN, -1 - link] += not workspace.exact_down[-1 - link]
    for at in range(count):
        broker = way.broker[at]
        hop = way.hops[broker]
        got = workspace.wanted[broker]
        told[ARRIVED, hop] += 1
        if strategy == SIENA or strategy == COVERING or (strategy == EDGE and at == 0):
            told[EVALUATED, broker] += 1
        checked = got > 0
        if strategy == FLOODING:
            checked = workspace.subscribed[broker]
        elif strategy == SIENA:
            checked |= workspace.wide_here[broker]
        elif strategy == EDGE:
            checked |= workspace.loose[broker]
        elif strategy == COVERING:
            checked |= workspace.here[broker]
        if checked:
            told[CHECKED, broker] += 1
            told[IN_VAIN, broker] += got == 0
            told[RECEIVED, broker] += got
            told[DELIVERED, hop] += got


@kernel
def _has_bit(bits: Words, place: Any) -> bool:
    return bool(bits[place >> 6] >> np.uint64(place & 63) & np.uint64(1))
