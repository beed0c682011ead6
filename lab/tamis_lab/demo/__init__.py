"""`python -m tamis_lab.demo`: a year of departures matched against many alerts, streamed on Spark.

The alerts are compiled on executors. The departures arrive as files and are matched in
micro-batches, while the alerts change. At the end a sample of the answers is checked and a report
is written.
"""
