"""How much the subscriptions of an A-Tree share (thesis §5.2.1)."""

from __future__ import annotations

from tamis.kernels.atree.node_store import ROOT, USES, Ints, TreeStore
from tamis.kernels.atree.walk import children, nodes_of
from tamis.kernels.decorator import kernel


@kernel
def sharing(store: TreeStore, subscriptions: Ints) -> tuple[float, float]:
    """Return the average fraction of a subscription's nodes that others use too (SNPS).

    Returns:
        The fraction of all nodes; and of internal nodes, over the subscriptions that have any.
    """
    shared, shared_internal, composed = 0.0, 0.0, 0
    for subscription in subscriptions:
        used = nodes_of(store, store.subscriptions[subscription, ROOT])
        common, common_internal, internal = 0, 0, 0
        for node in used:
            is_common = store.nodes[node, USES] > 1
            common += is_common
            if children(store, node)[0] >= 0:
                internal += 1
                common_internal += is_common
        shared += common / len(used)
        if internal > 0:
            composed += 1
            shared_internal += common_internal / internal
    return shared / max(1, len(subscriptions)), shared_internal / max(1, composed)
