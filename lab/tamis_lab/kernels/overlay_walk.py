"""One event on its way through a tree of brokers, hop by hop.

A link is named by the broker at its lower end, as in `overlay_tables.py`. An event goes over it if
somebody beyond it is thought to want the event; who that is, is a sum over a range of brokers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.decorator import kernel

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Flags = NDArray[np.bool_]


class BrokerTree(NamedTuple):
    """A tree of brokers: see `tamis_lab.simulation.topology`."""

    parent: Ints
    size: Ints


class EventPath(NamedTuple):
    """Where an event has been.

    Attributes:
        broker: The brokers that it came to, in order; the first published it.
        link: For each, the link that it came over: its lower end, or -1 - that if it came down.
        hops: By broker, over how many links it came; -1 if it did not.
    """

    broker: Ints
    link: Ints
    hops: Ints


class ForwardingRule(NamedTuple):
    """Who is thought to want an event.

    Attributes:
        sums: By broker, how many of those before it do; one more than there are brokers.
        up: By link, whether it goes up whatever the sums say.
        down: By link, whether it goes down whatever the sums say.
    """

    sums: Longs
    up: Flags
    down: Flags


@kernel
def walk(
    tree: BrokerTree, rule: ForwardingRule, everywhere: bool, source: Any, path: EventPath
) -> int:
    """Send an event from a broker as far as it goes; to how many brokers it comes.

    Args:
        tree: The brokers.
        rule: Who is thought to want it.
        everywhere: It goes over all links, whatever is thought.
        source: Where it is published.
        path: Its way; its hops are all -1, and `forget` makes them so again.
    """
    parent, size = tree
    sums, brokers = rule.sums, len(parent)
    total = sums[brokers]
    hops = path.hops
    path.broker[0], path.link[0], hops[source] = source, 0, 0
    count = 1
    at = source
    while at > 0:
        inside = sums[at + size[at]] - sums[at]
        if not (everywhere or total > inside or rule.up[at]):
            break
        above = parent[at]
        path.broker[count], path.link[count], hops[above] = above, at, hops[at] + 1
        count += 1
        at = above
    broker = 1
    while broker < brokers:
        if hops[broker] >= 0:
            broker += 1
            continue
        before, end = hops[parent[broker]], broker + size[broker]
        if before >= 0 and (everywhere or sums[end] > sums[broker] or rule.down[broker]):
            path.broker[count], path.link[count], hops[broker] = broker, -1 - broker, before + 1
            count += 1
            broker += 1
        elif broker <= source < end:  # it is on its way from below, and stopped there
            broker += 1
        else:
            broker = end
    return count


@kernel
def clear_path(path: EventPath, count: int) -> None:
    """Make a way ready for the next event."""
    for broker in path.broker[:count]:
        path.hops[broker] = -1
