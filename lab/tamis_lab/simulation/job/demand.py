"""Demand: for each interest, the brokers whose subscribers have it, and since when."""

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
    """Build the demand from rows in any order; several may have the same interest and broker.

    Args:
        interests: The interests.
        interest: By row, the number of an interest.
        broker: By row, the broker that wants it.
        count: By row, the number of subscriptions.
        first: By row, when it was first wanted there; no two rows have the same time.
        brokers: Number of brokers.

    Raises:
        InputError: A broker does not exist.
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
    """Check broker numbers, because kernels do not.

    Raises:
        InputError: A broker does not exist.
    """
    for wrong in broker[(broker < 0) | (broker >= brokers)][:1].tolist():
        raise InputError(f"there is no broker {wrong}; they are 0 to {brokers - 1}", "broker")
