"""The workload generator of the A-Tree thesis.

M. R. F. Jewel, "A fast filtering engine for publish/subscribe system", Toronto 2004, §5.2.

>>> from tamis_lab.workloads.atree2004 import Workload
>>> workload = Workload(subscriptions=1000, predicates=4, shared_predicates=2)
>>> workload.conjunctions()[:2]
array([[ 2130,  6999, 18135, 19097],
       [  895,  1590, 10572, 18169]], dtype=int32)
>>> next(workload.selectors())
'a3 = 131 AND a7 = 1000 AND a19 = 136 AND a20 = 98'
>>> workload.events(100, matching=0.5)
EventBatch(100 events, 20 attributes)
"""

from tamis_lab.workloads.atree2004.workload import Workload

__all__ = ["Workload"]
