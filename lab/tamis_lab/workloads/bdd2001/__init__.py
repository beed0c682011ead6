"""The workload of the paper on filtering with binary decision diagrams.

A. Campailla, S. Chaki, E. Clarke, S. Jha, H. Veith, "Efficient filtering in publish-subscribe
systems using binary decision diagrams", ICSE 2001, §8.

>>> from tamis_lab.workloads.bdd2001 import Workload
>>> workload = Workload(subscriptions=1000)
>>> list(workload.selectors())[7]
'(d1 > 70.0 AND d2 <> 70.0) AND (((i3 <> 50 AND i3 = 70) AND d2 >= 50.0) OR d1 >= 50.0)'
>>> workload.events(100)
EventBatch(100 events, 10 attributes)
"""

from tamis_lab.workloads.bdd2001.workload import Workload

__all__ = ["Workload"]
