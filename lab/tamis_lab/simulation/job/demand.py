"""Who wants what: by interest, the brokers that have subscribers with it, and since when."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tamis.errors import InputError
from tamis_lab.kernels.overlay_tables import Demand
from tamis_lab.simulation.job.interests import Interests, starts

Longs = npt.NDArray[np.int64]


def demand_of(
    interests: Interests, interest: Longs, broker: Longs, count: Longs, first: Longs, brokers: int
) -> Demand:
    """From rows in any order, of which several may be of one interest and broker.

    Args:
        interests: What they are about.
        interest: By row, the number of an interest.
        broker: Where it is wanted.
        count: By how many.
        first: When it was first wanted there; no two rows at the same time.
        brokers: How many brokers there are.

    Raises:
        InputError: There is no such broker.
    """
    check_brokers(broker, brokers)
    order = np.lexsort((first, broker, interest))
    interest, broker, count, first = (a[order] for a in (interest, broker, count, first))
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (np.diff(interest) != 0) | (np.diff(broker) != 0)
    begin = np.flatnonzero(fresh)
    counts = np.add.reduceat(count, begin) if len(begin) else count
    per_interest = np.bincount(interest[begin], minlength=len(interests.texts))
    return Demand(
        starts(per_interest.tolist()),
        broker[begin].astype(np.int32),
        counts.astype(np.int32),
        np.ascontiguousarray(first[begin], np.int64),
        interests.bytes,
        interests.void,
    )


def check_brokers(broker: npt.NDArray[np.integer], brokers: int) -> None:
    """Refuse numbers that no broker has; kernels do not look.

    Raises:
        InputError: There is one.
    """
    for wrong in broker[(broker < 0) | (broker >= brokers)][:1].tolist():
        raise InputError(f"there is no broker {wrong}; they are 0 to {brokers - 1}", "broker")
