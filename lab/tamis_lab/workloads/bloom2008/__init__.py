"""The workload of the paper on routing with Bloom filters.

Z. Jerzak, C. Fetzer, "Bloom filter based routing for content-based publish/subscribe", DEBS 2008,
§6.

>>> from tamis_lab.workloads.bloom2008 import Workload
>>> workload = Workload(subscriptions=1000, choice="pareto")
>>> next(workload.selectors())
'konquei < 35 AND trosceslau = 23 AND lauruk = 93'
>>> next(workload.events_as_dicts(1))["konquei"]
53
>>> workload.events(100)
EventBatch(100 events, 75 attributes)
"""

from tamis_lab.workloads.bloom2008.workload import Workload

__all__ = ["Workload"]
