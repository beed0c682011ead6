"""Results by network, strategy and filter shape: one line each, as JSON values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tamis_lab.kernels import overlay_tables as table_at
from tamis_lab.kernels import strategy_counts as at
from tamis_lab.simulation.job.link_tables import NetworkTables, predicates_by_broker
from tamis_lab.simulation.topology import OverlayTree

Longs = npt.NDArray[np.int64]
Line = dict[str, Any]

# The counters of `tamis_lab.kernels.strategy_counts`, by name.
EVENT_COUNTERS = {
    "up": at.UP,
    "down": at.DOWN,
    "wasted_up": at.WASTED_UP,
    "wasted_down": at.WASTED_DOWN,
    "arrived": at.ARRIVED,
    "delivered": at.DELIVERED,
    "sent": at.SENT,
    "evaluated": at.EVALUATED,
    "checked": at.CHECKED,
    "in_vain": at.IN_VAIN,
    "received": at.RECEIVED,
    "bytes": at.BYTES,
    "filter_bytes": at.FILTER_BYTES,
    "events": at.EVENTS,
    "missed": at.MISSED,
}
_QUANTILES = (0.5, 0.9, 0.99, 1.0)
_BINS = 40  # of a histogram, at most


def counter_arrays(rows: Iterable[Mapping[str, Any]], brokers: int) -> dict[tuple[Any, ...], Longs]:
    """Return counts as arrays by counter and place, keyed by network, strategy, m and k."""
    found: dict[tuple[Any, ...], Longs] = {}
    for row in rows:
        key = row["network"], row["strategy"], row["m"], row["k"]
        if key not in found:
            found[key] = np.zeros((at.COUNTED, brokers), np.int64)
        found[key][EVENT_COUNTERS[row["counter"]], row["place"]] = row["value"]
    return found


def events_line(counted: Longs) -> Line:
    """Return figures about events, per event unless the name says otherwise."""
    events = int(counted[at.EVENTS, 0])
    messages = int(counted[[at.UP, at.DOWN]].sum())
    wasted = int(counted[[at.WASTED_UP, at.WASTED_DOWN]].sum())
    links = counted[[at.UP, at.DOWN]][:, 1:]
    return {
        "events": events,
        "messages": messages / events,
        "messages_quantiles": _quantiles(counted[at.SENT]),
        "messages_histogram": _histogram(counted[at.SENT]),
        "wasted": wasted / events,
        "busiest_link": int(links.max(initial=0)) / events,
        "hops": _mean(counted[at.ARRIVED]),
        "hops_quantiles": _quantiles(counted[at.ARRIVED]),
        "hops_histogram": _histogram(counted[at.ARRIVED]),
        "delivery_hops": _mean(counted[at.DELIVERED]),
        "delivery_hops_quantiles": _quantiles(counted[at.DELIVERED]),
        "delivery_hops_histogram": _histogram(counted[at.DELIVERED]),
        "deliveries": int(counted[at.RECEIVED].sum()) / events,
        "deliveries_in_all": int(counted[at.RECEIVED].sum()),
        "missed_by_filters": int(counted[at.MISSED, 0]),
        "evaluations": int(counted[at.EVALUATED].sum()) / events,
        "checks": int(counted[at.CHECKED].sum()) / events,
        "checks_in_vain": int(counted[at.IN_VAIN].sum()) / events,
        "bytes": int(counted[at.BYTES, 0]) / events,
        "filter_bytes": int(counted[at.FILTER_BYTES, 0]) / events,
        "filter_bytes_per_message": int(counted[at.FILTER_BYTES, 0]) / max(messages, 1),
    }


def tables_line(strategy: str, tree: OverlayTree, known: NetworkTables, predicates: int) -> Line:
    """Return figures about the tables of brokers, and about the messages to fill them."""
    counted = known.counted
    if strategy == "flooding":
        up = down = np.zeros(tree.brokers, np.int64)
        messages = taken_back = size = 0
        held = np.zeros(tree.brokers, np.int64)
    elif strategy == "edge":
        up, down = counted[table_at.PRESENT_UP], counted[table_at.PRESENT_DOWN]
        messages, taken_back = int(up.sum() + down.sum()), 0
        size = int(counted[table_at.PRESENT_BYTES].sum())
        held = np.full(tree.brokers, predicates, np.int64)
    else:
        up, down = counted[table_at.KEPT_UP], counted[table_at.KEPT_DOWN]
        sent = int(counted[[table_at.TOLD_UP, table_at.TOLD_DOWN]].sum())
        taken_back = sent - int(up.sum() + down.sum())
        messages = sent + taken_back
        size = int(counted[table_at.TOLD_BYTES].sum())
        held = predicates_by_broker(known, tree.brokers)
    table = counted[table_at.LOCAL] + down
    np.add.at(table, tree.parent[1:], up[1:])
    return {
        "table": float(table.mean()),
        "table_quantiles": _value_quantiles(table),
        "table_from_neighbours": int(up.sum() + down.sum()),
        "predicates_held": float(held.mean()),
        "predicates_held_quantiles": _value_quantiles(held),
        "telling_messages": messages,
        "telling_taken_back": taken_back,
        "telling_bytes": size,
    }


def _mean(histogram: Longs) -> float:
    total = int(histogram.sum())
    return float((histogram * np.arange(len(histogram))).sum() / total) if total else 0.0


def _quantiles(histogram: Longs) -> list[int]:
    """Return the quantiles of what a histogram counts."""
    total = int(histogram.sum())
    if not total:
        return [0] * len(_QUANTILES)
    sums = np.cumsum(histogram)
    return [int(np.searchsorted(sums, max(1, int(np.ceil(q * total))))) for q in _QUANTILES]


def _value_quantiles(values: Longs) -> list[int]:
    return [int(np.quantile(values, q, method="higher")) for q in _QUANTILES]


def _histogram(histogram: Longs) -> dict[str, Any]:
    """Return bins of equal width, as few as fit: the width, and the count of each."""
    used = int(np.flatnonzero(histogram).max(initial=0)) + 1
    width = -(-used // _BINS)
    padded = np.zeros(-(-used // width) * width, np.int64)
    padded[:used] = histogram[:used]
    return {"width": width, "counts": padded.reshape(-1, width).sum(axis=1).tolist()}
