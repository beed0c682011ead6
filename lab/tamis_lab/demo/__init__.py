"""`python -m tamis_lab.demo`: a year of departures against many alerts, streamed on Spark.

The alerts are compiled on executors, the departures come as files and are matched in micro-batches,
and the alerts change while that goes on. At the end some answers are checked; a report stays.
"""
