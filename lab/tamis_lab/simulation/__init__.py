"""Networks of brokers, simulated on Spark: sizes, topologies, the job, results and a report."""
