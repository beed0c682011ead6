"""Which subscriptions an event matches, once the nodes of a diagram have their values.

Under the strict semantics the diagram says only what a query means for events that have all its
attributes: a reduced diagram forgets variables, so the attributes are kept beside it. Queries with
the same attributes stand together, in a run, and are passed over together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.kernels.bdd_eval import Bytes, Ints, Needs, has_all
from tamis.kernels.decorator import kernel


class Outputs(NamedTuple):
    """The roots of subscriptions.

    Attributes:
        edge: By output, the edge to its root; -1 if it is gone.
        code: By output, the number of its subscription.
        run_needs: By run, the key of the attributes that its subscriptions need.
        run_begin: By run, its first output; one more at the end.
        needs: The attributes, by key.
    """

    edge: Ints
    code: Ints
    run_needs: Ints
    run_begin: Ints
    needs: Needs


@kernel
def matched_codes(outputs: Outputs, alpha: Bytes, value: Bytes, codes: Ints) -> int:
    """The subscriptions that one event matches, into an array with room for all; how many."""
    count = 0
    for run in range(len(outputs.run_needs)):
        if not has_all(outputs.needs, outputs.run_needs[run], alpha):
            continue
        for i in range(outputs.run_begin[run], outputs.run_begin[run + 1]):
            edge = outputs.edge[i]
            if edge >= 0 and value[edge >> 1] == np.uint8(1 - (edge & 1)):
                codes[count] = outputs.code[i]
                count += 1
    return count
